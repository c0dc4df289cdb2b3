//! Snapshots on disk: `NAME.safetensors` with the vectors of the most frequent words, `NAME.json` with the rest.
//!
//! The small file is written first and the vectors are deleted first, so a snapshot is there when both are. What a killed
//! process leaves is at most a small file alone, which the next start removes.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use skipstream::{Embeddings, Vectors};

use super::name::SnapshotName;
use super::thinning::superfluous;
use crate::events::KeptInfo;
use crate::published::{Published, Seq};

/// Snapshots that somebody asked for and that stay until somebody deletes them.
const MAX_PINNED: usize = 1_000;

/// Snapshots whose words stay in memory. With thirty thousand words, one takes about a megabyte.
const MAX_OPEN: usize = 16;

/// The kept snapshots.
#[derive(Debug)]
pub struct Kept {
    folder: PathBuf,
    list: Mutex<List>,
    /// One at a time is written, thinned or deleted, while others are read.
    writing: Mutex<()>,
}

#[derive(Debug, Default)]
struct List {
    /// The oldest first.
    infos: Vec<KeptInfo>,
    /// Those that were asked for last, the last one at the end.
    open: VecDeque<(SnapshotName, Embeddings)>,
}

/// Why a snapshot is not kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeepError {
    /// There is one of this name.
    #[error("there is a snapshot `{0}` already")]
    NameTaken(SnapshotName),
    /// Too many were asked for.
    #[error("{MAX_PINNED} named snapshots are kept, which is as many as there may be")]
    TooMany,
    /// The disk is full.
    #[error("there is no room on the disk for a snapshot")]
    DiskFull,
    /// It cannot be written.
    #[error(transparent)]
    Failed(#[from] skipstream::Error),
}

/// What is in the small file.
#[derive(Debug, Serialize, Deserialize)]
struct Description {
    version: u32,
    time: Timestamp,
    seq: Seq,
    vocabulary: usize,
    words: u64,
    pinned: bool,
}

impl Kept {
    /// The snapshots in the folder of a service. What cannot be read is left out, with a warning.
    pub fn open(data: &Path) -> Kept {
        let folder = data.join("snapshots");
        let mut infos = match read_folder(&folder) {
            Ok(infos) => infos,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => {
                tracing::warn!(%error, folder = %folder.display(), "kept snapshots cannot be read");
                Vec::new()
            }
        };
        infos.sort_by_key(|info| (info.time, info.seq));
        Kept { folder, list: Mutex::new(List { infos, open: VecDeque::new() }), writing: Mutex::default() }
    }

    /// All snapshots, the oldest first.
    pub fn list(&self) -> Vec<KeptInfo> {
        self.lock().infos.clone()
    }

    /// The newest of those that were kept by themselves, up to a time: a clock that was wrong may have left later ones.
    pub fn newest_automatic(&self, until: Timestamp) -> Option<KeptInfo> {
        self.lock().infos.iter().rfind(|info| !info.pinned && info.time <= until).cloned()
    }

    /// The snapshot of a name.
    pub fn find(&self, name: &SnapshotName) -> Option<KeptInfo> {
        self.lock().infos.iter().find(|info| info.name == name.as_str()).cloned()
    }

    /// The vectors of a snapshot; nothing if there is no such snapshot, or if it is damaged, after which it is not listed
    /// any more.
    pub fn embeddings(&self, name: &SnapshotName) -> Option<Embeddings> {
        {
            let mut list = self.lock();
            if let Some(place) = list.open.iter().position(|(open, _)| open == name) {
                let open = list.open.remove(place)?;
                list.open.push_back(open.clone());
                return Some(open.1);
            }
            list.infos.iter().find(|info| info.name == name.as_str())?;
        }
        // Read without the lock: others need not wait for the disk.
        let embeddings = match Embeddings::open(self.path(name, "safetensors"), Vectors::default()) {
            Ok(embeddings) => embeddings,
            Err(error) => {
                tracing::warn!(%error, %name, "a kept snapshot cannot be read and is left out");
                self.lock().infos.retain(|info| info.name != name.as_str());
                return None;
            }
        };
        let mut list = self.lock();
        if list.open.len() == MAX_OPEN {
            list.open.pop_front();
        }
        list.open.push_back((name.clone(), embeddings.clone()));
        Some(embeddings)
    }

