//! How long an update takes, against training again.

use clap::{Parser, Subcommand};
use experiments::options::Options;
use experiments::update_time::{LiveUpdate, measure, print_live_seconds};

/// How long an update takes, against training again
#[derive(Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(flatten)]
    options: Options,
    #[command(subcommand)]
    part: Option<Part>,
}

#[derive(Subcommand)]
enum Part {
    /// One update, timed within
    #[command(hide = true)]
    Live(LiveUpdate),
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    match arguments.part {
        Some(Part::Live(update)) => print_live_seconds(&update),
        None => measure(&arguments.options),
    }
}
