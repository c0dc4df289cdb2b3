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
pub use rows::{Rows, read_rows};

use crate::circumstances;
use crate::command::{root, target_folder};
use crate::options::Options;

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
        forget_quick(options, experiment)?;
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

/// Removes what an earlier quick run of an experiment left in the folder for these, so that old rows are not reported as
/// new. A folder that was named is left alone.
pub fn forget_quick(options: &Options, experiment: &str) -> Result<()> {
    if !options.quick || options.results.is_some() {
        return Ok(());
    }
    let folder = results_folder(options)?.join(experiment);
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("could not remove {}", folder.display()))?;
    }
    Ok(())
}

/// The folder of all results of a run.
pub fn results_folder(options: &Options) -> Result<PathBuf> {
    Ok(match &options.results {
        Some(folder) => folder.clone(),
        None if options.quick => work_folder()?.join("quick"),
        None => root().join("experiments/results").join(circumstances::date()),
    })
}

/// The folder for what is downloaded and trained on the way.
pub fn work_folder() -> Result<PathBuf> {
    let folder = target_folder()?.join("experiments");
    fs::create_dir_all(&folder).with_context(|| format!("could not make {}", folder.display()))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_quick_run_without_a_folder_forgets() {
        let named = tempfile::tempdir().unwrap();
        let options = |quick, results| Options { data: None, quick, results };
        let keeps_rows = |options: &Options| {
            // No experiment has this name.
            let open = || Record::open(options, "test-of-records", &1, Vec::new()).unwrap();
            fs::write(open().folder().join("rows.csv"), "value\n1\n").unwrap();
            let folder = open().folder().to_owned();
            let keeps = folder.join("rows.csv").exists();
            fs::remove_dir_all(folder).unwrap();
            keeps
        };
        assert!(keeps_rows(&options(false, Some(named.path().into()))));
        assert!(keeps_rows(&options(true, Some(named.path().into()))));
        assert!(!keeps_rows(&options(true, None)));
    }
}
