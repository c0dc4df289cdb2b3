//! The report: made of what the experiments left in their folders, and of nothing else.

mod find;
mod text;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::command::root;
use crate::options::Options;
use crate::record::{Manifest, results_folder};
use crate::section::Section;
use crate::{forgetting, pieces, quality, update_time};
use find::Found;

const NAME: &str = "REPORT.md";

/// An experiment that the report has a section for.
pub struct Experiment {
    /// The name of its program and of its folder.
    pub name: &'static str,
    section: fn(&Path) -> Result<Section>,
}

/// All experiments, in the order of the report.
pub const EXPERIMENTS: [Experiment; 5] = [
    Experiment { name: "theorems", section: unwritten },
    Experiment { name: "quality", section: quality::section },
    Experiment { name: "update-time", section: update_time::section },
    Experiment { name: "pieces", section: pieces::section },
    Experiment { name: "forgetting", section: forgetting::section },
];

/// Stands in for a section that nobody wrote yet.
fn unwritten(folder: &Path) -> Result<Section> {
    let name = Manifest::read(folder)?.experiment;
    Ok(Section {
        answers: Vec::new(),
        body: format!("## {name}\n\nIt was measured, but nothing is said about it yet.\n"),
    })
}

/// An experiment that was measured.
struct Part {
    /// How its folder is named in a link.
    link: String,
    folder: PathBuf,
    manifest: Manifest,
    section: Section,
}

/// Draws the figures anew, writes the report and says where it is. Nothing is measured.
pub fn write(options: &Options) -> Result<PathBuf> {
    let results = results_folder(options)?;
    let dated = root().join("experiments/results");
    // Committed results are one collection: what was measured on another day belongs to it.
    let (found, path) = match (&options.results, options.quick) {
        (None, false) => (Found::newest(&dated)?, root().join("experiments").join(NAME)),
        _ if find::is_in(&results, &dated) => {
            (Found::first_in(&results, &dated)?, root().join("experiments").join(NAME))
        }
        _ => (Found::only_in(&results), results.join(NAME)),
    };
    let report = compose(&found, &EXPERIMENTS)?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("could not make {}", folder.display()))?;
    }
    fs::write(&path, report).with_context(|| format!("could not write {}", path.display()))?;
    Ok(path)
}

fn compose(found: &Found, experiments: &[Experiment]) -> Result<String> {
    let mut parts = Vec::new();
    let mut missing = Vec::new();
    for experiment in experiments {
        match found.experiment(experiment.name) {
            Some((folder, link)) => parts.push(Part::read(experiment, folder, link)?),
            None => missing.push(experiment.name),
        }
    }
    text::report(&parts, &missing)
}

impl Part {
    fn read(experiment: &Experiment, folder: PathBuf, link: String) -> Result<Self> {
        let context = || format!("could not make the section of {}", folder.display());
        let manifest = Manifest::read(&folder).with_context(context)?;
        let section = (experiment.section)(&folder).with_context(context)?;
        Ok(Self { link, folder, manifest, section })
    }
}

#[cfg(test)]
mod tests;
