//! The provenance of the numbers in a folder.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::circumstances;
use xtask::command::root;

/// Commit, settings, machine and sources of a run.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Manifest {
    pub experiment: String,
    pub quick: bool,
    /// The commands, without paths; one for each time the run was resumed with other arguments.
    pub commands: Vec<String>,
    /// The commits that produced rows: one, unless the run was resumed with another.
    pub commits: Vec<String>,
    /// The days on which the run was started or resumed.
    pub dates: Vec<String>,
    pub machine: String,
    /// All settings of the experiment, with its seeds.
    pub settings: Value,
    pub sources: Vec<Source>,
}

/// A text or test set that was read.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub name: String,
    /// BLAKE3 of the decompressed bytes.
    pub blake3: String,
    pub bytes: u64,
    pub lines: u64,
    pub words: u64,
}

impl Manifest {
    /// Describes a run that starts now.
    pub fn new(experiment: &str, quick: bool, settings: Value, sources: Vec<Source>) -> Self {
        let quick_flag = if quick { " --quick" } else { "" };
        Self {
            experiment: experiment.into(),
            quick,
            commands: vec![format!("cargo xtask figures {experiment}{quick_flag}")],
            commits: vec![commit()],
            dates: vec![circumstances::date()],
            machine: circumstances::machine(),
            settings,
            sources,
        }
    }

    /// Writes the manifest, merged with that of the run that this one resumes.
    pub fn enter(mut self, folder: &Path) -> Result<()> {
        let path = folder.join("manifest.json");
        if path.exists() {
            let context = || format!("could not read {}", path.display());
            let earlier: Self = serde_json::from_str(&fs::read_to_string(&path).with_context(context)?)
                .with_context(context)?;
            ensure!(
                earlier.settings == self.settings
                    && earlier.sources == self.sources
                    && earlier.machine == self.machine,
                "{} has results of other settings, sources or another machine; pass another folder with --results",
                folder.display()
            );
            self.commands = joined(earlier.commands, self.commands);
            self.commits = joined(earlier.commits, self.commits);
            self.dates = joined(earlier.dates, self.dates);
        }
        let text = serde_json::to_string_pretty(&self)? + "\n";
        fs::write(&path, text).with_context(|| format!("could not write {}", path.display()))
    }
}

/// The union of both lists, in order.
fn joined(mut earlier: Vec<String>, later: Vec<String>) -> Vec<String> {
    for item in later {
        if !earlier.contains(&item) {
            earlier.push(item);
        }
    }
    earlier
}

/// The current commit, marked if the source tree differs from it.
fn commit() -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(root()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    match (git(&["rev-parse", "HEAD"]), git(&["status", "--porcelain", "--", "crates", "experiments/src"])) {
        (Some(commit), Some(changes)) if changes.is_empty() => commit,
        (Some(commit), _) => format!("{commit} with changes"),
        (None, _) => "unknown".into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_run_is_continued_with_the_same_settings_only() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = |seed: u32| Manifest::new("quality", false, json!({"seed": seed}), Vec::new());
        manifest(1).enter(folder.path()).unwrap();
        manifest(1).enter(folder.path()).unwrap();
        let text = fs::read_to_string(folder.path().join("manifest.json")).unwrap();
        let read: Manifest = serde_json::from_str(&text).unwrap();
        assert_eq!(read.commits.len(), 1);
        assert_eq!(read.commands, ["cargo xtask figures quality"]);
        let error = manifest(2).enter(folder.path()).unwrap_err();
        assert!(error.to_string().contains("other settings"), "{error}");
    }
}
