//! Words whose movements are told.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Words that may be watched.
const MAX_WORDS: usize = 1_000;

/// The words that are watched. They are on disk, too, so that they are watched after a restart.
#[derive(Debug)]
pub struct WatchList {
    path: PathBuf,
    words: Mutex<BTreeSet<String>>,
}

/// Why a word is not watched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WatchError {
    /// Too many are.
    #[error("{MAX_WORDS} words are watched, which is as many as there may be")]
    TooMany,
    /// The disk is full.
    #[error("there is no room on the disk for the list of watched words")]
    DiskFull,
    /// The list cannot be written.
    #[error(transparent)]
    Failed(#[from] skipstream::Error),
}

impl WatchList {
    /// The list in the folder of a service, and some words that are to be on it. A list that cannot be read is left
    /// alone, with a warning, until the next change replaces it.
    pub fn open(data: &Path, also: &[String]) -> WatchList {
        let path = data.join("watch.json");
        let mut words: BTreeSet<String> = match fs::read(&path).map(|bytes| serde_json::from_slice(&bytes)) {
            Ok(Ok(words)) => words,
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeSet::new(),
            Ok(Err(error)) => unreadable(&path, &error),
            Err(error) => unreadable(&path, &error),
        };
        words.extend(also.iter().cloned());
        WatchList { path, words: Mutex::new(words) }
    }

    /// The words, in alphabetical order.
    pub fn words(&self) -> Vec<String> {
        self.lock().iter().cloned().collect()
    }

    /// Watches a word from now on.
    pub fn add(&self, word: &str) -> Result<(), WatchError> {
        let mut words = self.lock();
        if words.contains(word) {
            return Ok(());
        }
        if words.len() >= MAX_WORDS {
            return Err(WatchError::TooMany);
        }
        words.insert(word.to_owned());
        self.save(&words).inspect_err(|_| {
            words.remove(word);
        })
    }

    /// Watches a word no longer; says whether it was watched.
    pub fn remove(&self, word: &str) -> Result<bool, WatchError> {
        let mut words = self.lock();
        if !words.remove(word) {
            return Ok(false);
        }
        let saved = self.save(&words).inspect_err(|_| {
            words.insert(word.to_owned());
        });
        saved.map(|()| true)
    }

    fn save(&self, words: &BTreeSet<String>) -> Result<(), WatchError> {
        let failed = |source| skipstream::Error::Io { path: self.path.clone(), source };
        let saved = skipstream::bytes::replace(&self.path, |file| {
            let written = serde_json::to_writer(&mut *file, words).map_err(io::Error::from);
            written.and_then(|()| file.write_all(b"\n")).map_err(failed)
        });
        saved.map_err(|error| match &error {
            skipstream::Error::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                WatchError::DiskFull
            }
            _ => WatchError::Failed(error),
        })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.words.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> BTreeSet<String> {
    tracing::warn!(%error, path = %path.display(), "the list of watched words cannot be read");
    BTreeSet::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_there_again_after_a_restart() {
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
    fn only_so_many_words_are_watched() {
        let folder = tempfile::tempdir().unwrap();
        let many: Vec<String> = (0..MAX_WORDS).map(|number| number.to_string()).collect();
        let list = WatchList::open(folder.path(), &many);
        assert!(matches!(list.add("one more"), Err(WatchError::TooMany)));
        list.add("7").unwrap();
    }
}
