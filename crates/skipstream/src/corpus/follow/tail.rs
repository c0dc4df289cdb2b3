//! Follows one path across log rotation, with positions that outlive the process.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::FollowEvent;
use super::growing::Growing;
use crate::bytes::{Compression, read_magic};
use crate::corpus::error::TextError;
use crate::corpus::ledger::fingerprint;
use crate::{Error, Result};

/// A position in a followed file that can be stored. The file is recognized by its content, whatever its name is then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePosition {
    /// The number of bytes read.
    pub offset: u64,
    /// The fingerprint of these bytes.
    pub(super) fingerprint: String,
}

impl FilePosition {
    /// Whether a file starts with the bytes that were read.
    pub(super) fn is_in(&self, file: &mut File) -> io::Result<bool> {
        Ok(file.metadata()?.len() >= self.offset && fingerprint(file, self.offset)? == self.fingerprint)
    }
}

/// Follows one path, like `tail -F`, and gives the bytes of whole lines. Of a file that is not text, it gives nothing.
///
/// ```
/// use skipstream::corpus::{Tail, TailEnd};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("app.log");
/// std::fs::write(&path, "one\ntw")?;
/// let mut tail = Tail::new(&path, None)?;
/// let mut buffer = [0; 1024];
/// assert_eq!(tail.read(&mut buffer)?, 4);
/// assert_eq!(tail.read(&mut buffer)?, 0, "the second line has no end");
/// assert_eq!(tail.at_end()?, TailEnd::Pending);
/// let position = tail.position(0)?;
///
/// std::fs::write(&path, "one\ntwo\n")?;
/// let mut tail = Tail::new(&path, Some(position))?;
/// assert_eq!(tail.read(&mut buffer)?, 4);
/// assert_eq!(&buffer[..4], b"two\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Tail {
    path: PathBuf,
    /// The file that was read before, until it is found.
    before: Option<FilePosition>,
    /// Where to go on in that file.
    start: u64,
    current: Option<Open>,
    /// Whether a file is text whatever its bytes say.
    is_forced: bool,
    /// Whether the file was missing or empty at least once.
    has_waited: bool,
    events: Vec<FollowEvent>,
}

#[derive(Debug)]
struct Open {
    file: Growing,
    identity: Identity,
    /// Whether another file has taken its place, so that it is closed at its end.
    is_replaced: bool,
    /// Whether it was reported that it is not text.
    is_refused: bool,
}

/// What comes after the bytes that [`Tail::read`] gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TailEnd {
    /// Nothing now.
    Pending,
    /// The rest of the same file: another has taken its place, so a last line without an end is text too.
    Rest,
    /// The file is closed. What is read next comes from the start of another one, or of the same one if it was truncated.
    Closed {
        /// Whether it was truncated, so that a line without an end is lost.
        truncated: bool,
    },
}

impl Tail {
    /// Follows a path, from the start or from the position of an earlier [`Tail`].
    pub fn new(path: impl AsRef<Path>, position: Option<FilePosition>) -> Result<Tail> {
        let start = position.as_ref().map_or(0, |position| position.offset);
        Tail::starting_at(path.as_ref(), position, start, false)
    }

    /// Goes on at an offset before the end of what is known of the file.
    pub(super) fn starting_at(
        path: &Path,
        before: Option<FilePosition>,
        start: u64,
        is_forced: bool,
    ) -> Result<Tail> {
        if let Ok(metadata) = fs::metadata(path) {
            check(path, &metadata)?;
        }
        let path = path.to_owned();
        Ok(Tail { path, before, start, current: None, is_forced, has_waited: false, events: Vec::new() })
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What happened to the file since the last call.
    pub fn take_events(&mut self) -> Vec<FollowEvent> {
        std::mem::take(&mut self.events)
    }

    /// Reads whole lines, or a part of a line that is longer than the buffer. 0 where there is nothing now:
    /// [`at_end`](Self::at_end) says what comes next.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.open()?;
        let Some(current) = &mut self.current else { return Ok(0) };
        io::Read::read(&mut current.file, buffer).map_err(Error::io(&self.path))
    }

