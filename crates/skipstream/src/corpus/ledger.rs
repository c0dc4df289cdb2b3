//! The ledger: which sources were learned, and how far.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize, Serializer};

use super::error::{SourceChange, TextError};
use super::layout::{Layout, RecordField, RecordFormat};
use super::position::Position;
use crate::bytes::{Compression, read_magic};
use crate::{Error, Result};

/// The number of bytes at either end of a file that its fingerprint covers.
const FINGERPRINT_BYTES: u64 = 64 << 10;

/// The sources that were learned, and how far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// One entry per file.
    pub sources: Vec<LearnedSource>,
    /// Words learned from pipes, which cannot be continued.
    #[serde(default)]
    pub piped_words: u64,
    /// Bytes of decompressed text learned from pipes.
    #[serde(default)]
    pub piped_bytes: u64,
    /// How far the last pipe was learned: what to skip if it is fed again.
    #[serde(default)]
    pub last_pipe: Position,
    /// Streams of messages, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub streams: BTreeMap<String, LearnedStream>,
}

/// A stream of messages that was learned up to a position.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnedStream {
    /// How far it was read. Only the reader of the stream knows what it means.
    pub position: String,
    /// The total number of words learned from it.
    pub words: u64,
}

/// A file that was learned, completely or in part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnedSource {
    /// The canonical path. Invalid UTF-8 in it is written as U+FFFD, and paths are compared in that form.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// The raw length of the file when it was last read; of a plain file that was not read to its end, the bytes that were.
    pub file_bytes: u64,
    /// How much of the text was learned.
    #[serde(flatten)]
    pub position: Position,
    /// Whether the file was read to its end.
    pub complete: bool,
    /// BLAKE3, in hexadecimal, over `file_bytes` and over the first and the last 64 KiB of those bytes.
    pub fingerprint: String,
    /// The total number of words learned from it.
    pub words: u64,
    /// The field that was learned, if the file was read as records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<RecordField>,
}

/// How far a file was read, for [`Ledger::record`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// The raw length of the file when it was opened. A later length would hide what was appended meanwhile.
    pub file_bytes: u64,
    /// How much of the text was learned.
    pub position: Position,
    /// Whether the file was read to its end.
    pub complete: bool,
    /// The total number of words learned from it, including earlier readings.
    pub words: u64,
}

impl Ledger {
    /// Where to continue in a file, or `None` if all of it was learned; an error if it is not the file that was learned.
    ///
    /// A pipe is always new.
    pub fn plan(&self, path: impl AsRef<Path>, layout: &Layout) -> Result<Option<Position>> {
        let path = path.as_ref();
        let metadata = fs::metadata(path).map_err(Error::io(path))?;
        let known = if metadata.is_file() { self.source(path)? } else { None };
        let Some(learned) = known else { return Ok(Some(Position::default())) };
        let (before, now) = (learned.file_bytes, metadata.len());
        if now < before {
            return Err(changed(path, SourceChange::Shorter { before, now }));
        }
        let mut file = File::open(path).map_err(Error::io(path))?;
        if fingerprint(&mut file, before).map_err(Error::io(path))? != learned.fingerprint {
            return Err(changed(path, SourceChange::Content { bytes: before }));
        }
        learned.check_layout(path, layout)?;
        let is_learned = learned.complete && now == before;
        Ok((!is_learned).then_some(learned.position))
    }

    /// The entry of a file, under any relative path or symlink.
    pub fn source(&self, path: impl AsRef<Path>) -> Result<Option<&LearnedSource>> {
        Ok(self.source_at(&canonical(path.as_ref())?))
    }

    /// The entry of a canonical path, whether the file exists or not.
    pub(super) fn source_at(&self, canonical: &Path) -> Option<&LearnedSource> {
        self.sources.iter().find(|learned| same(&learned.path, canonical))
    }

