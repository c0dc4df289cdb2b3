//! Files that grow, followed as `tail -F` does: across rotation, and before they exist.
//!
//! [`Tail`] follows one path and returns the bytes of whole lines, with positions that can be stored; the service logs
//! them. [`Follow`] turns the lines of several files and pipes into sentences; `train --follow` learns them. Nothing here
//! waits or reads the clock: the caller decides when to read again.
//!
//! # Rules
//!
//! - A file is opened once it has text. Only whole lines are read.
//! - A file is **replaced** when its path leads to another file that has text. The rest of the old file is read first,
//!   including a last line without a line end, then the new one from its start. Until then the old file is followed
//!   under whatever name it has, because its writer may not have noticed.
//! - A file that is shorter than the position, or that has other bytes just before it, was **truncated**. It is read
//!   from its start.
//! - After a restart, the file is recognized by its content: a fingerprint of the bytes that were read. It is looked for
//!   at the path, then among `NAME.*`, `NAME-*` and `NAME_*` in the same folder, where log rotation puts it. If it is
//!   not found, the file at the path is new text.

mod file;
mod growing;
mod pipe;
mod tail;

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::binary;
use super::error::TextError;
use super::files::Input;
use super::layout::{Layout, RecordFormat};
use super::ledger::Ledger;
use super::options::TextOptions;
use super::position::Position;
use super::progress::FilesProgress;
use super::report::TextReport;
use super::sentence::{Read, Sentence, Source};
use crate::{Error, Result};
use file::FollowedFile;
use pipe::FollowedPipe;
pub use tail::{FilePosition, Tail, TailEnd};

/// The number of sentences read from one file before the others have their turn.
const TURN_SENTENCES: usize = 1_000;

/// Reads files and pipes that grow as one stream.
///
/// Each file continues where the [`Ledger`] says. Where there is no text now, `read` gives [`Read::Pending`]. Files have
/// no end: `read` gives [`Read::End`] only if all inputs are pipes that have ended.
///
/// ```
/// use skipstream::corpus::{Follow, Layout, Ledger, Read, Sentence, Source, TextOptions};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("app.log");
/// std::fs::write(&path, "one two\nthree fo")?;
/// let (ledger, options) = (Ledger::default(), TextOptions::default());
/// let mut follow = Follow::plan([&path], &ledger, false, &options, &Layout::Text)?;
/// let mut sentence = Sentence::default();
/// assert!(follow.read(&mut sentence)?.is_sentence());
/// assert_eq!(follow.read(&mut sentence)?, Read::Pending, "the second line is not whole");
///
/// std::fs::write(&path, "one two\nthree four\n")?;
/// assert!(follow.read(&mut sentence)?.is_sentence());
/// assert_eq!(sentence.tokens().collect::<Vec<_>>(), ["three", "four"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Follow {
    files: Vec<FollowedFile>,
    pipes: Vec<FollowedPipe>,
    /// The file or pipe whose turn it is: files first.
    turn: usize,
    /// The number of sentences in this turn.
    given: usize,
    notes: Vec<Note>,
    progress: FilesProgress,
}

/// An event of one followed file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The path that is followed.
    pub file: PathBuf,
    /// What happened.
    #[serde(flatten)]
    pub event: FollowEvent,
}

/// What happened to a followed file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FollowEvent {
    /// It is not text, and is not read.
    NotText,
    /// It does not exist yet.
    Awaited,
    /// It is read from its start.
    Begun,
    /// Another file has taken its place.
    Replaced,
    /// It was truncated, and is read from its start.
    Truncated,
    /// It is not the file that was read before, and that one was not found.
    ReplacedEarlier,
    /// The file that was read before has another name now. Its rest is read first.
    Renamed {
        /// The name.
        renamed: PathBuf,
    },
}

impl fmt::Display for FollowEvent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FollowEvent::NotText => write!(out, "the file is not text, and is not read"),
            FollowEvent::Awaited => write!(out, "waiting for the file"),
            FollowEvent::Begun => write!(out, "reading from the start"),
            FollowEvent::Replaced => {
                write!(out, "the file was replaced; reading the rest of the old one first")
            }
            FollowEvent::Truncated => write!(out, "the file was truncated; its content is new text"),
            FollowEvent::ReplacedEarlier => {
                write!(out, "the file was replaced since it was last read; its content is new text")
            }
            FollowEvent::Renamed { renamed } => {
                write!(out, "the file was renamed to {}; reading the rest of it first", renamed.display())
            }
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.file.display(), self.event)
    }
}

