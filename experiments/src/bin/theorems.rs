//! Measures what section 5.1 of the paper says of the objectives of batch and incremental training.

use anyhow::Result;
use clap::Parser;
use experiments::options::Options;

#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    options: Options,
}

fn main() -> Result<()> {
    experiments::theorems::measure(&Arguments::parse().options)
}
