//! One file that is followed, across its rotation.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::growing::Growing;
use super::{Happening, Note};
use crate::bytes::{Compression, read_magic};
use crate::corpus::ledger::{LearnedSource, Ledger, Reading};
use crate::corpus::open::{TextStream, plain_at};
use crate::corpus::{Layout, Position, Read, Sentence, Source, TextOptions, TextReport};
use crate::{Error, Result};

/// A path that is followed, whichever file it leads to.
pub(super) struct FollowedFile {
    path: PathBuf,
    /// The path by which the ledger knows it.
    canonical: PathBuf,
    options: TextOptions,
    layout: Layout,
    current: Option<Open>,
    /// Files that were read to their end, and that the ledger was not told of.
    closed: Vec<Closed>,
    /// What was met in files that are closed.
    closed_report: TextReport,
}

/// A file that is being read.
struct Open {
    handle: Growing,
    identity: Identity,
    stream: TextStream,
    /// Whether another file has taken its place, so that it is left at its end.
    is_old: bool,
    /// How far it was read.
    position: Position,
    words: u64,
    /// How far the ledger knows it, if it knows this file.
    settled: Option<Position>,
}

/// A file that was read to its end.
struct Closed {
    /// The path by which the ledger knows it.
    canonical: PathBuf,
    /// The file and how far it was read, if it is still there under that path, as one to which a link has led.
    kept: Option<(Growing, Reading)>,
}

/// What tells one file from another of the same path. While a file is open, no other gets its number.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Identity([u64; 2]);

impl FollowedFile {
    /// Begins where the ledger says that the file was left, or at its start.
    pub fn new(
        path: PathBuf,
        ledger: &Ledger,
        again: bool,
        options: &TextOptions,
        layout: &Layout,
        notes: &mut Vec<Note>,
    ) -> Result<FollowedFile> {
        let canonical = canonical(&path)?;
        let mut file = FollowedFile {
            path,
            canonical,
            options: options.clone(),
            layout: layout.clone(),
            current: None,
            closed: Vec::new(),
            closed_report: TextReport::default(),
        };
        let learned = ledger.source_at(&file.canonical).filter(|_| !again);
        let metadata = if_there(fs::metadata(&file.path)).map_err(Error::io(&file.path))?;
        if metadata.is_some_and(|metadata| !metadata.is_file()) {
            return Err(file.not_followed("this is not a file; `-` follows what is piped in"));
        }
        let Some(mut opened) = if_there(File::open(&file.path)).map_err(Error::io(&file.path))? else {
            file.note(notes, Happening::Awaited);
            file.finish_renamed(learned, notes)?;
            return Ok(file);
        };
        let Some(learned) = learned else {
            // What is in an empty file is not known before it is written.
            if opened.metadata().map_err(Error::io(&file.path))?.len() > 0 {
                file.current = Some(file.opened(opened, Position::default(), 0)?);
            }
            return Ok(file);
        };
        if learned.is_in(&mut opened).map_err(Error::io(&file.path))? {
            learned.check_layout(&file.path, layout)?;
            file.current = Some(file.opened(opened, learned.position, learned.words)?);
        } else {
            file.note(notes, Happening::ReplacedEarlier);
            file.finish_renamed(Some(learned), notes)?;
        }
        Ok(file)
    }

    /// Reads the next sentence, if there is one now.
    pub fn read(&mut self, sentence: &mut Sentence, notes: &mut Vec<Note>) -> Result<Read> {
        loop {
            if self.current.is_none() {
                self.open_if_there(notes)?;
            }
            let Some(current) = &mut self.current else { return Ok(Read::Pending) };
            let read = current.stream.read(sentence);
            // Lines are whole here, so that those without words are passed for good too.
            let is_drained = matches!(read, Ok(Read::End));
            current.position = if is_drained { current.stream.end() } else { current.stream.position() };
            if read?.is_sentence() {
                current.words += sentence.len() as u64;
                return Ok(Read::Sentence);
            }
            if current.is_old {
                self.close();
            } else if current.handle.is_cut() {
                self.note(notes, Happening::Cut);
                self.close();
            } else if self.is_replaced()? {
                self.note(notes, Happening::Replaced);
                self.leave_at_end();
            } else {
                return Ok(Read::Pending);
            }
        }
    }

