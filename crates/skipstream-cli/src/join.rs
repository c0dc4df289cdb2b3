//! `skipstream join`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use skipstream::snapshot::ShardedModel;

use crate::Ending;
use crate::existing::ForceArgs;
use crate::lock;
use crate::output::note;

/// Arguments of `join`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream join --model news-shards/ joined.safetensors\n  \
    skipstream train --model joined.safetensors corpus.txt")]
pub struct JoinArgs {
    /// Folder of the model
    #[arg(long, value_name = "DIR")]
    pub model: PathBuf,
    /// Model file to write
    #[arg(value_name = "FILE")]
    pub output: PathBuf,
    #[command(flatten)]
    pub force: ForceArgs,
}

/// Writes a model in several files as one.
pub fn run(args: JoinArgs) -> Result<Ending> {
    args.force.check(&args.output)?;
    let model = ShardedModel::open(&args.model)?;
    // Nobody may train the model that is replaced.
    let _lock = lock::take(&args.output)?;
    model.join(&args.output)?;
    note(format_args!("{}: joined into {}", args.model.display(), args.output.display()));
    Ok(Ending::Done)
}