impl Follow {
    /// Decides where each file starts. A file that does not exist is waited for. Compressed files and tables cannot be
    /// followed. With `again`, every file is new text from its start. A file that is named twice is read once.
    ///
    /// A pipe's reader may fail with [`WouldBlock`](std::io::ErrorKind::WouldBlock) when it has no bytes now, but only
    /// after a whole line.
    pub fn plan(
        inputs: impl IntoIterator<Item = impl Into<Input>>,
        ledger: &Ledger,
        again: bool,
        options: &TextOptions,
        layout: &Layout,
    ) -> Result<Follow> {
        options.check()?;
        let (mut files, mut pipes, mut notes) = (Vec::<FollowedFile>::new(), Vec::new(), Vec::new());
        for input in inputs {
            let input = input.into();
            let (is_found, is_forced) = (matches!(input, Input::Found(_)), matches!(input, Input::Forced(_)));
            let (name, reader, skip) = match input {
                Input::Pipe { name, reader, skip, .. } => (name, reader, skip),
                Input::Text { name, reader } => (name, reader, Position::default()),
                Input::File(path) | Input::Found(path) | Input::Forced(path) => {
                    check_growing(&path, layout)?;
                    let mut file = FollowedFile::new(&path, ledger, again, is_forced, options, layout)?;
                    if !is_forced && path.is_file() && ledger.source(&path)?.is_none() {
                        match binary::check_file(&path) {
                            Err(Error::Text { cause, .. }) if is_found && cause.is_not_text() => {
                                notes.push(Note { file: path, event: FollowEvent::NotText });
                                continue;
                            }
                            checked => checked?,
                        }
                    }
                    if !files.iter().any(|known| known.is_same(&file)) {
                        notes.extend(file.take_notes());
                        files.push(file);
                    }
                    continue;
                }
            };
            check_growing(&name, layout)?;
            pipes.push(FollowedPipe::new(name, reader, skip, options, layout));
        }
        let progress = FilesProgress::new(files.len() + pipes.len(), None);
        Ok(Follow { files, pipes, turn: 0, given: 0, notes, progress })
    }

    /// What happened since the last call.
    pub fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    /// What was found in the text so far.
    pub fn report(&self) -> TextReport {
        let reports =
            self.files.iter().map(FollowedFile::report).chain(self.pipes.iter().map(FollowedPipe::report));
        reports.fold(TextReport::default(), |sum, report| sum + report)
    }

    /// How far reading is; a clone may be watched while a trainer reads.
    pub fn progress(&self) -> &FilesProgress {
        &self.progress
    }

    /// Records in the ledger how far each file was read.
    ///
    /// Call it only when everything that was read is learned, which is so whenever `Trainer::train` has returned.
    pub fn record_positions(&mut self, ledger: &mut Ledger) -> Result<()> {
        self.pipes.iter_mut().for_each(|pipe| pipe.record_position(ledger));
        self.files.iter_mut().map(|file| file.record_positions(ledger)).fold(Ok(()), Result::and)
    }

    fn next_turn(&mut self) {
        self.turn = (self.turn + 1) % self.progress.files();
        self.given = 0;
    }

    fn read_turn(&mut self, sentence: &mut Sentence) -> Result<Read> {
        let read = match self.turn.checked_sub(self.files.len()) {
            None => {
                let file = &mut self.files[self.turn];
                let read = file.read(sentence);
                self.notes.extend(file.take_notes());
                read
            }
            Some(pipe) => self.pipes[pipe].read(sentence),
        };
        let bytes_read = self.files.iter().map(FollowedFile::bytes_read).sum();
        self.progress.set(self.turn, bytes_read);
        read
    }
}

impl Source for Follow {
    fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
        sentence.clear();
        if self.given == TURN_SENTENCES {
            self.next_turn();
        }
        let mut nothing = Read::End;
        for _ in 0..self.progress.files() {
            match self.read_turn(sentence)? {
                Read::Sentence => {
                    self.given += 1;
                    return Ok(Read::Sentence);
                }
                Read::Pending => nothing = Read::Pending,
                Read::End => {}
            }
            self.next_turn();
        }
        Ok(nothing)
    }
}

/// Refuses layouts that cannot be read before the file is complete: the columns of a table are named in its first line,
/// and a Parquet file ends with its index.
fn check_growing(name: &Path, layout: &Layout) -> Result<()> {
    match layout.field().map(|field| field.format) {
        None | Some(RecordFormat::Jsonl) => Ok(()),
        Some(format) => Err(Error::text(name, TextError::CannotFollow { what: format!("a {format} file") })),
    }
}

#[cfg(test)]
mod tests;
