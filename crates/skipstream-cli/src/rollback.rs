//! `skipstream rollback`.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use skipstream::snapshot::{Inspection, inspect};
use skipstream::unstable::sync_name;

use crate::Ending;
use crate::lock;
use crate::output::{count, note};
use crate::previous;

/// Arguments of `rollback`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream train --model m.safetensors --keep-previous news/*.txt.gz\n  \
    skipstream diff m.safetensors.previous m.safetensors\n  \
    skipstream rollback --model m.safetensors")]
pub struct RollbackArgs {
    /// Model file
    #[arg(long, value_name = "PATH")]
    pub model: PathBuf,
}

/// Puts the previous state in the place of the model, by one rename.
pub fn run(args: RollbackArgs) -> Result<Ending> {
    let model =
        if args.model.is_symlink() { args.model.canonicalize().unwrap_or(args.model) } else { args.model };
    let _lock = lock::take(&model)?;
    let name = model.display();
    let previous = previous::path(&model);
    if !previous.try_exists().with_context(|| previous.display().to_string())? {
        bail!("{name}: there is no previous state to return to; `train --keep-previous` keeps one");
    }
    let kept = inspect(&previous)?;
    if !kept.problems.is_empty() {
        bail!("{}: the file is damaged: {}", previous.display(), kept.problems.join("; "));
    }
    let current =
        inspect(&model).map_or_else(|_| "which cannot be read".to_owned(), |current| learned(&current));
    fs::rename(&previous, &model).with_context(|| name.to_string())?;
    // If both were links to the same file, the rename did nothing.
    let _ = fs::remove_file(&previous);
    sync_name(&model).context("the model was replaced, but that may not be on disk yet")?;
    note(format_args!("{name}: returned to {}, from {current}", learned(&kept)));
    Ok(Ending::Done)
}

fn learned(model: &Inspection) -> String {
    let words = model.training.as_ref().map_or(0, |training| training.vocabulary.tokens);
    format!("{} learned words", count(words))
}
