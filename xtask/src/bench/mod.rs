//! `cargo xtask bench`: how fast, how large and how good.

mod evaluation;
mod instructions;
mod opening;
mod peers;
mod reading;
mod serve;
mod stages;

use anyhow::Result;
use clap::Subcommand;

/// What was typed after `cargo xtask bench`.
#[derive(Subcommand)]
pub enum Bench {
    /// Train skipstream and other programs on the same text, in turns, and compare
    Peers(Box<peers::Options>),
    /// Time each stage of the library with Criterion
    Stages(stages::Options),
    /// Count the instructions of each stage under Valgrind: the same number on a busy machine
    Instructions,
    /// Score the same vectors with skipstream and with gensim: they must agree, and one must be faster
    Evaluation(evaluation::Options),
    /// Open a large model in place and ask it, next to gensim
    Opening(opening::Options),
    /// Read and count a text without training, next to `wc -w`
    Reading(reading::Options),
    /// Ask a service while it learns at full speed: how soon it answers, and what is left of the speed of `train`
    Serve(serve::Options),
    /// Ask a service at a steady rate until standard input ends: what `serve` starts in a session of its own
    #[command(hide = true)]
    Questions(serve::Load),
}

/// Measures.
pub fn run(bench: &Bench) -> Result<()> {
    match bench {
        Bench::Peers(options) => peers::run(options),
        Bench::Stages(options) => stages::run(options),
        Bench::Instructions => instructions::run(),
        Bench::Evaluation(options) => evaluation::run_benchmark(options),
        Bench::Opening(options) => opening::run(options),
        Bench::Reading(options) => reading::run(options),
        Bench::Serve(options) => serve::run(options),
        Bench::Questions(load) => serve::ask(load),
    }
}
