//! Snapshots on disk: `NAME.safetensors` holds the vectors of the most frequent words, `NAME.json` a [`SnapshotInfo`], and
//! `NAME.state` the model to return to, if it is kept.
//!
//! The vectors are written last and deleted first, and a snapshot exists if they and the JSON file do. What a crash leaves of
//! the other files is removed by the next start.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use skipstream::unstable::create_folder;
use skipstream::{Embeddings, Vectors};
use utoipa::ToSchema;

use super::name::SnapshotName;
use crate::error::{Error, Result};
use crate::published::{Published, Seq};

/// Limit on named snapshots, which stay until they are deleted.
const MAX_PINNED: usize = 1_000;

/// The files of a snapshot, in the order in which they are deleted.
const EXTENSIONS: [&str; 3] = ["safetensors", "state", "json"];

/// Version of the JSON file.
const VERSION: u32 = 1;

/// A snapshot of the vectors
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SnapshotInfo {
    /// Its name
    #[schema(value_type = String)]
    pub name: SnapshotName,
    /// When its vectors were published
    pub time: Timestamp,
    /// The last line it contains
    pub seq: Seq,
    /// Size of the vocabulary at that time
    pub vocabulary: usize,
    /// Number of tokens learned by then
    pub words: u64,
    /// Whether it stays until it is deleted by a request
    pub pinned: bool,
    /// Whether the service can return to it
    #[serde(skip_deserializing)]
    pub state: bool,
}

/// The JSON file.
#[derive(Debug, Serialize, Deserialize)]
struct Description {
    version: u32,
    #[serde(flatten)]
    info: SnapshotInfo,
}

#[derive(Debug)]
pub struct SnapshotStore {
    folder: PathBuf,
    /// The oldest first.
    infos: Mutex<Vec<SnapshotInfo>>,
    /// Those whose checksums were verified.
    verified: Mutex<BTreeSet<SnapshotName>>,
    /// Held while files are written or deleted. Reads go on. The time when a word was last forgotten: an older version
    /// may have it, and is not saved any more.
    writing: Mutex<Option<Timestamp>>,
}

impl SnapshotStore {
    /// The snapshots in a data folder. Unreadable ones are skipped with a warning.
    pub fn open(data: &Path) -> SnapshotStore {
        let folder = data.join("snapshots");
        let mut infos = match read_folder(&folder) {
            Ok(infos) => infos,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => {
                tracing::warn!(%error, folder = %folder.display(), "cannot read the snapshots");
                Vec::new()
            }
        };
        infos.sort_by_key(|info| (info.time, info.seq));
        SnapshotStore {
            folder,
            infos: Mutex::new(infos),
            verified: Mutex::default(),
            writing: Mutex::default(),
        }
    }

    /// All snapshots, the oldest first.
    pub fn list(&self) -> Vec<SnapshotInfo> {
        self.lock().clone()
    }

    /// The newest scheduled snapshot up to a time: a wrong clock may have left later ones.
    pub fn newest_scheduled(&self, until: Timestamp) -> Option<SnapshotInfo> {
        self.lock().iter().rfind(|info| !info.pinned && info.time <= until).cloned()
    }

    pub fn find(&self, name: &SnapshotName) -> Option<SnapshotInfo> {
        self.lock().iter().find(|info| info.name == *name).cloned()
    }

    /// The vectors of a snapshot; `None` if it does not exist or cannot be read. A corrupt snapshot is removed from the
    /// list.
    pub fn embeddings(&self, name: &SnapshotName) -> Option<Embeddings> {
        let info = self.find(name)?;
        let path = self.path(name, "safetensors");
        // To verify the checksums takes as long as a search, so it is done once.
        let opened = match self.verified().contains(name) {
            true => Embeddings::open(path, Vectors::default()),
            false => Embeddings::open_verified(path, Vectors::default()),
        };
        match opened {
            Ok(embeddings) => {
                self.verified().insert(name.clone());
                Some(embeddings)
            }
            Err(error) if is_temporary(&error) => {
                tracing::warn!(%error, %name, "cannot read a snapshot");
                None
            }
            Err(error) => {
                tracing::warn!(%error, %name, "skipping an unreadable snapshot");
                self.lock().retain(|listed| *listed != info);
                None
            }
        }
    }

    /// Saves the `most_words` most frequent words of a published version. A snapshot with a name stays until it is deleted;
    /// one without is subject to retention.
    pub fn save(
        &self,
        published: &Published,
        name: Option<SnapshotName>,
        most_words: usize,
    ) -> Result<SnapshotInfo> {
        self.save_files(published, name, most_words, None)
    }

    /// Saves a named snapshot with the model that it is from, which must not change on disk until this returns.
    pub fn save_with_state(
        &self,
        published: &Published,
        name: SnapshotName,
        most_words: usize,
        model: &Path,
    ) -> Result<SnapshotInfo> {
        self.save_files(published, Some(name), most_words, Some(model))
    }

