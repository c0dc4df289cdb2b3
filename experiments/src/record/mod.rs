//! What a run of an experiment leaves behind: a folder with its rows, its figures and a manifest.
//!
//! The rows are written as they come, and a run that is started again on the same folder goes on after the last one. Text
//! and figures of the report are made from these files alone.

mod manifest;
mod rows;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;

pub use manifest::{Manifest, Source};
pub use rows::Rows;

use crate::circumstances;
use crate::options::Options;
use xtask::command::{root, target_folder};

/// The folder of one experiment within the results.
pub struct Record {
    folder: PathBuf,
}

impl Record {
    /// Makes the folder of an experiment and writes its manifest; or goes on with the one that is there, if its
    /// settings are the same. A quick run goes on only in a folder that was named.
    pub fn open(
        options: &Options,
        experiment: &str,
        settings: &impl Serialize,
        sources: Vec<Source>,
    ) -> Result<Self> {
        let folder = results_folder(options)?.join(experiment);
        fs::create_dir_all(&folder).with_context(|| format!("could not make {}", folder.display()))?;
        Manifest::new(experiment, options.quick, serde_json::to_value(settings)?, sources).enter(&folder)?;
        Ok(Self { folder })
    }

    /// The rows of a CSV file in the folder, with those of an earlier run.
    pub fn rows<Row: Serialize + serde::de::DeserializeOwned>(&self, name: &str) -> Result<Rows<Row>> {
        Rows::open(self.folder.join(name))
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// The folder of all results of a run.
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

/// The folder for what is downloaded and trained on the way.
pub fn work_folder() -> Result<PathBuf> {
    let folder = target_folder()?.join("experiments");
    fs::create_dir_all(&folder).with_context(|| format!("could not make {}", folder.display()))?;
    Ok(folder)
}
