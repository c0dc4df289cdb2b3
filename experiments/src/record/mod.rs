//! The results of a run: a folder per experiment with its rows, its figures and a manifest.
//!
//! Rows are written as they are measured, and a run in the same folder resumes after the last one. The tables and figures
//! of the report are made from these files alone.

mod manifest;
mod rows;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Serialize;

use manifest::Manifest;
pub use manifest::Source;
pub use rows::Rows;

use crate::circumstances;
use crate::options::Options;
use xtask::command::{root, target_folder};

/// Creates the folder of an experiment and its manifest, or resumes in an existing one with the same settings.
pub fn open(
    options: &Options,
    experiment: &str,
    settings: &impl Serialize,
    sources: Vec<Source>,
) -> Result<PathBuf> {
    let folder = results_folder(options)?.join(experiment);
    fs::create_dir_all(&folder).with_context(|| format!("could not create {}", folder.display()))?;
    Manifest::new(experiment, options.quick, serde_json::to_value(settings)?, sources).enter(&folder)?;
    Ok(folder)
}

pub fn results_folder(options: &Options) -> Result<PathBuf> {
    Ok(match &options.results {
        Some(folder) => folder.clone(),
        None if options.quick => work_folder()?.join("quick"),
        None => dated_results().join(circumstances::date()),
    })
}

/// The folder with the committed results, one folder per day.
pub fn dated_results() -> PathBuf {
    root().join("experiments/results")
}

/// The folder for downloads and intermediate models.
pub fn work_folder() -> Result<PathBuf> {
    let folder = target_folder()?.join("experiments");
    fs::create_dir_all(&folder).with_context(|| format!("could not create {}", folder.display()))?;
    Ok(folder)
}