    fn save_files(
        &self,
        published: &Published,
        name: Option<SnapshotName>,
        most_words: usize,
        state: Option<&Path>,
    ) -> Result<SnapshotInfo> {
        let forgotten_at = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if forgotten_at.is_some_and(|time| published.time < time) {
            return Err(Error::NotReady("a word was forgotten meanwhile: try again".to_owned()));
        }
        let pinned = name.is_some();
        let name = name.unwrap_or_else(|| SnapshotName::of_time(published.time));
        self.check_new(&name, pinned)?;
        let info = SnapshotInfo {
            name,
            time: published.time,
            seq: published.seq,
            vocabulary: published.embeddings.len(),
            words: published.progress.tokens,
            pinned,
            state: state.is_some(),
        };
        if let Err(error) = self.write(&info, &published.embeddings.top(most_words), state) {
            // The disk may be full.
            self.remove_files(&info.name);
            return Err(error);
        }
        let mut infos = self.lock();
        infos.push(info.clone());
        infos.sort_by_key(|info| (info.time, info.seq));
        Ok(info)
    }

    /// Rejects a name that is taken, and too many pinned snapshots.
    pub fn check_new(&self, name: &SnapshotName, pinned: bool) -> Result<()> {
        // An unreadable snapshot is not listed, and must not be overwritten.
        if self.find(name).is_some() || self.has_files(name)? {
            return Err(Error::NameTaken(name.to_string()));
        }
        if pinned && self.lock().iter().filter(|info| info.pinned).count() >= MAX_PINNED {
            return Err(Error::TooMany { what: "named snapshots", limit: MAX_PINNED });
        }
        Ok(())
    }

    /// The model to return to; `None` if the snapshot has none.
    pub fn state(&self, name: &SnapshotName) -> Option<PathBuf> {
        self.find(name)?.state.then(|| self.path(name, "state"))
    }

    /// Deletes a snapshot, even an unreadable one; returns whether it existed.
    pub fn delete(&self, name: &SnapshotName) -> bool {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let existed = self.find(name).is_some() || self.has_files(name).unwrap_or(false);
        self.lock().retain(|info| info.name != *name);
        self.verified().remove(name);
        if existed {
            self.remove_files(name);
        }
        existed
    }

    /// Takes words out of every snapshot. One that cannot be read is deleted, because it may have them.
    pub fn forget(&self, is_forgotten: impl Fn(&str) -> bool) -> Result<()> {
        let mut forgotten_at = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        *forgotten_at = Some(Timestamp::now());
        // An unreadable snapshot is not listed.
        for name in self.saved_names()? {
            self.remove_state(&name)?;
            let path = self.path(&name, "safetensors");
            let embeddings = match Embeddings::open_verified(&path, Vectors::default()) {
                Ok(embeddings) => embeddings,
                Err(error) if is_temporary(&error) => return Err(error.into()),
                Err(_) => {
                    tracing::warn!(%name, "deleted an unreadable snapshot, which may have forgotten words");
                    self.lock().retain(|listed| listed.name != name);
                    self.remove_files(&name);
                    continue;
                }
            };
            let listed = embeddings.words().enumerate();
            let rows: Vec<usize> =
                listed.filter(|(_, word)| !is_forgotten(word)).map(|(row, _)| row).collect();
            if rows.len() < embeddings.len() {
                embeddings.select(&rows)?.save(&path)?;
            }
        }
        Ok(())
    }

