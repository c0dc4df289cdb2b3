//! Figures and report of what was measured.

use clap::Parser;
use experiments::options::Options;
use experiments::report;

/// Draw the figures and write the report, from the rows that the experiments left.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    options: Options,
}

fn main() -> anyhow::Result<()> {
    println!("{}", report::write(&Arguments::parse().options)?.display());
    Ok(())
}
