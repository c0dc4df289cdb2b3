//! `cargo xtask bench`: speed, memory and quality. What needs the engine or other programs is in `experiments`.

mod index;
mod instructions;
mod stages;

use anyhow::Result;
use clap::Subcommand;

use crate::Forwarded;

/// Benchmarks.
#[derive(Subcommand)]
pub enum Bench {
    /// Train skipstream and other programs on the same text, in turns, and compare
    #[command(disable_help_flag = true)]
    Peers(Forwarded),
    /// Time each stage of the library with Criterion
    Stages(stages::Options),
    /// Count the instructions of each stage under Valgrind, and compare them with the golden counts
    Instructions(instructions::Options),
    /// Score the same vectors with skipstream and with gensim: they must agree, and skipstream must be faster
    #[command(disable_help_flag = true)]
    Evaluation(Forwarded),
    /// Open a large memory-mapped model and query it, next to gensim
    #[command(disable_help_flag = true)]
    Opening(Forwarded),
    /// Compare quantized vectors with full precision: size, quality and time per query
    #[command(disable_help_flag = true)]
    Quantize(Forwarded),
    /// Measure the approximate index of the service, next to exact search
    Index(index::Options),
    /// Read and count a text without training, next to `wc -w`
    #[command(disable_help_flag = true)]
    Reading(Forwarded),
    /// Find phrases while training, next to gensim, and compare the scores of single words with and without
    #[command(disable_help_flag = true)]
    Phrases(Forwarded),
    /// Query a service while it learns at full speed, next to `train`, and while it is idle, with 1 to 16 clients
    #[command(disable_help_flag = true)]
    Serve(Forwarded),
    /// Estimate unknown words, next to fastText with subwords
    #[command(disable_help_flag = true)]
    Subwords(Forwarded),
}

/// Runs a benchmark.
pub fn run(bench: &Bench) -> Result<()> {
    match bench {
        Bench::Peers(forwarded) => forwarded.run(&["bench", "peers"]),
        Bench::Stages(options) => stages::run(options),
        Bench::Instructions(options) => instructions::run(options),
        Bench::Evaluation(forwarded) => forwarded.run(&["bench", "evaluation"]),
        Bench::Opening(forwarded) => forwarded.run(&["bench", "opening"]),
        Bench::Quantize(forwarded) => forwarded.run(&["bench", "quantize"]),
        Bench::Index(options) => index::run(options),
        Bench::Reading(forwarded) => forwarded.run(&["bench", "reading"]),
        Bench::Phrases(forwarded) => forwarded.run(&["bench", "phrases"]),
        Bench::Serve(forwarded) => forwarded.run(&["bench", "serve"]),
        Bench::Subwords(forwarded) => forwarded.run(&["bench", "subwords"]),
    }
}