    /// Looks for another file once all of this one was read.
    pub fn at_end(&mut self) -> Result<TailEnd> {
        let Some(current) = &mut self.current else { return Ok(TailEnd::Pending) };
        if !current.file.is_text() && !std::mem::replace(&mut current.is_refused, true) {
            self.events.push(FollowEvent::NotText);
        }
        let truncated = current.file.is_truncated();
        if truncated {
            self.events.push(FollowEvent::Truncated);
        }
        if truncated || current.is_replaced {
            self.current = None;
            return Ok(TailEnd::Closed { truncated });
        }
        // While the new file is empty, its writer may still be writing to the old one.
        let there = if_exists(fs::metadata(&self.path)).map_err(Error::io(&self.path))?;
        if there.is_some_and(|there| there.len() > 0 && Identity::of(&there) != current.identity) {
            self.events.push(FollowEvent::Replaced);
            current.is_replaced = true;
            current.file.finish();
            return Ok(TailEnd::Rest);
        }
        Ok(TailEnd::Pending)
    }

    /// The position after everything that was read of the open file, except the last `held_back` bytes. It can be stored.
    pub fn position(&self, held_back: usize) -> Result<FilePosition> {
        let Some(current) = &self.current else {
            return Err(Error::io(&self.path)(io::ErrorKind::NotFound.into()));
        };
        let offset = current.file.offset() - held_back as u64;
        let fingerprint = current.file.with_file(|file| fingerprint(file, offset));
        Ok(FilePosition { offset, fingerprint: fingerprint.map_err(Error::io(&self.path))? })
    }

    /// Opens the file that was read before, wherever it is now, or else the one at the path. A file is opened when there
    /// is text in it. Gives the file that was opened just now, with the name it has and the offset at which to read.
    pub(super) fn open(&mut self) -> Result<Option<Opened>> {
        if self.current.is_some() {
            return Ok(None);
        }
        let is_first = !std::mem::replace(&mut self.has_waited, true);
        let mut at_path = open(&self.path)?;
        if at_path.is_none() && is_first {
            self.events.push(FollowEvent::Awaited);
        }
        if let Some(before) = &self.before {
            let is_at_path = match &mut at_path {
                Some(file) => before.is_in(file).map_err(Error::io(&self.path))?,
                None => false,
            };
            if is_at_path && let Some(file) = at_path.take() {
                return self.opened(self.path.clone(), file).map(Some);
            }
            if let Some((renamed, file)) = self.renamed(before)? {
                self.events.push(FollowEvent::Renamed { renamed: renamed.clone() });
                return self.opened(renamed, file).map(Some);
            }
        }
        let Some(file) = at_path else { return Ok(None) };
        if file.metadata().map_err(Error::io(&self.path))?.len() == 0 {
            return Ok(None);
        }
        let is_other = self.before.take().is_some();
        let opened = self.opened(self.path.clone(), file)?;
        if is_other {
            self.events.push(FollowEvent::ReplacedEarlier);
        }
        if is_other || !is_first {
            self.events.push(FollowEvent::Begun);
        }
        Ok(Some(opened))
    }

    fn opened(&mut self, name: PathBuf, mut file: File) -> Result<Opened> {
        let metadata = file.metadata().map_err(Error::io(&name))?;
        let magic = read_magic(&mut file).map_err(Error::io(&name))?;
        if Compression::of(&magic) != Compression::None {
            return Err(Error::text(&name, TextError::CannotFollow { what: "a compressed file".to_owned() }));
        }
        let is_known = self.before.take().is_some();
        let start = if is_known { self.start } else { 0 };
        let file = Growing::new(file, start, self.is_forced).map_err(Error::io(&name))?;
        let identity = Identity::of(&metadata);
        self.current = Some(Open { file: file.clone(), identity, is_replaced: false, is_refused: false });
        Ok(Opened { name, file, identity, is_known })
    }

