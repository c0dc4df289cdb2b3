//! `cargo xtask bench stages`: the Criterion benchmarks of the library, one for each stage.

use anyhow::Result;
use clap::Args;
use clap::builder::PossibleValuesParser;

use xtask::command::{cargo, run as run_command};

/// The benches, in the order of the pipeline.
const STAGES: [&str; 6] = ["corpus", "vocabulary", "noise", "kernel", "train", "embeddings"];

/// Arguments of `cargo xtask bench stages`.
#[derive(Args)]
pub struct Options {
    /// Stages to time [default: all]
    #[arg(value_name = "STAGE", value_parser = PossibleValuesParser::new(STAGES))]
    stages: Vec<String>,
}

/// Times the stages. Criterion compares with the previous run, which it keeps under `target/criterion`.
pub fn run(options: &Options) -> Result<()> {
    let mut command = cargo();
    command.args(["bench", "--package", "skipstream"]);
    for stage in STAGES {
        if options.stages.is_empty() || options.stages.iter().any(|wanted| wanted == stage) {
            command.args(["--bench", stage]);
        }
    }
    run_command(&mut command)
}