    /// Keeps the most frequent words of what was published: under a name until somebody deletes it, or by itself.
    pub fn keep(
        &self,
        published: &Published,
        name: Option<SnapshotName>,
        most_words: usize,
    ) -> Result<KeptInfo, KeepError> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let pinned = name.is_some();
        let name = name.unwrap_or_else(|| SnapshotName::of_time(published.time));
        if self.find(&name).is_some() {
            return Err(KeepError::NameTaken(name));
        }
        if pinned && self.lock().infos.iter().filter(|info| info.pinned).count() >= MAX_PINNED {
            return Err(KeepError::TooMany);
        }
        let embeddings = published.embeddings.top(most_words);
        let info = KeptInfo {
            name: name.to_string(),
            time: published.time,
            seq: published.seq,
            vocabulary: published.embeddings.len(),
            words: published.progress.tokens,
            pinned,
        };
        if let Err(error) = self.write(&name, &info, &embeddings) {
            // Half of a snapshot is of no use, and the disk may be full.
            self.remove_files(&name);
            return Err(KeepError::from_engine(error));
        }
        let mut list = self.lock();
        list.infos.push(info.clone());
        list.infos.sort_by_key(|info| (info.time, info.seq));
        Ok(info)
    }

    /// Deletes a snapshot; says whether there was one.
    pub fn delete(&self, name: &SnapshotName) -> bool {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut list = self.lock();
        let n_before = list.infos.len();
        list.infos.retain(|info| info.name != name.as_str());
        list.open.retain(|(open, _)| open != name);
        let was_there = list.infos.len() < n_before;
        drop(list);
        if was_there {
            self.remove_files(name);
        }
        was_there
    }

    /// Deletes those that need not stay.
    pub fn thin(&self, now: Timestamp, recent: usize, days: usize) {
        for name in superfluous(&self.list(), now, recent, days) {
            self.delete(&name);
        }
    }

    fn write(&self, name: &SnapshotName, info: &KeptInfo, embeddings: &Embeddings) -> skipstream::Result<()> {
        let failed = |source| skipstream::Error::Io { path: self.folder.clone(), source };
        fs::create_dir_all(&self.folder).map_err(failed)?;
        let &KeptInfo { time, seq, vocabulary, words, pinned, .. } = info;
        let description = Description { version: 1, time, seq, vocabulary, words, pinned };
        skipstream::bytes::replace(self.path(name, "json"), |file| {
            let written = serde_json::to_writer(&mut *file, &description).map_err(io::Error::from);
            written.and_then(|()| file.write_all(b"\n")).map_err(failed)
        })?;
        embeddings.save(self.path(name, "safetensors"))
    }

    /// Removes the files of a snapshot, the vectors first.
    fn remove_files(&self, name: &SnapshotName) {
        for ending in ["safetensors", "json"] {
            let path = self.path(name, ending);
            if let Err(error) = fs::remove_file(&path)
                && error.kind() != io::ErrorKind::NotFound
            {
                tracing::warn!(%error, path = %path.display(), "a file of a snapshot cannot be deleted");
            }
        }
    }

    fn path(&self, name: &SnapshotName, ending: &str) -> PathBuf {
        self.folder.join(format!("{name}.{ending}"))
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeepError {
    fn from_engine(error: skipstream::Error) -> KeepError {
        match &error {
            skipstream::Error::Io { source, .. }
                if matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) =>
            {
                KeepError::DiskFull
            }
            _ => KeepError::Failed(error),
        }
    }
}

/// The snapshots of a folder. Of one whose vectors are not there, the rest is removed.
fn read_folder(folder: &Path) -> io::Result<Vec<KeptInfo>> {
    let mut infos = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".json"));
        let Some(name) = name.and_then(SnapshotName::new) else { continue };
        if !path.with_file_name(format!("{name}.safetensors")).is_file() {
            let _ = fs::remove_file(&path);
            continue;
        }
        match describe(&path, &name) {
            Ok(info) => infos.push(info),
            Err(error) => tracing::warn!(%error, %name, "a kept snapshot cannot be read and is left out"),
        }
    }
    Ok(infos)
}