    /// Writes down how far the file was read, whatever its path leads to now. Where one cannot be
    /// recorded, the others still are.
    pub fn settle(&mut self, ledger: &mut Ledger) -> Result<()> {
        let mut result = Ok(());
        for Closed { canonical, kept } in self.closed.drain(..) {
            match kept {
                Some((handle, reading)) => {
                    let recorded =
                        handle.with_file(|file| ledger.record_open(&canonical, file, reading, &self.layout));
                    result = result.and(recorded.map_err(Error::io(&canonical)));
                }
                None => ledger.forget(&canonical),
            }
        }
        let Some(current) = &mut self.current else { return result };
        let reading = current.reading();
        if current.settled == Some(reading.position) {
            return result;
        }
        let recorded =
            current.handle.with_file(|file| ledger.record_open(&self.canonical, file, reading, &self.layout));
        if recorded.is_ok() {
            current.settled = Some(reading.position);
        }
        result.and(recorded.map_err(Error::io(&self.path)))
    }

    /// Whether another path leads to the same place.
    pub fn is_same(&self, other: &FollowedFile) -> bool {
        self.canonical == other.canonical
    }

    pub fn report(&self) -> TextReport {
        let current = self.current.as_ref().map(|current| current.stream.report().clone());
        self.closed_report.clone() + current.unwrap_or_default()
    }

    /// The raw bytes that were read of the file that is open.
    pub fn bytes_read(&self) -> u64 {
        self.current.as_ref().map_or(0, |current| current.position.offset)
    }

    /// Whether the path leads to another file now, in which there is text. (While the new file is empty, its writer may
    /// still be writing to the old one.)
    fn is_replaced(&self) -> Result<bool> {
        let Some(current) = &self.current else { return Ok(false) };
        match fs::metadata(&self.path) {
            Ok(metadata) => Ok(metadata.len() > 0 && Identity::of(&metadata) != current.identity),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Error::io(&self.path)(error)),
        }
    }

    fn leave_at_end(&mut self) {
        if let Some(current) = &mut self.current {
            current.is_old = true;
            current.handle.finish();
        }
    }

    fn close(&mut self) {
        if let Some(current) = self.current.take() {
            self.closed_report += current.stream.report().clone();
            let there = fs::metadata(&self.canonical).map(|metadata| Identity::of(&metadata));
            let is_there = there.is_ok_and(|there| there == current.identity) && !current.handle.is_cut();
            let kept = is_there.then(|| (current.handle.clone(), current.reading()));
            self.closed.push(Closed { canonical: self.canonical.clone(), kept });
        }
    }

    fn open_if_there(&mut self, notes: &mut Vec<Note>) -> Result<()> {
        if !fs::metadata(&self.path).is_ok_and(|metadata| metadata.len() > 0) {
            return Ok(());
        }
        // It may be renamed just now.
        let Some(file) = if_there(File::open(&self.path)).map_err(Error::io(&self.path))? else {
            return Ok(());
        };
        self.canonical = canonical(&self.path)?;
        // What the ledger knows is of another file.
        self.current = Some(Open { settled: None, ..self.opened(file, Position::default(), 0)? });
        self.note(notes, Happening::Begun);
        Ok(())
    }

    /// Where the file that was learned has another name now, reads the rest of it first.
    ///
    /// `NAME.1` is the name that logrotate gives it.
    fn finish_renamed(&mut self, learned: Option<&LearnedSource>, notes: &mut Vec<Note>) -> Result<()> {
        let Some(learned) = learned else { return Ok(()) };
        let mut name = self.path.clone().into_os_string();
        name.push(".1");
        let renamed = PathBuf::from(name);
        let Ok(mut file) = File::open(&renamed) else { return Ok(()) };
        if !learned.is_in(&mut file).map_err(Error::io(&renamed))? {
            return Ok(());
        }
        learned.check_layout(&renamed, &self.layout)?;
        self.current = Some(self.opened(file, learned.position, learned.words)?);
        self.leave_at_end();
        self.note(notes, Happening::OldFound { renamed });
        Ok(())
    }

    fn opened(&self, mut file: File, position: Position, words: u64) -> Result<Open> {
        let metadata = file.metadata().map_err(Error::io(&self.path))?;
        let magic = read_magic(&mut file).map_err(Error::io(&self.path))?;
        if Compression::of(&magic) != Compression::None {
            return Err(self.not_followed(
                "it is compressed, and a compressed file cannot be followed; leave --follow out",
            ));
        }
        let handle = Growing::new(file, position.offset).map_err(Error::io(&self.path))?;
        let stream = plain_at(&self.path, handle.clone(), position, &self.options, &self.layout)?;
        let identity = Identity::of(&metadata);
        Ok(Open { handle, identity, stream, is_old: false, position, words, settled: Some(position) })
    }

    fn not_followed(&self, reason: &str) -> Error {
        Error::Unsupported(format!("{}: {reason}", self.path.display()))
    }

    fn note(&self, notes: &mut Vec<Note>, what: Happening) {
        notes.push(Note { file: self.path.clone(), what });
    }
}

