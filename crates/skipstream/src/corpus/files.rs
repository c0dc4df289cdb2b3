//! Several files as one stream, each from the position at which it was last learned.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Cursor, Read as _};
use std::path::{Path, PathBuf};

use super::binary::{self, read_sample};
use super::error::TextError;
use super::layout::{Layout, RecordFormat};
use super::ledger::{Ledger, Reading};
use super::open::{TextStream, from_reader_at, open_at, plain_at};
use super::options::TextOptions;
use super::passage::Passage;
use super::pipe::InterruptiblePipe;
use super::position::Position;
use super::progress::FilesProgress;
use super::report::TextReport;
use super::sentence::{Read, Sentence, Source};
use crate::bytes::Compression;
use crate::{Error, Result};

/// Something to read: a file by its path, or a pipe.
pub enum Input {
    /// A file. A named pipe or a device is read like a pipe. A file that is not text is an error.
    File(PathBuf),
    /// A file that a folder or a pattern contains. If it is not text, it is [left out](Files::left_out).
    Found(PathBuf),
    /// A file that is read as text, whatever it holds.
    Forced(PathBuf),
    /// A pipe. Its text is always new, except for the bytes to skip.
    Pipe {
        /// Its name in messages (`<stdin>`).
        name: PathBuf,
        /// Its bytes, compressed or not.
        reader: Box<dyn io::Read + Send>,
        /// The text to skip.
        skip: Position,
        /// Whether it is read as text, whatever it holds.
        force_text: bool,
    },
    /// Text from within the program, read like a pipe, but never decompressed.
    Text {
        /// Its name in messages.
        name: PathBuf,
        /// Its bytes.
        reader: Box<dyn io::Read + Send>,
    },
}

impl Input {
    /// The same, but a named pipe or a device is an [`InterruptiblePipe`] with this check.
    pub fn interruptible(self, check: impl FnMut() -> io::Result<()> + Send + 'static) -> Input {
        let (path, force_text) = match &self {
            Input::File(path) | Input::Found(path) => (path.clone(), false),
            Input::Forced(path) => (path.clone(), true),
            Input::Pipe { .. } | Input::Text { .. } => return self,
        };
        if !fs::metadata(&path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
            return self;
        }
        let name = path.clone();
        let reader = Box::new(InterruptiblePipe::new(move || File::open(path), check));
        Input::Pipe { name, reader, skip: Position::default(), force_text }
    }
}

/// Reads files one after the other as one stream, each from the position in the [`Ledger`].
///
/// A trainer's batches therefore span files. A file is opened when its turn comes. After training,
/// [`Files::record_positions`] records what was read.
///
/// ```
/// use skipstream::corpus::{Files, Layout, Ledger, Sentence, Source, TextOptions};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("news.txt");
/// # std::fs::write(&path, "one two\nthree\n")?;
/// let mut ledger = Ledger::default();
/// let mut files = Files::plan([&path], &ledger, false, &TextOptions::default(), &Layout::Text)?;
/// while files.read(&mut Sentence::default())?.is_sentence() {}
/// files.record_positions(&mut ledger)?;
///
/// let files = Files::plan([&path], &ledger, false, &TextOptions::default(), &Layout::Text)?;
/// assert!(files.is_empty());
/// assert_eq!(files.skipped(), [path]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Files {
    options: TextOptions,
    layout: Layout,
    /// Everything to read, in order.
    parts: Vec<Part>,
    turn: usize,
    stream: Option<TextStream>,
    skipped: Vec<PathBuf>,
    left_out: Vec<(PathBuf, TextError)>,
    /// What was found in the parts that are closed.
    closed_report: TextReport,
    closed_bytes: u64,
    progress: FilesProgress,
}

struct Part {
    name: PathBuf,
    /// The reader of a pipe, until it is opened.
    pipe: Option<Pipe>,
    /// The raw length of a file; `None` for a pipe.
    file_bytes: Option<u64>,
    reached: Reached,
    complete: bool,
    /// What the ledger has of it.
    recorded: Reached,
    is_recorded: bool,
}

enum Pipe {
    /// Bytes that may be compressed, and may not be text.
    Bytes(Box<dyn io::Read + Send>),
    /// Bytes that may be compressed.
    Forced(Box<dyn io::Read + Send>),
    Text(Box<dyn io::Read + Send>),
}

/// What to do with a file that is not text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NotText {
    Refuse,
    LeaveOut,
    Read,
}

impl NotText {
    /// Refuses a file that is not text. One that was learned before was checked then, and Parquet is not text.
    fn check(self, part: &Part, layout: &Layout) -> Result<()> {
        let is_parquet = layout.field().is_some_and(|field| field.format == RecordFormat::Parquet);
        if self == NotText::Read || is_parquet || part.reached.position != Position::default() {
            return Ok(());
        }
        binary::check_file(&part.name)
    }
}