    fn remove_state(&self, name: &SnapshotName) -> Result<()> {
        let path = self.path(name, "state");
        match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(skipstream::Error::Io { path, source }.into());
            }
            _ => {}
        }
        self.lock().iter_mut().filter(|listed| listed.name == *name).for_each(|listed| listed.state = false);
        Ok(())
    }

    /// The snapshots that have vectors on disk, whether they are listed or not.
    fn saved_names(&self) -> Result<Vec<SnapshotName>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.and_then(Iterator::collect::<io::Result<Vec<_>>>),
        };
        let entries =
            entries.map_err(|source| skipstream::Error::Io { path: self.folder.clone(), source })?;
        let name = |file: &str| file.strip_suffix(".safetensors").and_then(SnapshotName::new);
        Ok(entries.iter().filter_map(|entry| name(entry.file_name().to_str()?)).collect())
    }

    /// Deletes the snapshots whose retention has ended.
    pub fn delete_expired(&self, now: Timestamp, keep_recent: usize, keep_days: usize) {
        for name in expired(&self.list(), now, keep_recent, keep_days) {
            self.delete(&name);
        }
    }

    fn write(&self, info: &SnapshotInfo, embeddings: &Embeddings, state: Option<&Path>) -> Result<()> {
        create_folder(&self.folder)?;
        let description = Description { version: VERSION, info: info.clone() };
        write_json(&self.path(&info.name, "json"), &description)?;
        if let Some(model) = state {
            let path = self.path(&info.name, "state");
            // The next checkpoint replaces the model. Its folder is synced with the vectors.
            fs::hard_link(model, &path).map_err(|source| skipstream::Error::Io { path, source })?;
        }
        // Only words of rows are found when they are forgotten.
        let embeddings = embeddings.clone().without_phrases();
        Ok(embeddings.save(self.path(&info.name, "safetensors"))?)
    }

    fn has_files(&self, name: &SnapshotName) -> Result<bool> {
        for extension in EXTENSIONS {
            let path = self.path(name, extension);
            if path.try_exists().map_err(|source| skipstream::Error::Io { path, source })? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Removes the files of a snapshot, the vectors first.
    fn remove_files(&self, name: &SnapshotName) {
        for extension in EXTENSIONS {
            let path = self.path(name, extension);
            if let Err(error) = fs::remove_file(&path)
                && error.kind() != io::ErrorKind::NotFound
            {
                tracing::warn!(%error, path = %path.display(), "cannot delete a snapshot file");
            }
        }
    }

    fn path(&self, name: &SnapshotName, extension: &str) -> PathBuf {
        self.folder.join(format!("{name}.{extension}"))
    }

    fn verified(&self) -> MutexGuard<'_, BTreeSet<SnapshotName>> {
        self.verified.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<SnapshotInfo>> {
        self.infos.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The snapshots to delete: all but the pinned ones, the newest `keep_recent`, and the last of each day (UTC) of the past
/// `keep_days`. Snapshots from the future, left by a wrong clock, stay until their time and do not count.
fn expired(
    snapshots: &[SnapshotInfo],
    now: Timestamp,
    keep_recent: usize,
    keep_days: usize,
) -> Vec<SnapshotName> {
    let mut by_time: Vec<&SnapshotInfo> =
        snapshots.iter().filter(|info| !info.pinned && info.time <= now).collect();
    by_time.sort_by_key(|info| std::cmp::Reverse((info.time, info.seq)));
    let most_hours = i64::try_from(keep_days).unwrap_or(i64::MAX).saturating_mul(24);
    let mut days_seen = BTreeSet::new();
    let mut names = Vec::new();
    for (index, info) in by_time.into_iter().enumerate() {
        // The newest of a day comes first.
        let is_last_of_day = days_seen.insert(info.time.to_zoned(TimeZone::UTC).date());
        let is_young = now.duration_since(info.time).as_hours() <= most_hours;
        if index >= keep_recent.max(1) && !(is_last_of_day && is_young) {
            names.push(info.name.clone());
        }
    }
    names
}

/// Whether a file may be readable later: there may be too many open files, or the disk may be unavailable.
fn is_temporary(error: &skipstream::Error) -> bool {
    use io::ErrorKind::{InvalidData, NotFound, UnexpectedEof};
    match error {
        skipstream::Error::Io { source, .. } => {
            !matches!(source.kind(), NotFound | InvalidData | UnexpectedEof)
        }
        _ => false,
    }
}

/// The snapshots in a folder. Removes what is left of snapshots without vectors, and unfinished files.
fn read_folder(folder: &Path) -> io::Result<Vec<SnapshotInfo>> {
    let mut infos = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(file) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if file.starts_with('.') && file.ends_with(".partial") {
            let _ = fs::remove_file(&path);
            continue;
        }
        let Some(name) = file.strip_suffix(".json").and_then(SnapshotName::new) else { continue };
        // An error does not prove that the file is missing.
        let state = path.with_extension("state");
        if path.with_file_name(format!("{name}.safetensors")).try_exists().is_ok_and(|exists| !exists) {
            let _ = fs::remove_file(&state);
            let _ = fs::remove_file(&path);
            continue;
        }
        match read_info(&path) {
            Ok(info) => infos.push(SnapshotInfo { name, state: state.exists(), ..info }),
            Err(error) => tracing::warn!(%error, %name, "skipping an unreadable snapshot"),
        }
    }
    Ok(infos)
}

/// Replaces a JSON file.
pub(super) fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    Ok(skipstream::unstable::replace(path, |file| {
        let written = serde_json::to_writer(&mut *file, value).map_err(io::Error::from);
        let written = written.and_then(|()| file.write_all(b"\n"));
        written.map_err(|source| skipstream::Error::Io { path: path.to_owned(), source })
    })?)
}

fn read_info(path: &Path) -> io::Result<SnapshotInfo> {
    let Description { version, info } = serde_json::from_slice(&fs::read(path)?)?;
    if version != VERSION {
        let message = format!("it has version {version}; this program reads version {VERSION}");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    Ok(info)
}

#[cfg(test)]
mod tests;