    /// Records how far a file was read, in place of its earlier entry.
    pub fn record(&mut self, path: impl AsRef<Path>, reading: Reading, layout: &Layout) -> Result<()> {
        let path = path.as_ref();
        let metadata = fs::metadata(path).map_err(Error::io(path))?;
        if !metadata.is_file() {
            return Err(Error::text(path, TextError::PipeAgain));
        }
        if metadata.len() < reading.file_bytes {
            let (before, now) = (reading.file_bytes, metadata.len());
            return Err(changed(path, SourceChange::Shorter { before, now }));
        }
        let mut file = File::open(path).map_err(Error::io(path))?;
        let file_bytes = fixed_bytes(&mut file, &reading, layout).map_err(Error::io(path))?;
        let reading = Reading { file_bytes, ..reading };
        self.record_open(&canonical(path)?, &mut file, reading, layout).map_err(Error::io(path))
    }

    /// Records how far an open file was read, even if its canonical path leads to another one now.
    pub(super) fn record_open(
        &mut self,
        canonical: &Path,
        file: &mut File,
        reading: Reading,
        layout: &Layout,
    ) -> io::Result<()> {
        let learned = LearnedSource {
            path: canonical.to_owned(),
            file_bytes: reading.file_bytes,
            position: reading.position,
            complete: reading.complete,
            fingerprint: fingerprint(file, reading.file_bytes)?,
            words: reading.words,
            records: layout.field().cloned(),
        };
        match self.sources.iter_mut().find(|known| same(&known.path, canonical)) {
            Some(known) => *known = learned,
            None => self.sources.push(learned),
        }
        Ok(())
    }

    /// Removes the entry of a canonical path: the next file there is new.
    pub(super) fn forget(&mut self, canonical: &Path) {
        self.sources.retain(|learned| !same(&learned.path, canonical));
    }

    /// Counts text that was learned from a pipe since the last call, and records how far into that pipe it reached.
    pub fn record_piped(&mut self, words: u64, bytes: u64, position: Position) {
        self.piped_words += words;
        self.piped_bytes += bytes;
        self.last_pipe = position;
    }

    /// Records how far a stream was read, and counts the words that were learned from it since the last call.
    pub fn record_stream(&mut self, name: &str, position: String, words: u64) {
        let stream = self.streams.entry(name.to_owned()).or_default();
        stream.position = position;
        stream.words += words;
    }
}

impl LearnedSource {
    /// Rejects another layout than the one the file was started with: its positions would mean something else.
    pub(super) fn check_layout(&self, path: &Path, layout: &Layout) -> Result<()> {
        let (before, now) = (self.records.as_ref(), layout.field());
        if before == now {
            return Ok(());
        }
        let named = |field: Option<&RecordField>| field.map_or("text".to_owned(), ToString::to_string);
        Err(changed(path, SourceChange::Layout { before: named(before), now: named(now) }))
    }
}

/// The number of bytes of a file that must stay the same. What was not read yet may change, for instance because an invalid
/// record is repaired; but if the position does not count the file's own bytes, all of them must stay.
fn fixed_bytes(file: &mut File, reading: &Reading, layout: &Layout) -> io::Result<u64> {
    let by_rows = layout.field().is_some_and(|field| field.format == RecordFormat::Parquet);
    let is_plain = Compression::of(&read_magic(file)?) == Compression::None;
    if reading.complete || reading.position.words > 0 || by_rows || !is_plain {
        return Ok(reading.file_bytes);
    }
    Ok(reading.position.offset)
}

/// The fingerprint of the first `length` bytes of a file.
pub(super) fn fingerprint(file: &mut File, length: u64) -> io::Result<String> {
    let edge = length.min(FINGERPRINT_BYTES);
    let mut hasher = blake3::Hasher::new();
    hasher.update(&length.to_le_bytes());
    for start in [0, length - edge] {
        file.seek(SeekFrom::Start(start))?;
        hasher.update_reader((&mut *file).take(edge))?;
    }
    Ok(hasher.finalize().to_hex().to_string())
}