#[derive(Clone, Copy, Default)]
struct Reached {
    position: Position,
    /// The number of words up to the position.
    words: u64,
}

impl Files {
    /// Decides what to read of each input. Files that were learned are skipped, files that grew or were interrupted continue
    /// at their position, and a file that was learned and then changed is an error. All files are checked before any is
    /// read. With `again`, every file is new text from its start.
    ///
    /// A file that is named twice is read once.
    pub fn plan(
        inputs: impl IntoIterator<Item = impl Into<Input>>,
        ledger: &Ledger,
        again: bool,
        options: &TextOptions,
        layout: &Layout,
    ) -> Result<Files> {
        options.check()?;
        let (mut parts, mut skipped, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        let mut named = HashSet::new();
        for input in inputs {
            let (path, other) = match input.into() {
                Input::Pipe { name, reader, skip, force_text } => {
                    let pipe = if force_text { Pipe::Forced(reader) } else { Pipe::Bytes(reader) };
                    parts.push(Part::pipe(name, Some(pipe), skip));
                    continue;
                }
                Input::Text { name, reader } => {
                    parts.push(Part::pipe(name, Some(Pipe::Text(reader)), Position::default()));
                    continue;
                }
                Input::File(path) => (path, NotText::Refuse),
                Input::Found(path) => (path, NotText::LeaveOut),
                Input::Forced(path) => (path, NotText::Read),
            };
            let metadata = match fs::metadata(&path) {
                Err(error) if other == NotText::LeaveOut && error.kind() == io::ErrorKind::NotFound => {
                    left_out.push((path, TextError::Missing));
                    continue;
                }
                metadata => metadata.map_err(Error::io(&path))?,
            };
            if metadata.is_dir() {
                return Err(Error::io(&path)(io::ErrorKind::IsADirectory.into()));
            }
            if !metadata.is_file() {
                parts.push(Part::pipe(path, None, Position::default()));
                continue;
            }
            // Found out now rather than hours later, when its turn comes.
            File::open(&path).map_err(Error::io(&path))?;
            if !named.insert(path.canonicalize().map_err(Error::io(&path))?) {
                continue;
            }
            let Some(part) = Part::file(&path, metadata.len(), ledger, again, layout)? else {
                skipped.push(path);
                continue;
            };
            match other.check(&part, layout) {
                Err(Error::Text { cause, .. }) if other == NotText::LeaveOut && cause.is_not_text() => {
                    left_out.push((path, cause));
                }
                checked => {
                    checked?;
                    parts.push(part);
                }
            }
        }
        let lengths = parts.iter().map(|part| part.file_bytes);
        let progress = FilesProgress::new(parts.len(), lengths.sum());
        Ok(Files {
            options: options.clone(),
            layout: layout.clone(),
            parts,
            turn: 0,
            stream: None,
            skipped,
            left_out,
            closed_report: TextReport::default(),
            closed_bytes: 0,
            progress,
        })
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The files that were learned before, and are not read.
    pub fn skipped(&self) -> &[PathBuf] {
        &self.skipped
    }

    /// The files of folders and patterns that are not text or do not exist, and are not read.
    pub fn left_out(&self) -> &[(PathBuf, TextError)] {
        &self.left_out
    }

    /// Files that were read to their end and have no words.
    pub fn without_words(&self) -> impl Iterator<Item = &Path> {
        let parts = self.parts.iter().filter(|part| part.complete && part.reached.words == 0);
        parts.map(|part| part.name.as_path())
    }

    /// What was found in the text so far.
    pub fn report(&self) -> TextReport {
        let current = self.stream.as_ref().map(|stream| stream.report());
        self.closed_report.clone() + current.unwrap_or_default()
    }

    /// How far all files were read. A clone can be watched during training.
    pub fn progress(&self) -> &FilesProgress {
        &self.progress
    }

    /// Goes back to the positions in the ledger, for another pass over the same text.
    pub fn rewind(&mut self) -> Result<()> {
        if let Some(pipe) = self.parts.iter().find(|part| part.file_bytes.is_none()) {
            return Err(Error::text(&pipe.name, TextError::PipeAgain));
        }
        for part in &mut self.parts {
            part.reached = part.recorded;
            part.complete = false;
        }
        self.turn = 0;
        self.stream = None;
        self.closed_report = TextReport::default();
        self.closed_bytes = 0;
        self.progress.set(0, 0);
        Ok(())
    }

    /// Records in the ledger how far each file was read.
    ///
    /// Call it only when everything that was read is learned, which is so whenever `Trainer::train` has returned. If a file
    /// cannot be recorded, because it is gone or has changed, the others still are.
    pub fn record_positions(&mut self, ledger: &mut Ledger) -> Result<()> {
        let mut result = Ok(());
        for part in self.parts.iter_mut().filter(|part| !part.is_recorded) {
            let recorded = part.record(ledger, &self.layout);
            part.is_recorded = true;
            result = result.and(recorded);
        }
        result
    }

    fn read_part(&mut self, sentence: &mut Sentence) -> Result<Read> {
        let part = &mut self.parts[self.turn];
        let stream = match &mut self.stream {
            Some(stream) => stream,
            None => self.stream.insert(part.open(&self.options, &self.layout)?),
        };
        let read = stream.read(sentence).inspect_err(|_| {
            // The invalid record after this position may be repaired.
            part.reached.position = stream.position();
        })?;
        let raw_bytes = stream.progress().bytes_read();
        self.progress.set(self.turn, self.closed_bytes + raw_bytes);
        part.is_recorded = false;
        part.reached.position = stream.position();
        part.reached.words += sentence.len() as u64;
        if read == Read::End {
            part.complete = true;
            if part.file_bytes.is_none() {
                // A pipe does not grow after its end: what is fed next comes after its last byte.
                part.reached.position = stream.end();
            }
            self.closed_bytes += raw_bytes;
            self.closed_report += stream.report();
            self.stream = None;
            self.turn += 1;
        }
        Ok(read)
    }
}

impl Source for Files {
    fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
        sentence.clear();
        while self.turn < self.parts.len() {
            let read = self.read_part(sentence)?;
            if read != Read::End {
                return Ok(read);
            }
        }
        Ok(Read::End)
    }

    fn cut(&mut self, max_bytes: usize) -> Option<Passage> {
        self.stream.as_mut()?.cut(max_bytes)
    }

    fn put_back(&mut self, passage: Passage) {
        let stream = self.stream.as_mut().expect("a passage comes back before the file is closed");
        let part = &mut self.parts[self.turn];
        let words = passage.taken_words();
        part.is_recorded &= words == 0;
        part.reached.words += words;
        stream.put_back(passage);
        part.reached.position = stream.position();
        self.progress.set(self.turn, self.closed_bytes + stream.progress().bytes_read());
    }
}

impl Part {
    /// What is left to read of a file, if anything.
    fn file(
        path: &Path,
        file_bytes: u64,
        ledger: &Ledger,
        again: bool,
        layout: &Layout,
    ) -> Result<Option<Part>> {
        // Changed or not, a file to learn again is new text.
        let plan = if again { Some(Position::default()) } else { ledger.plan(path, layout)? };
        let Some(position) = plan else { return Ok(None) };
        let words = ledger.source(path)?.map_or(0, |learned| learned.words);
        let start = Reached { position, words };
        Ok(Some(Part {
            file_bytes: Some(file_bytes),
            reached: start,
            recorded: start,
            // A file to learn again is still to be learned if its turn does not come in this session.
            is_recorded: !again,
            ..Part::pipe(path.to_owned(), None, Position::default())
        }))
    }