    /// The file that was read before, under the name that log rotation gave it: `NAME.1`, `NAME-20261116`. The newest, if
    /// there are several that start with the same bytes.
    fn renamed(&self, before: &FilePosition) -> Result<Option<(PathBuf, File)>> {
        let Some(name) = self.path.file_name() else { return Ok(None) };
        let folder = self.path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        let mut newest: Option<(SystemTime, PathBuf, File)> = None;
        for entry in fs::read_dir(folder).map_err(Error::io(folder))?.flatten() {
            let entry_name = entry.file_name();
            let suffix = entry_name.as_encoded_bytes().strip_prefix(name.as_encoded_bytes());
            if !suffix.is_some_and(|suffix| matches!(suffix.first(), Some(b'.' | b'-' | b'_'))) {
                continue;
            }
            // A file that cannot be read, or is renamed just now, is not the one.
            let renamed = self.path.with_file_name(entry_name);
            let Ok(Some(mut file)) = open(&renamed) else { continue };
            let Ok(modified) = file.metadata().and_then(|metadata| metadata.modified()) else { continue };
            if before.is_in(&mut file).unwrap_or(false)
                && newest.as_ref().is_none_or(|(time, ..)| *time < modified)
            {
                newest = Some((modified, renamed, file));
            }
        }
        Ok(newest.map(|(_, renamed, file)| (renamed, file)))
    }
}

pub(super) struct Opened {
    /// The name it has now.
    pub name: PathBuf,
    pub file: Growing,
    pub identity: Identity,
    /// Whether it is the one that was read before.
    pub is_known: bool,
}

/// What distinguishes one file from another at the same path. While a file is open, no other gets its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity([u64; 2]);

impl Identity {
    #[cfg(unix)]
    pub fn of(metadata: &Metadata) -> Identity {
        use std::os::unix::fs::MetadataExt;
        Identity([metadata.dev(), metadata.ino()])
    }

    /// Elsewhere a file that took another's place was created later.
    #[cfg(not(unix))]
    pub fn of(metadata: &Metadata) -> Identity {
        let created =
            metadata.created().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        Identity([created.map_or(0, |time| time.as_nanos() as u64), 0])
    }
}

/// Opens a file if it exists. A pipe is refused before it is opened, because opening would wait for its writer.
fn open(path: &Path) -> Result<Option<File>> {
    let Some(metadata) = if_exists(fs::metadata(path)).map_err(Error::io(path))? else { return Ok(None) };
    check(path, &metadata)?;
    if_exists(File::open(path)).map_err(Error::io(path))
}

fn check(path: &Path, metadata: &Metadata) -> Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    let what = if metadata.is_dir() { "a directory" } else { "a named pipe or a device" };
    Err(Error::text(path, TextError::CannotFollow { what: what.to_owned() }))
}

/// `None` for a file that does not exist.
fn if_exists<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_file_that_comes_and_goes_is_waited_for() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a");
        let writer = std::thread::spawn({
            let path = path.clone();
            move || {
                for _ in 0..2_000 {
                    fs::write(&path, "one\n").unwrap();
                    fs::remove_file(&path).unwrap();
                }
                fs::write(&path, "one\n").unwrap();
            }
        });
        let mut text = Vec::new();
        let mut buffer = [0; 64];
        loop {
            let is_last = writer.is_finished();
            let mut tail = Tail::new(&path, None).unwrap();
            let length = tail.read(&mut buffer).unwrap();
            text.extend_from_slice(&buffer[..length]);
            if is_last {
                break;
            }
        }
        writer.join().unwrap();
        assert!(text.ends_with(b"one\n"), "the last file stays");
        assert!(text.chunks(4).all(|line| line == b"one\n"), "lines are whole");
    }

    #[test]
    fn a_file_is_found_again_under_the_names_that_rotation_gives() {
        for renamed in ["a.1", "a-20261116", "a_old"] {
            let folder = TempDir::new().unwrap();
            let path = folder.path().join("a");
            fs::write(&path, "one\ntwo\n").unwrap();
            let mut tail = Tail::new(&path, None).unwrap();
            assert_eq!(tail.read(&mut [0; 64]).unwrap(), 8);
            let position = tail.position(4).unwrap();
            fs::rename(&path, folder.path().join(renamed)).unwrap();
            fs::write(folder.path().join("ab"), "one\nother\n").unwrap();
            fs::write(folder.path().join("a.gz"), "another\n").unwrap();
            let mut tail = Tail::new(&path, Some(position)).unwrap();
            assert_eq!(tail.read(&mut [0; 64]).unwrap(), 4);
            let renamed = folder.path().join(renamed);
            assert_eq!(tail.take_events(), [FollowEvent::Awaited, FollowEvent::Renamed { renamed }]);
        }
    }
}
