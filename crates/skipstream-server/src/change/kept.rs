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

    /// The vectors of a snapshot; nothing if there is no such snapshot, if it cannot be read now, or if it is damaged, after
    /// which it is not listed any more.
    pub fn embeddings(&self, name: &SnapshotName) -> Option<Embeddings> {
        let info = {
            let mut list = self.lock();
            if let Some(place) = list.open.iter().position(|(open, _)| open == name) {
                let open = list.open.remove(place)?;
                list.open.push_back(open.clone());
                return Some(open.1);
            }
            list.infos.iter().find(|info| info.name == name.as_str())?.clone()
        };
        // Read without the lock: others need not wait for the disk.
        match Embeddings::open(self.path(name, "safetensors"), Vectors::default()) {
            Ok(embeddings) => {
                self.remember(name, &info, &embeddings);
                Some(embeddings)
            }
            Err(error) if may_pass(&error) => {
                tracing::warn!(%error, %name, "a kept snapshot cannot be read now");
                None
            }
            Err(error) => {
                tracing::warn!(%error, %name, "a kept snapshot cannot be read and is left out");
                self.lock().infos.retain(|listed| *listed != info);
                None
            }
        }
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
        // What could not be read is not listed, and not to be overwritten.
        if self.find(&name).is_some() || self.has_files(&name)? {
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

    /// Deletes a snapshot, also one that is not listed because it cannot be read; says whether there was one.
    pub fn delete(&self, name: &SnapshotName) -> bool {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut list = self.lock();
        let n_before = list.infos.len();
        list.infos.retain(|info| info.name != name.as_str());
        list.open.retain(|(open, _)| open != name);
        let was_listed = list.infos.len() < n_before;
        drop(list);
        let was_there = was_listed || self.has_files(name).unwrap_or(false);
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

    /// Keeps vectors in memory that were read, unless their snapshot was deleted or replaced meanwhile.
    fn remember(&self, name: &SnapshotName, info: &KeptInfo, embeddings: &Embeddings) {
        let mut list = self.lock();
        if !list.infos.contains(info) || list.open.iter().any(|(open, _)| open == name) {
            return;
        }
        if list.open.len() == MAX_OPEN {
            list.open.pop_front();
        }
        list.open.push_back((name.clone(), embeddings.clone()));
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

    /// Whether there is a file of a snapshot.
    fn has_files(&self, name: &SnapshotName) -> skipstream::Result<bool> {
        for ending in ["safetensors", "json"] {
            let path = self.path(name, ending);
            let is_there = path.try_exists().map_err(|source| skipstream::Error::Io { path, source })?;
            if is_there {
                return Ok(true);
            }
        }
        Ok(false)
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

/// Whether a file that cannot be read now may be as good as ever: too many files may be open, or the disk may be away.
fn may_pass(error: &skipstream::Error) -> bool {
    use io::ErrorKind::{InvalidData, NotFound, UnexpectedEof};
    match error {
        skipstream::Error::Io { source, .. } => {
            !matches!(source.kind(), NotFound | InvalidData | UnexpectedEof)
        }
        _ => false,
    }
}

/// The snapshots of a folder that nobody writes now. Of one whose vectors are not there, the rest is removed, and so is
/// what was not written to its end.
fn read_folder(folder: &Path) -> io::Result<Vec<KeptInfo>> {
    let mut infos = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(file) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if file.starts_with('.') && file.ends_with(".partial") {
            let _ = fs::remove_file(&path);
            continue;
        }
        let Some(name) = file.strip_suffix(".json").and_then(SnapshotName::new) else { continue };
        // An error is no proof that nothing is there.
        if path.with_file_name(format!("{name}.safetensors")).try_exists().is_ok_and(|exists| !exists) {
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
mod tests;
