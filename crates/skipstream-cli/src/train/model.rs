//! Creates or loads the model.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use skipstream::train::{AnyTrainer, Initial};

use super::evaluation;
use super::job::Job;

/// Creates the requested model.
pub fn make(job: &Job) -> Result<AnyTrainer> {
    let scored_words = if job.eval.is_empty() { 0 } else { evaluation::WORDS };
    Ok(match &job.init {
        Some(path) => {
            let initial = Initial::load(path)?;
            AnyTrainer::starting_from(job.settings.config_from(&initial, scored_words)?, initial)?
        }
        None => AnyTrainer::new(job.settings.config(scored_words)?)?,
    })
}

/// Loads an existing model and checks that it matches the requested settings.
pub fn load(job: &Job) -> Result<AnyTrainer> {
    let name = || job.model.display().to_string();
    if job.init.is_some() {
        bail!("{}: --init is for a new model, and this one exists; omit it, or choose another name", name());
    }
    let trainer = AnyTrainer::load(&job.model, job.settings.threads)?;
    let model = trainer.model();
    job.settings.agree_with(model, model.memory_bound().total()).with_context(name)?;
    Ok(trainer)
}

/// Follows a symlink, so that its target is locked and replaced instead of the link.
pub fn resolve_link(model: PathBuf) -> PathBuf {
    if model.is_symlink() { model.canonicalize().unwrap_or(model) } else { model }
}