impl Open {
    /// How far it was read. Bytes behind that are not learned: whether they stay the same is of no interest.
    fn reading(&self) -> Reading {
        let position = self.position;
        // Between the words of a line or a record, all of it must stay the same for the position to mean something.
        let complete = position.words == 0;
        let file_bytes = if complete { position.offset } else { self.stream.end().offset };
        Reading { file_bytes, position, complete, words: self.words }
    }
}

/// What was found; a file that is not there is none.
fn if_there<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

/// The canonical path of a file that need not be there, in a folder that must.
fn canonical(path: &Path) -> Result<PathBuf> {
    if path.is_dir() {
        return Err(Error::io(path)(io::ErrorKind::IsADirectory.into()));
    }
    if let Ok(canonical) = path.canonicalize() {
        return Ok(canonical);
    }
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let folder = folder.canonicalize().map_err(Error::io(path))?;
    Ok(path.file_name().map_or_else(|| folder.clone(), |name| folder.join(name)))
}

impl Identity {
    #[cfg(unix)]
    fn of(metadata: &Metadata) -> Identity {
        use std::os::unix::fs::MetadataExt;
        Identity([metadata.dev(), metadata.ino()])
    }

    /// Elsewhere a file that took another's place was made later.
    #[cfg(not(unix))]
    fn of(metadata: &Metadata) -> Identity {
        let made = metadata.created().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        Identity([made.map_or(0, |time| time.as_nanos() as u64), 0])
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn what_cannot_be_recorded_does_not_hold_back_the_others() {
        let folder = TempDir::new().unwrap();
        let (options, layout) = (TextOptions::default(), Layout::Text);
        let mut ledger = Ledger::default();
        let (broken, gone) = (folder.path().join("broken"), folder.path().join("gone"));
        fs::write(&gone, "one\n").unwrap();
        let reading = Reading { file_bytes: 4, position: Position::at(4), complete: true, words: 1 };
        ledger.record_open(&gone, &mut File::open(&gone).unwrap(), reading, &layout).unwrap();
        let mut file =
            FollowedFile::new(folder.path().join("a"), &ledger, false, &options, &layout, &mut Vec::new())
                .unwrap();
        // What is open only for writing cannot be read.
        let unreadable = Growing::new(File::create(&broken).unwrap(), 0).unwrap();
        file.closed = vec![
            Closed { canonical: broken.clone(), kept: Some((unreadable, reading)) },
            Closed { canonical: gone.clone(), kept: None },
        ];
        let error = file.settle(&mut ledger).unwrap_err().to_string();
        assert!(error.contains("broken"), "{error}");
        assert!(ledger.source_at(&gone).is_none());
    }

    #[test]
    fn a_file_that_comes_and_goes_is_waited_for() {
        let folder = TempDir::new().unwrap();
        let (path, options, layout) = (folder.path().join("a"), TextOptions::default(), Layout::Text);
        let writer = std::thread::spawn({
            let path = path.clone();
            move || {
                for _ in 0..2_000 {
                    fs::write(&path, "one\n").unwrap();
                    fs::remove_file(&path).unwrap();
                }
            }
        });
        while !writer.is_finished() {
            let mut notes = Vec::new();
            let mut file =
                FollowedFile::new(path.clone(), &Ledger::default(), false, &options, &layout, &mut notes)
                    .unwrap();
            file.read(&mut Sentence::default(), &mut notes).unwrap();
        }
        writer.join().unwrap();
    }
}
