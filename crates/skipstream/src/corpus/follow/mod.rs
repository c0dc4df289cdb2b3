//! Files that grow, followed as `tail -F` does: across rotation, and before they are there.
//!
//! Nothing here waits or looks at a clock. [`Follow::read`](Source::read) says that there is no text for now, and whoever
//! calls decides when to ask again.

mod file;
mod growing;
mod pipe;

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

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

/// Sentences that are read from one file before the others have their turn.
const TURN_SENTENCES: usize = 1_000;

/// Reads files and pipes that grow as one stream.
///
/// `read` gives `Ok(false)` where there is no text for now. Only whole lines are read, as long as their writer may be in
/// the middle of one. Where a file was renamed and another took its place, the old one is read to its end and then the
/// new one from its start; one that was cut short is read from its start. Each file begins where the [`Ledger`] says that
/// it was left.
///
/// ```
/// use skipstream::corpus::{Follow, Layout, Ledger, Sentence, Source, TextOptions};
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
    /// Whose turn it is: the files', then the pipes'.
    turn: usize,
    /// How many sentences it has given since then.
    given: usize,
    notes: Vec<Note>,
    progress: FilesProgress,
}

/// Something that happened to a file that is followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The path that is followed.
    pub file: PathBuf,
    /// What happened.
    #[serde(flatten)]
    pub what: Happening,
}

/// What happened to a file that is followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Happening {
    /// It is not there yet.
    Awaited,
    /// It is there now, and is read from its start.
    Begun,
    /// Another file has taken its place.
    Replaced,
    /// It was cut short, and is read from its start.
    Cut,
    /// It is not the file any more that was learned earlier.
    ReplacedEarlier,
    /// The file that was learned earlier has another name now: the rest of it is read first.
    OldFound {
        /// The name.
        renamed: PathBuf,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: ", self.file.display())?;
        match &self.what {
            Happening::Awaited => write!(out, "not there yet; waiting for it"),
            Happening::Begun => write!(out, "reading from its start"),
            Happening::Replaced => {
                write!(out, "another file took its place; the rest of the old one is read first")
            }
            Happening::Cut => write!(out, "it was cut short; what is in it now is new text"),
            Happening::ReplacedEarlier => {
                write!(out, "not the file any more that was learned before; what is in it is new text")
            }
            Happening::OldFound { renamed } => {
                write!(
                    out,
                    "the file that was learned before is {} now; the rest of it is read first",
                    renamed.display()
                )
            }
        }
    }
}

impl Follow {
    /// Decides where each file begins. A file that is not there is waited for; one that is compressed cannot be
    /// followed, nor can tables. With `again`, every file is new text from its start. A file that is named twice is
    /// read once.
    ///
    /// A pipe's reader gives no bytes (`Ok(0)`) where there are none for now, and then only behind a whole line.
    pub fn plan(
        inputs: impl IntoIterator<Item = impl Into<Input>>,
        ledger: &Ledger,
        again: bool,
        options: &TextOptions,
        layout: &Layout,
    ) -> Result<Follow> {
        options.check()?;
        check_growing(layout)?;
        let (mut files, mut pipes, mut notes) = (Vec::<FollowedFile>::new(), Vec::new(), Vec::new());
        for input in inputs {
            match input.into() {
                Input::Pipe { name, reader, skip } => {
                    pipes.push(FollowedPipe::new(name, reader, skip, options, layout))
                }
                Input::Text { name, reader } => {
                    pipes.push(FollowedPipe::new(name, reader, Position::default(), options, layout))
                }
                Input::File(path) => {
                    let file = FollowedFile::new(path, ledger, again, options, layout, &mut notes)?;
                    if !files.iter().any(|known| known.is_same(&file)) {
                        files.push(file);
                    }
                }
            }
        }
        let progress = FilesProgress::new(files.len() + pipes.len(), None);
        Ok(Follow { files, pipes, turn: 0, given: 0, notes, progress })
    }

    /// Whether there are files among what is followed, which have no end.
    pub fn is_endless(&self) -> bool {
        !self.files.is_empty()
    }

    /// Says that no more can come from pipes: an error if one ended before the place where it was to go on.
    pub fn end_pipes(&self) -> Result<()> {
        self.pipes.iter().try_for_each(FollowedPipe::end)
    }

    /// What happened since the last time.
    pub fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    /// What was met in the text so far.
    pub fn report(&self) -> TextReport {
        let reports =
            self.files.iter().map(FollowedFile::report).chain(self.pipes.iter().map(FollowedPipe::report));
        reports.fold(TextReport::default(), |sum, report| sum + report)
    }

    /// How far reading is; a clone may be watched while a trainer reads.
    pub fn progress(&self) -> &FilesProgress {
        &self.progress
    }

    /// Writes down in the ledger how far each file was read, since the last time.
    ///
    /// Only right when all that was read was also learned, which is so whenever a trainer has come to rest.
    pub fn settle(&mut self, ledger: &mut Ledger) -> Result<()> {
        self.pipes.iter_mut().for_each(|pipe| pipe.settle(ledger));
        self.files.iter_mut().map(|file| file.settle(ledger)).fold(Ok(()), Result::and)
    }

    fn next_turn(&mut self) {
        self.turn = (self.turn + 1) % self.progress.files();
        self.given = 0;
    }

    fn read_turn(&mut self, sentence: &mut Sentence) -> Result<Read> {
        let read = match self.turn.checked_sub(self.files.len()) {
            None => self.files[self.turn].read(sentence, &mut self.notes),
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
        for _ in 0..self.progress.files() {
            if self.read_turn(sentence)?.is_sentence() {
                self.given += 1;
                return Ok(Read::Sentence);
            }
            self.next_turn();
        }
        Ok(Read::Pending)
    }
}

/// Refuses what cannot be read before it is whole.
fn check_growing(layout: &Layout) -> Result<()> {
    let Some(format) = layout.field().map(|field| field.format) else { return Ok(()) };
    let why = match format {
        RecordFormat::Jsonl => return Ok(()),
        RecordFormat::Csv | RecordFormat::Tsv => {
            "only its first line names the columns, so that reading cannot begin where it grew"
        }
        RecordFormat::Parquet => "such a file can be read only when it is whole",
    };
    Err(Error::Unsupported(format!(
        "{format} cannot be followed: {why}; leave --follow out, or follow JSON lines"
    )))
}

#[cfg(test)]
mod tests;
