//! Scores of vectors that were learned in different ways (section 5.2 of the paper).

use clap::Parser;
use experiments::options::Options;

/// Train with skipstream and its peers on the same text, and score the vectors.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    options: Options,
}

fn main() -> anyhow::Result<()> {
    experiments::quality::measure(&Arguments::parse().options)
}
