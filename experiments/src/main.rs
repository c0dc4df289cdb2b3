//! The paper's experiments, repeated with skipstream, and benchmarks beside other programs. `cargo xtask figures` and
//! `cargo xtask bench` start this program.
//!
//! Modules are in reading order, and a module uses only modules above it: options and results of a run, texts and test
//! sets, the other programs, scores, the experiments, and then the benchmarks.

mod options;

mod parallel;

mod circumstances;

mod record;

mod data;

mod peers;

mod scores;

mod portions;

mod theorems;

mod quality;

mod study;

mod warm_up;

mod update_time;

mod pieces;

mod forgetting;
mod half_life;

mod figures;

mod bench;

use std::env;

use anyhow::Result;
use clap::{Parser, Subcommand};
use skipstream::unstable::Kernel;

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Repeat the paper's experiments: measure, draw the figures, write the tables
    Figures(figures::Figures),
    /// Measure speed, memory and quality beside other programs
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Time one update in memory: the experiment `update-time` starts this in a session of its own
    #[command(hide = true)]
    Live(update_time::LiveUpdate),
}

fn main() -> Result<()> {
    if let Some(name) = env::var_os(Kernel::VARIABLE) {
        Kernel::choose(&name.to_string_lossy())?;
    }
    match Arguments::parse().command {
        Command::Figures(figures) => figures::run(&figures),
        Command::Bench(bench) => bench::run(&bench),
        Command::Live(update) => update_time::print_live_seconds(&update),
    }
}
