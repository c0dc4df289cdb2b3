//! Text in pieces against text at once.

use clap::Parser;
use experiments::options::Options;

/// Text in pieces against text at once
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    options: Options,
}

fn main() -> anyhow::Result<()> {
    experiments::pieces::measure(&Arguments::parse().options)
}