    fn pipe(name: PathBuf, pipe: Option<Pipe>, skip: Position) -> Part {
        let start = Reached { position: skip, words: 0 };
        Part {
            name,
            pipe,
            file_bytes: None,
            reached: start,
            complete: false,
            recorded: start,
            is_recorded: true,
        }
    }

    fn open(&mut self, options: &TextOptions, layout: &Layout) -> Result<TextStream> {
        let position = self.reached.position;
        match self.pipe.take() {
            Some(Pipe::Bytes(mut reader)) => {
                let sample = read_sample(&mut reader).map_err(Error::io(&self.name))?;
                if Compression::of(&sample) == Compression::None {
                    binary::check(&sample).map_err(|cause| Error::text(&self.name, cause))?;
                }
                let reader = Cursor::new(sample).chain(reader);
                return from_reader_at(&self.name, reader, position, options, layout);
            }
            Some(Pipe::Forced(reader)) => {
                return from_reader_at(&self.name, reader, position, options, layout);
            }
            Some(Pipe::Text(reader)) => return plain_at(&self.name, reader, position, options, layout),
            None => {}
        }
        let stream = open_at(&self.name, position, options, layout)?;
        if self.file_bytes.is_some() {
            self.file_bytes = stream.progress().length();
        }
        Ok(stream)
    }

    fn record(&mut self, ledger: &mut Ledger, layout: &Layout) -> Result<()> {
        let before = std::mem::replace(&mut self.recorded, self.reached);
        let Reached { position, words } = self.reached;
        let Some(file_bytes) = self.file_bytes else {
            let bytes = position.offset - before.position.offset;
            ledger.record_piped(words - before.words, bytes, position);
            return Ok(());
        };
        let reading = Reading { file_bytes, position, complete: self.complete, words };
        ledger.record(&self.name, reading, layout)
    }
}

impl<P: AsRef<Path>> From<P> for Input {
    fn from(path: P) -> Input {
        Input::File(path.as_ref().to_owned())
    }
}

#[cfg(test)]
mod tests;