fn describe(path: &Path, name: &SnapshotName) -> io::Result<KeptInfo> {
    let Description { version, time, seq, vocabulary, words, pinned } =
        serde_json::from_slice(&fs::read(path)?)?;
    if version != 1 {
        let message = format!("it has version {version}; this program reads version 1");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    Ok(KeptInfo { name: name.to_string(), time, seq, vocabulary, words, pinned })
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::change::testing::published;

    fn name(name: &str) -> SnapshotName {
        SnapshotName::new(name).unwrap()
    }

    fn names(kept: &Kept) -> Vec<String> {
        kept.list().into_iter().map(|info| info.name).collect()
    }

    #[test]
    fn a_snapshot_is_there_again_after_a_restart() {
        let folder = TempDir::new().unwrap();
        let published =
            published(9, &[("tea", 5, [1.0, 0.5]), ("milk", 4, [0.5, 1.0]), ("ink", 1, [0.0, 1.0])]);
        let kept = Kept::open(folder.path());
        assert!(kept.list().is_empty());
        let pinned = kept.keep(&published, Some(name("monday")), 2).unwrap();
        let automatic = kept.keep(&published, None, 2).unwrap();
        assert_eq!((pinned.seq, pinned.vocabulary, pinned.words, pinned.pinned), (9, 3, 10, true));
        assert!(!automatic.pinned);

        let again = Kept::open(folder.path());
        assert_eq!(again.list().len(), 2);
        assert_eq!(again.find(&name("monday")), Some(pinned));
        assert_eq!(again.newest_automatic(published.time), Some(automatic));
        let embeddings = again.embeddings(&name("monday")).unwrap();
        assert!(embeddings.words().eq(["tea", "milk"]) && embeddings.count(1) == 4);
        assert_eq!(*embeddings.vector_at(0), [1.0, 0.5]);
    }

    #[test]
    fn a_name_is_given_once_and_is_free_again_after_deleting() {
        let folder = TempDir::new().unwrap();
        let published = published(1, &[("tea", 5, [1.0, 0.5])]);
        let kept = Kept::open(folder.path());
        kept.keep(&published, Some(name("a")), 9).unwrap();
        let message = kept.keep(&published, Some(name("a")), 9).unwrap_err().to_string();
        assert_eq!(message, "there is a snapshot `a` already");
        assert!(kept.embeddings(&name("a")).is_some());
        assert!(kept.delete(&name("a")) && !kept.delete(&name("a")));
        assert!(kept.embeddings(&name("a")).is_none());
        assert_eq!(fs::read_dir(folder.path().join("snapshots")).unwrap().count(), 0);
        kept.keep(&published, Some(name("a")), 9).unwrap();
    }

    #[test]
    fn what_is_damaged_is_left_out_and_the_rest_stays() {
        let folder = TempDir::new().unwrap();
        let published = published(1, &[("tea", 5, [1.0, 0.5])]);
        let kept = Kept::open(folder.path());
        for damaged in ["good", "vectors", "description", "half"] {
            kept.keep(&published, Some(name(damaged)), 9).unwrap();
        }
        let file = |name: &str| folder.path().join("snapshots").join(name);
        fs::write(file("vectors.safetensors"), "short").unwrap();
        fs::write(file("description.json"), "{\"version\": 7}").unwrap();
        fs::remove_file(file("half.safetensors")).unwrap();
        fs::write(file("..json"), "{}").unwrap();

        let kept = Kept::open(folder.path());
        assert_eq!(names(&kept).len(), 2);
        assert!(!file("half.json").exists() && file("description.json").exists());
        assert!(kept.embeddings(&name("vectors")).is_none());
        assert_eq!(names(&kept), ["good"]);
        assert!(kept.embeddings(&name("good")).is_some());
    }

    #[test]
    fn a_snapshot_that_cannot_be_written_leaves_nothing() {
        let folder = TempDir::new().unwrap();
        let published = published(1, &[("tea", 5, [1.0, 0.5])]);
        let kept = Kept::open(folder.path());
        // A folder of the file's name is in the way.
        fs::create_dir_all(folder.path().join("snapshots/a.safetensors")).unwrap();
        assert!(kept.keep(&published, Some(name("a")), 9).is_err());
        assert!(kept.list().is_empty() && !folder.path().join("snapshots/a.json").exists());
    }

    #[test]
    fn a_full_disk_has_a_name() {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        let error = skipstream::Error::Io { path: PathBuf::new(), source: full };
        assert!(matches!(KeepError::from_engine(error), KeepError::DiskFull));
    }

    #[test]
    fn many_snapshots_are_read_one_after_the_other() {
        let folder = TempDir::new().unwrap();
        let published = published(1, &[("tea", 5, [1.0, 0.5])]);
        let kept = Kept::open(folder.path());
        let all: Vec<SnapshotName> = (0..MAX_OPEN + 4).map(|number| name(&number.to_string())).collect();
        for name in &all {
            kept.keep(&published, Some(name.clone()), 9).unwrap();
        }
        for name in all.iter().chain(&all) {
            assert_eq!(kept.embeddings(name).unwrap().len(), 1);
        }
        assert_eq!(kept.lock().open.len(), MAX_OPEN);
    }
}
