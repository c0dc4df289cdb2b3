//! The report: made of what the experiments left in their folders, and of nothing else.

mod find;
mod text;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, ensure};
use regex::{Captures, Regex};

use crate::command::root;
use crate::options::Options;
use crate::record::{Manifest, results_folder};
use crate::section::Section;
use crate::{forgetting, pieces, quality, theorems, update_time};
use find::Found;

const NAME: &str = "REPORT.md";

/// An experiment that the report has a section for.
pub struct Experiment {
    /// The name of its program and of its folder.
    pub name: &'static str,
    /// Measures what has no rows yet.
    pub measure: fn(&Options) -> Result<()>,
    section: fn(&Path) -> Result<Section>,
}

/// All experiments, in the order of the report.
pub const EXPERIMENTS: [Experiment; 5] = [
    Experiment { name: "theorems", measure: theorems::measure, section: theorems::section },
    Experiment { name: "quality", measure: quality::measure, section: quality::section },
    Experiment { name: "update-time", measure: update_time::measure, section: update_time::section },
    Experiment { name: "pieces", measure: pieces::measure, section: pieces::section },
    Experiment { name: "forgetting", measure: forgetting::measure, section: forgetting::section },
];

/// What the report knows.
#[derive(Default)]
struct Report {
    parts: Vec<Part>,
    /// Experiments that were not run.
    missing: Vec<&'static str>,
    /// Experiments whose folder cannot be made a section of, and why.
    broken: Vec<(&'static str, Error)>,
}

/// An experiment that was measured.
struct Part {
    /// How its folder is named in a link.
    link: String,
    manifest: Manifest,
    /// With links that hold where the report is.
    section: Section,
    /// The names of its rows and its manifest.
    files: Vec<String>,
}

/// Draws the figures anew, writes the report and says where it is. Nothing is measured. If a section cannot be made, the
/// others are written and it is an error all the same.
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
    let report = Report::read(&found, &EXPERIMENTS);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("could not make {}", folder.display()))?;
    }
    fs::write(&path, report.text()).with_context(|| format!("could not write {}", path.display()))?;
    for (name, error) in &report.broken {
        eprintln!("{name}: {error:#}");
    }
    ensure!(report.broken.is_empty(), "{} lacks sections that could not be made", path.display());
    Ok(path)
}

impl Report {
    fn read(found: &Found, experiments: &[Experiment]) -> Self {
        let mut report = Self::default();
        for experiment in experiments {
            match found.experiment(experiment.name) {
                None => report.missing.push(experiment.name),
                Some((folder, link)) => match Part::read(experiment, &folder, link) {
                    Ok(part) => report.parts.push(part),
                    Err(error) => report.broken.push((experiment.name, error)),
                },
            }
        }
        report
    }
}

impl Part {
    fn read(experiment: &Experiment, folder: &Path, link: String) -> Result<Self> {
        let manifest = Manifest::read(folder)?;
        let mut section = (experiment.section)(folder)?;
        let mut files = Vec::new();
        for entry in fs::read_dir(folder).with_context(|| format!("could not read {}", folder.display()))? {
            files.push(entry?.file_name().to_string_lossy().into_owned());
        }
        section.body = linked(&section.body, &files, &link)?;
        files.retain(|name| name.ends_with(".csv") || name.ends_with(".json"));
        files.sort();
        Ok(Self { link, manifest, section, files })
    }
}

/// The body of a section, with the place of the figures that it names.
fn linked(body: &str, files: &[String], link: &str) -> Result<String> {
    let figure = Regex::new(r"\]\(([^()/:#]+\.(?:svg|csv|json))\)")?;
    for found in figure.captures_iter(body) {
        let is_there = files.iter().any(|file| *file == found[1]);
        ensure!(is_there, "the section names {}, which is not there", &found[1]);
    }
    Ok(figure.replace_all(body, |found: &Captures| format!("]({link}{})", &found[1])).into_owned())
}

#[cfg(test)]
mod tests;
