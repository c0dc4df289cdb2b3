//! Which folder holds the results of an experiment.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Folders of results, the one that counts most first, with their names in links.
pub(super) struct Found {
    folders: Vec<(PathBuf, String)>,
}

impl Found {
    /// One folder, in which the report is too.
    pub fn only_in(results: &Path) -> Self {
        Self { folders: vec![(results.into(), String::new())] }
    }

    /// The folders of all days, the newest first.
    pub fn newest(dated: &Path) -> Result<Self> {
        let mut days = Vec::new();
        if dated.exists() {
            let context = || format!("could not read {}", dated.display());
            for entry in fs::read_dir(dated).with_context(context)? {
                days.push(entry.with_context(context)?.file_name().to_string_lossy().into_owned());
            }
        }
        days.sort();
        let folders = days.into_iter().rev().map(|day| (dated.join(&day), format!("results/{day}/")));
        Ok(Self { folders: folders.collect() })
    }

    /// The folder of one day, and then those of all others.
    pub fn first_in(results: &Path, dated: &Path) -> Result<Self> {
        let mut found = Self::newest(dated)?;
        // Stable: the others stay in order.
        found.folders.sort_by_key(|(folder, _)| !is_same(folder, results));
        Ok(found)
    }

    /// The folder of an experiment and its name in links, if it was run and left rows: one that was only begun must not
    /// hide the results of an earlier day.
    pub fn experiment(&self, name: &str) -> Option<(PathBuf, String)> {
        let mut folders =
            self.folders.iter().map(|(folder, link)| (folder.join(name), format!("{link}{name}/")));
        folders.find(|(folder, _)| folder.join("manifest.json").exists() && has_rows(folder))
    }
}

/// Whether there is a CSV file that is not empty. Its header is written with the first row.
fn has_rows(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let is_csv = entry.path().extension().is_some_and(|extension| extension == "csv");
        is_csv && entry.metadata().is_ok_and(|metadata| metadata.len() > 0)
    })
}

/// Whether a folder lies directly in another, also one that was not made yet.
pub(super) fn is_in(folder: &Path, outer: &Path) -> bool {
    folder.parent().is_some_and(|parent| {
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        is_same(parent, outer)
    })
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two days: `a` was measured on both, `b` on the first only.
    fn days() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for experiment in ["2025-01-02/a", "2025-01-02/b", "2025-02-01/a", "2025-02-01/unfinished"] {
            let path = folder.path().join(experiment);
            fs::create_dir_all(&path).unwrap();
            if !experiment.ends_with("unfinished") {
                fs::write(path.join("manifest.json"), "{}").unwrap();
                fs::write(path.join("rows.csv"), "value\n1\n").unwrap();
            }
        }
        folder
    }

    fn links(found: &Found) -> Vec<Option<String>> {
        ["a", "b", "unfinished"].map(|name| found.experiment(name).map(|(_, link)| link)).into()
    }

    #[test]
    fn the_newest_results_of_each_experiment_count() {
        let days = days();
        let found = Found::newest(days.path()).unwrap();
        assert_eq!(
            links(&found),
            [Some("results/2025-02-01/a/".into()), Some("results/2025-01-02/b/".into()), None]
        );
        assert_eq!(found.experiment("b").unwrap().0, days.path().join("2025-01-02/b"));
    }

    #[test]
    fn a_run_without_rows_hides_nothing() {
        let days = days();
        let newest = days.path().join("2025-02-01/a");
        let earlier = Some("results/2025-01-02/a/".into());
        fs::write(newest.join("rows.csv"), "").unwrap();
        assert_eq!(links(&Found::newest(days.path()).unwrap())[0], earlier);
        fs::remove_file(newest.join("rows.csv")).unwrap();
        assert_eq!(links(&Found::newest(days.path()).unwrap())[0], earlier);
    }

    #[test]
    fn a_day_that_was_asked_for_counts_more() {
        let days = days();
        let found = Found::first_in(&days.path().join("2025-01-02"), days.path()).unwrap();
        assert_eq!(links(&found)[0], Some("results/2025-01-02/a/".into()));
    }

    #[test]
    fn a_folder_of_its_own_has_links_within() {
        let days = days();
        let found = Found::only_in(&days.path().join("2025-01-02"));
        assert_eq!(links(&found), [Some("a/".into()), Some("b/".into()), None]);
        assert!(is_in(&days.path().join("2025-01-02"), days.path()));
        assert!(!is_in(&days.path().join("2025-01-02/a"), days.path()));
        assert!(is_in(&days.path().join("not-yet"), days.path()));
        assert!(!is_in(Path::new("not-yet"), days.path()));
    }

    #[test]
    fn without_results_nothing_is_found() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(links(&Found::newest(&folder.path().join("none")).unwrap()), [None, None, None]);
    }
}
