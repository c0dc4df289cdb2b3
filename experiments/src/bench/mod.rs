//! `cargo xtask bench`: speed, memory and quality beside other programs.

mod evaluation;
mod opening;
mod peers;
mod phrases;
mod quantize;
mod reading;
mod serve;
mod subwords;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Subcommand;
use serde_json::Value;
use statrs::statistics::Statistics;
use xtask::command::line;
use xtask::wikipedia;

/// Benchmarks. Their names are those of `cargo xtask bench`.
#[derive(Subcommand)]
pub enum Bench {
    /// Train skipstream and other programs on the same text, in turns, and compare
    Peers(Box<peers::Options>),
    /// Score the same vectors with skipstream and with gensim: they must agree, and skipstream must be faster
    Evaluation(evaluation::Options),
    /// Open a large memory-mapped model and query it, next to gensim
    Opening(opening::Options),
    /// Compare quantized vectors with full precision: size, quality and time per query
    Quantize(quantize::Options),
    /// Read and count a text without training, next to `wc -w`
    Reading(reading::Options),
    /// Find phrases while training, next to gensim, and compare the scores of single words with and without
    Phrases(phrases::Options),
    /// Query a service while it learns at full speed, next to `train`, and while it is idle, with 1 to 16 clients
    Serve(serve::Options),
    /// Estimate unknown words, next to fastText with subwords
    Subwords(subwords::Options),
    /// Query a service at a steady rate until standard input ends: `serve` starts this in a session of its own
    #[command(hide = true)]
    Questions(serve::Load),
}

pub fn run(bench: &Bench) -> Result<()> {
    match bench {
        Bench::Peers(options) => peers::run(options),
        Bench::Evaluation(options) => evaluation::run_benchmark(options),
        Bench::Opening(options) => opening::run(options),
        Bench::Quantize(options) => quantize::run(options),
        Bench::Reading(options) => reading::run(options),
        Bench::Phrases(options) => phrases::run(options),
        Bench::Serve(options) => serve::run(options),
        Bench::Subwords(options) => subwords::run(options),
        Bench::Questions(load) => serve::ask(load),
    }
}

/// `mean ± standard deviation`; of a single value, the value.
fn mean_and_deviation(values: &[f64], decimals: usize) -> String {
    match values {
        [] => "–".to_owned(),
        [value] => format!("{value:.decimals$}"),
        _ => format!("{:.decimals$} ± {:.decimals$}", values.mean(), values.std_dev()),
    }
}

/// The text that was passed, or the one of the demo.
fn text_or_demo(corpus: Option<&PathBuf>) -> Result<PathBuf> {
    match corpus {
        Some(corpus) => Ok(corpus.clone()),
        None => {
            wikipedia::prepare(Path::new("demo")).context("could not get a text; pass one with --corpus FILE")
        }
    }
}

/// Runs a command and parses its output as JSON.
fn json(command: &mut Command) -> Result<Value> {
    let output = command.output().with_context(|| format!("could not start {:?}", command.get_program()))?;
    let message = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{}` failed: {}\n{message}", line(command), output.status);
    serde_json::from_slice(&output.stdout).with_context(|| format!("the output of `{}`", line(command)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_value_has_no_deviation() {
        assert_eq!(mean_and_deviation(&[], 1), "–");
        assert_eq!(mean_and_deviation(&[61.25], 1), "61.2");
        assert_eq!(mean_and_deviation(&[1.0, 2.0, 3.0], 1), "2.0 ± 1.0");
    }
}
