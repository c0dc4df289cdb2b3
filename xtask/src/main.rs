//! The chores of the project: `cargo xtask demo | bench | figures | check | compatibility | python | service | ci`.

mod bench;
mod check;
mod compatibility;
mod demo;
mod figures;
mod python;
mod service;

use anyhow::Result;
use clap::{Parser, Subcommand};
use experiments::update_time::{LiveUpdate, print_live_seconds};

/// The chores of the project.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Learn from real text, day by day, with all set-up done for you
    Demo(demo::Options),
    /// Measure speed, memory and quality
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Repeat the paper's experiments: measure, draw the figures, write the report
    Figures(figures::Figures),
    /// What a change must pass: format, lints, documentation, tests
    Check,
    /// Exchange vectors with the real gensim, fastText, finalfusion, numpy and safetensors (needs Python and network)
    Compatibility,
    /// Install the Python package in a fresh environment and test it there (needs Python and network)
    Python,
    /// Try the service in a real browser and against its own description (needs Chromium, Python and network)
    Service,
    /// What the project's CI runs, as it runs it
    Ci,
    /// One update, timed within: what the experiment `update-time` starts in a session of its own
    #[command(hide = true)]
    Live(LiveUpdate),
}

fn main() -> Result<()> {
    match Arguments::parse().chore {
        Chore::Demo(options) => demo::run(&options),
        Chore::Bench(bench) => bench::run(&bench),
        Chore::Figures(figures) => figures::run(&figures),
        Chore::Check => check::check(),
        Chore::Compatibility => compatibility::run_tests(),
        Chore::Python => python::run_tests(),
        Chore::Service => service::run_tests(),
        Chore::Ci => check::ci(),
        Chore::Live(update) => print_live_seconds(&update),
    }
}
