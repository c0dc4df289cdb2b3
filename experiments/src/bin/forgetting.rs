//! What is left of the first text while another one is learned.

use clap::Parser;
use experiments::options::Options;

/// What is left of the first text while another one is learned
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    options: Options,
}

fn main() -> anyhow::Result<()> {
    experiments::forgetting::measure(&Arguments::parse().options)
}
