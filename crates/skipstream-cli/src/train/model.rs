//! The model of a training, new or known.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use skipstream::train::Initial;
use skipstream::{Strategy, Trainer};

use super::evaluation;
use super::job::Job;

/// Makes the model that was asked for.
pub fn make(job: &Job) -> Result<Trainer> {
    let scored_words = if job.eval.is_empty() { 0 } else { evaluation::WORDS };
    Ok(match &job.init {
        Some(path) => {
            let initial = Initial::load(path)?;
            Trainer::starting_from(job.settings.config_from(&initial, scored_words)?, initial)?
        }
        None => Trainer::new(job.settings.config(scored_words)?)?,
    })
}

/// Loads the model that is there, which must be what was asked for.
pub fn load(job: &Job) -> Result<Trainer> {
    let name = || job.model.display().to_string();
    if job.init.is_some() {
        bail!(
            "{}: --init is for a new model, and this one exists: leave it out, or choose another name",
            name()
        );
    }
    let trainer = Trainer::load(&job.model, job.settings.threads)?;
    job.settings.agree_with(&trainer, trainer.memory_bound().total()).with_context(name)?;
    Ok(trainer)
}

/// The file that a link stands for: it is locked and replaced, not the link.
pub fn behind_links(model: PathBuf) -> PathBuf {
    if model.is_symlink() { model.canonicalize().unwrap_or(model) } else { model }
}

/// Whether the model reads its whole corpus several times, and then never learns again.
pub fn in_passes(trainer: &Trainer) -> bool {
    matches!(trainer.settings().strategy, Strategy::Batch | Strategy::Word2vec)
}
