//! `cargo xtask bench index`: the approximate index of the service, next to exact search.
//!
//! The index is not a part of the service's public interface, so its own test measures it.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use xtask::command::{cargo, run as run_command};

/// Arguments of `cargo xtask bench index`.
#[derive(Args)]
pub struct Options {
    /// Numbers of words
    #[arg(long, value_delimiter = ',', default_value = "10000,100000,300000,1000000")]
    words: Vec<usize>,
    /// Model file with words for the sizes that it has [default: clusters of random vectors]
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
}

/// Prints a table. Tests are compiled with optimizations.
pub fn run(options: &Options) -> Result<()> {
    let mut command = cargo();
    command.args([
        "test",
        "--quiet",
        "--package",
        "skipstream-server",
        "--features",
        "usearch",
        "--lib",
        "--",
    ]);
    command.args(["--ignored", "--exact", "--nocapture", "search::graph::tests::measurements"]);
    let words: Vec<String> = options.words.iter().map(usize::to_string).collect();
    command.env("SKIPSTREAM_WORDS", words.join(","));
    if let Some(model) = &options.model {
        command.env("SKIPSTREAM_MODEL", std::path::absolute(model)?);
    }
    run_command(&mut command)
}
