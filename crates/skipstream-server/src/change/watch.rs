//! Watched words.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::store::write_json;
use crate::error::{Error, Result};

/// Limit on watched words.
const MAX_WORDS: usize = 1_000;

/// The watched words, saved in `watch.json`.
#[derive(Debug)]
pub struct WatchList {
    path: PathBuf,
    words: Mutex<BTreeSet<String>>,
}

impl WatchList {
    /// The list in a data folder, plus the words from the settings. An unreadable list is treated as empty, with a warning;
    /// the next change overwrites it.
    pub fn open(data: &Path, also: &[String]) -> WatchList {
        let path = data.join("watch.json");
        let read = fs::read(&path).and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
        let mut words: BTreeSet<String> = read.unwrap_or_else(|error| {
            if error.kind() != io::ErrorKind::NotFound {
                tracing::warn!(%error, path = %path.display(), "cannot read the list of watched words");
            }
            BTreeSet::new()
        });
        words.extend(also.iter().cloned());
        WatchList { path, words: Mutex::new(words) }
    }

    /// The words, sorted.
    pub fn words(&self) -> Vec<String> {
        self.lock().iter().cloned().collect()
    }

    pub fn add(&self, word: &str) -> Result<()> {
        let mut words = self.lock();
        if words.contains(word) {
            return Ok(());
        }
        if words.len() >= MAX_WORDS {
            return Err(Error::TooMany { what: "watched words", limit: MAX_WORDS });
        }
        words.insert(word.to_owned());
        self.save(&words).inspect_err(|_| {
            words.remove(word);
        })
    }

    /// Removes a word; returns whether it was watched.
    pub fn remove(&self, word: &str) -> Result<bool> {
        let mut words = self.lock();
        if !words.remove(word) {
            return Ok(false);
        }
        let saved = self.save(&words).inspect_err(|_| {
            words.insert(word.to_owned());
        });
        saved.map(|()| true)
    }

    fn save(&self, words: &BTreeSet<String>) -> Result<()> {
        write_json(&self.path, words)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.words.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_survives_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let list = WatchList::open(folder.path(), &["tea".to_owned()]);
        list.add("milk").unwrap();
        list.add("milk").unwrap();
        list.add("../\"ü\n").unwrap();
        assert!(list.remove("tea").unwrap() && !list.remove("tea").unwrap());
        assert_eq!(WatchList::open(folder.path(), &[]).words(), ["../\"ü\n", "milk"]);
        assert_eq!(WatchList::open(folder.path(), &["ink".to_owned()]).words().len(), 3);
    }

    #[test]
    fn a_damaged_list_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("watch.json"), "[1").unwrap();
        assert!(WatchList::open(folder.path(), &[]).words().is_empty());
    }

    #[test]
    fn a_change_that_cannot_be_saved_is_undone() {
        let folder = tempfile::tempdir().unwrap();
        let list = WatchList::open(folder.path(), &["tea".to_owned()]);
        fs::create_dir(folder.path().join("watch.json")).unwrap();
        assert!(list.add("milk").is_err() && list.remove("tea").is_err());
        assert_eq!(list.words(), ["tea"]);
    }

    #[test]
    fn the_number_of_watched_words_is_limited() {
        let folder = tempfile::tempdir().unwrap();
        let many: Vec<String> = (0..MAX_WORDS).map(|number| number.to_string()).collect();
        let list = WatchList::open(folder.path(), &many);
        assert!(matches!(list.add("one more"), Err(Error::TooMany { .. })));
        list.add("7").unwrap();
    }
}