fn canonical(path: &Path) -> Result<PathBuf> {
    path.canonicalize().map_err(Error::io(path))
}

/// Whether two paths are the same in their serialized form, which may have lost invalid UTF-8.
fn same(one: &Path, other: &Path) -> bool {
    one.to_string_lossy() == other.to_string_lossy()
}

fn lossy<S: Serializer>(path: &Path, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

fn changed(path: &Path, change: SourceChange) -> Error {
    Error::SourceChanged { path: path.to_owned(), change }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    /// A folder with a file of `text` in it, and a ledger that knows the file.
    fn learned(text: &str, complete: bool) -> (TempDir, PathBuf, Ledger) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("news.txt");
        fs::write(&path, text).unwrap();
        let mut ledger = Ledger::default();
        let reading =
            Reading { file_bytes: text.len() as u64, position: Position::at(4), complete, words: 1 };
        ledger.record(&path, reading, &Layout::Text).unwrap();
        (folder, path, ledger)
    }

    #[test]
    fn an_unknown_file_is_new() {
        let (_folder, path, _) = learned("one two", true);
        assert_eq!(Ledger::default().plan(path, &Layout::Text).unwrap(), Some(Position::default()));
    }

    #[test]
    fn a_complete_file_is_learned() {
        let (_folder, path, ledger) = learned("one two", true);
        assert_eq!(ledger.plan(path, &Layout::Text).unwrap(), None);
    }

    #[test]
    fn what_was_not_read_of_an_interrupted_file_may_change() {
        let (_folder, path, ledger) = learned("one two", false);
        fs::write(&path, "one 2 3").unwrap();
        let plan = Some(Position::at(4));
        assert_eq!(ledger.plan(&path, &Layout::Text).unwrap(), plan);
        fs::write(&path, "1ne two").unwrap();
        assert!(ledger.plan(&path, &Layout::Text).is_err());
    }

    #[test]
    fn an_interrupted_file_is_continued() {
        let (_folder, path, ledger) = learned("one two", false);
        assert_eq!(ledger.plan(path, &Layout::Text).unwrap(), Some(Position::at(4)));
    }

    #[test]
    fn a_grown_file_is_continued() {
        let (_folder, path, ledger) = learned("one two", true);
        fs::write(&path, "one two three").unwrap();
        assert_eq!(ledger.plan(path, &Layout::Text).unwrap(), Some(Position::at(4)));
    }

    #[test]
    fn a_file_that_became_shorter_is_refused() {
        let (_folder, path, ledger) = learned("one two", true);
        fs::write(&path, "one").unwrap();
        let message = ledger.plan(&path, &Layout::Text).unwrap_err().to_string();
        assert!(message.contains("news.txt: this file was learned before"), "{message}");
        assert!(message.contains("it has 3 bytes and had 7"), "{message}");
    }

    #[test]
    fn a_file_whose_old_part_changed_is_refused() {
        let (_folder, path, ledger) = learned("one two", true);
        for text in ["one TWO", "One two three"] {
            fs::write(&path, text).unwrap();
            let error = ledger.plan(&path, &Layout::Text).unwrap_err();
            assert!(matches!(error, Error::SourceChanged { .. }));
            assert!(error.to_string().contains("its first 7 bytes are different"), "{error}");
        }
    }

    #[test]
    fn a_change_at_either_end_of_a_large_file_is_seen() {
        let text = "word ".repeat(40_000);
        let (_folder, path, ledger) = learned(&text, true);
        for place in [0, text.len() - 1] {
            let mut changed = text.clone().into_bytes();
            changed[place] = b'!';
            fs::write(&path, changed).unwrap();
            assert!(matches!(ledger.plan(&path, &Layout::Text), Err(Error::SourceChanged { .. })));
        }
    }

    #[test]
    fn a_missing_file_is_named() {
        let message = Ledger::default().plan("/no/such/file", &Layout::Text).unwrap_err().to_string();
        assert!(message.starts_with("/no/such/file: "), "{message}");
    }

    #[test]
    fn recording_again_replaces_the_entry() {
        let (_folder, path, mut ledger) = learned("one two", false);
        let reading = Reading { file_bytes: 7, position: Position::at(7), complete: true, words: 2 };
        ledger.record(&path, reading, &Layout::Text).unwrap();
        assert_eq!(ledger.sources.len(), 1);
        assert_eq!(ledger.source(&path).unwrap().unwrap().words, 2);
        assert_eq!(ledger.plan(path, &Layout::Text).unwrap(), None);
    }

    #[test]
    fn a_file_that_shrank_while_it_was_read_is_not_recorded() {
        let (_folder, path, mut ledger) = learned("one two", false);
        let reading = Reading { file_bytes: 8, position: Position::at(7), complete: true, words: 2 };
        let error = ledger.record(&path, reading, &Layout::Text).unwrap_err();
        assert!(matches!(error, Error::SourceChanged { .. }));
    }

    #[test]
    fn dots_in_a_path_lead_to_the_same_entry() {
        let (folder, _, ledger) = learned("one two", true);
        let roundabout = folder.path().join("..").join(folder.path()).join("./news.txt");
        assert_eq!(ledger.plan(roundabout, &Layout::Text).unwrap(), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_symbolic_link_leads_to_the_same_entry() {
        let (folder, path, ledger) = learned("one two", true);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(path, &link).unwrap();
        assert_eq!(ledger.plan(link, &Layout::Text).unwrap(), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_path_that_is_not_utf8_is_known_again_after_saving() {
        use std::os::unix::ffi::OsStrExt;
        let (folder, path, mut ledger) = learned("one two", true);
        let odd = folder.path().join(std::ffi::OsStr::from_bytes(b"\xFFnews"));
        fs::copy(path, &odd).unwrap();
        let reading = Reading { file_bytes: 7, position: Position::at(7), complete: true, words: 2 };
        ledger.record(&odd, reading, &Layout::Text).unwrap();
        let json = serde_json::to_string(&ledger).unwrap();
        let loaded: Ledger = serde_json::from_str(&json).unwrap();
        assert_eq!(loaded.plan(odd, &Layout::Text).unwrap(), None);
    }

    #[test]
    fn piped_text_is_counted() {
        let mut ledger = Ledger::default();
        ledger.record_piped(2, 8, Position::at(8));
        ledger.record_piped(3, 20, Position::at(20));
        assert_eq!((ledger.piped_words, ledger.piped_bytes), (5, 28));
        assert_eq!(ledger.last_pipe, Position::at(20));
    }

    #[test]
    fn a_stream_has_one_position_and_counts_its_words() {
        let mut ledger = Ledger::default();
        assert!(!serde_json::to_string(&ledger).unwrap().contains("streams"), "as before if there are none");
        ledger.record_stream("nats:A", "1".to_owned(), 2);
        ledger.record_stream("kafka:B", "{}".to_owned(), 7);
        ledger.record_stream("nats:A", "5".to_owned(), 3);
        let json = serde_json::to_string(&ledger).unwrap();
        let loaded: Ledger = serde_json::from_str(&json).unwrap();
        assert_eq!(loaded.streams["nats:A"], LearnedStream { position: "5".to_owned(), words: 5 });
        assert_eq!(loaded.streams["kafka:B"].words, 7);
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_always_new_and_never_recorded() {
        let mut ledger = Ledger::default();
        assert_eq!(ledger.plan("/dev/null", &Layout::Text).unwrap(), Some(Position::default()));
        let reading = Reading { file_bytes: 0, position: Position::default(), complete: true, words: 0 };
        assert!(ledger.record("/dev/null", reading, &Layout::Text).is_err());
    }
}
