//! One followed file as sentences, with its entry in the ledger.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Note;
use super::growing::Growing;
use super::tail::{FilePosition, Identity, Tail, TailEnd};
use crate::corpus::ledger::{LearnedSource, Ledger, Reading};
use crate::corpus::open::{TextStream, plain_at};
use crate::corpus::{Layout, Position, Read, Sentence, Source, TextOptions, TextReport};
use crate::{Error, Result};

/// A path that is followed, whichever file it leads to.
pub(super) struct FollowedFile {
    tail: Tail,
    /// The path of the file's entry in the ledger.
    canonical: PathBuf,
    options: TextOptions,
    layout: Layout,
    /// The entry of the file that was learned before, until it is opened.
    learned: Option<LearnedSource>,
    /// Whether the ledger may have an entry of another file at this path.
    has_other_entry: bool,
    current: Option<Open>,
    /// Files that were read to their end since the last checkpoint.
    closed: Vec<Closed>,
    closed_report: TextReport,
}

struct Open {
    file: Growing,
    identity: Identity,
    stream: TextStream,
    position: Position,
    words: u64,
    /// The position in the ledger, if the ledger has this file.
    recorded: Option<Position>,
}

struct Closed {
    canonical: PathBuf,
    /// The file and how far it was read, if it still has that path, as one to which a link has led.
    kept: Option<(Growing, Reading)>,
}

impl FollowedFile {
    /// Continues where the ledger says, or starts at the beginning.
    pub fn new(
        path: &Path,
        ledger: &Ledger,
        again: bool,
        is_forced: bool,
        options: &TextOptions,
        layout: &Layout,
    ) -> Result<FollowedFile> {
        let canonical = canonical(path)?;
        let learned = ledger.source_at(&canonical).filter(|_| !again).cloned();
        let before = learned.as_ref().map(|learned| FilePosition {
            offset: learned.file_bytes,
            fingerprint: learned.fingerprint.clone(),
        });
        let start = learned.as_ref().map_or(0, |learned| learned.position.offset);
        let mut file = FollowedFile {
            tail: Tail::starting_at(path, before, start, is_forced)?,
            canonical,
            options: options.clone(),
            layout: layout.clone(),
            has_other_entry: learned.is_some(),
            learned,
            current: None,
            closed: Vec::new(),
            closed_report: TextReport::default(),
        };
        file.open()?;
        Ok(file)
    }

    /// Reads the next sentence, if there is one now.
    pub fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
        loop {
            self.open()?;
            let Some(current) = &mut self.current else { return Ok(Read::Pending) };
            let read = current.stream.read(sentence);
            // Lines are whole here, so trailing lines without words are done with too.
            let is_drained = matches!(read, Ok(Read::End));
            current.position = if is_drained { current.stream.end() } else { current.stream.position() };
            if read?.is_sentence() {
                current.words += sentence.len() as u64;
                return Ok(Read::Sentence);
            }
            match self.tail.at_end()? {
                TailEnd::Pending => return Ok(Read::Pending),
                TailEnd::Rest => {}
                TailEnd::Closed { truncated } => self.close(truncated),
            }
        }
    }

    /// Records in the ledger how far the file was read, even if its path leads to another one now. If one entry cannot
    /// be made, the others still are.
    pub fn record_positions(&mut self, ledger: &mut Ledger) -> Result<()> {
        let mut result = Ok(());
        for Closed { canonical, kept } in self.closed.drain(..) {
            match kept {
                Some((file, reading)) => {
                    let recorded =
                        file.with_file(|file| ledger.record_open(&canonical, file, reading, &self.layout));
                    result = result.and(recorded.map_err(Error::io(&canonical)));
                }
                None => ledger.forget(&canonical),
            }
        }
        let Some(current) = &mut self.current else { return result };
        let reading = current.reading();
        if current.recorded == Some(reading.position) {
            return result;
        }
        let recorded =
            current.file.with_file(|file| ledger.record_open(&self.canonical, file, reading, &self.layout));
        if recorded.is_ok() {
            current.recorded = Some(reading.position);
        }
        result.and(recorded.map_err(Error::io(self.tail.path())))
    }

    /// Whether another path leads to the same file.
    pub fn is_same(&self, other: &FollowedFile) -> bool {
        self.canonical == other.canonical
    }

    /// What happened since the last call.
    pub fn take_notes(&mut self) -> impl Iterator<Item = Note> {
        let events = self.tail.take_events();
        events.into_iter().map(|event| Note { file: self.tail.path().to_owned(), event })
    }

    pub fn report(&self) -> TextReport {
        let current = self.current.as_ref().map(|current| current.stream.report());
        self.closed_report.clone() + current.unwrap_or_default()
    }

    /// The number of bytes read of the open file.
    pub fn bytes_read(&self) -> u64 {
        self.current.as_ref().map_or(0, |current| current.position.offset)
    }

    fn open(&mut self) -> Result<()> {
        let Some(opened) = self.tail.open()? else { return Ok(()) };
        let learned = self.learned.take().filter(|_| opened.is_known);
        let (position, words) = match &learned {
            Some(learned) => {
                learned.check_layout(&opened.name, &self.layout)?;
                (learned.position, learned.words)
            }
            None => {
                self.canonical = canonical(self.tail.path())?;
                (Position::default(), 0)
            }
        };
        let is_recorded = learned.is_some() || !self.has_other_entry;
        let reader = opened.file.clone();
        self.current = Some(Open {
            stream: plain_at(self.tail.path(), reader, position, &self.options, &self.layout)?,
            file: opened.file,
            identity: opened.identity,
            position,
            words,
            recorded: is_recorded.then_some(position),
        });
        Ok(())
    }

    fn close(&mut self, truncated: bool) {
        if let Some(current) = self.current.take() {
            self.closed_report += current.stream.report();
            let there = fs::metadata(&self.canonical).map(|metadata| Identity::of(&metadata));
            let is_kept = !truncated && there.is_ok_and(|there| there == current.identity);
            let kept = is_kept.then(|| (current.file.clone(), current.reading()));
            self.closed.push(Closed { canonical: self.canonical.clone(), kept });
            self.has_other_entry = true;
        }
    }
}

impl Open {
    /// How far it was read. The bytes after that are not learned and may change.
    fn reading(&self) -> Reading {
        let position = self.position;
        // Between the words of a line or a record, all of it must stay the same for the position to mean something.
        let complete = position.words == 0;
        let file_bytes = if complete { position.offset } else { self.stream.end().offset };
        Reading { file_bytes, position, complete, words: self.words }
    }
}

/// The canonical path of a file that need not exist, in a folder that must.
fn canonical(path: &Path) -> Result<PathBuf> {
    if let Ok(canonical) = path.canonicalize() {
        return Ok(canonical);
    }
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().map_err(Error::io(path))?;
    let name = path.file_name().ok_or_else(|| Error::io(path)(io::ErrorKind::InvalidFilename.into()))?;
    Ok(folder.join(name))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn an_entry_that_cannot_be_made_does_not_hold_back_the_others() {
        let folder = TempDir::new().unwrap();
        let (options, layout) = (TextOptions::default(), Layout::Text);
        let mut ledger = Ledger::default();
        let (broken, gone) = (folder.path().join("broken"), folder.path().join("gone"));
        fs::write(&gone, "one\n").unwrap();
        let reading = Reading { file_bytes: 4, position: Position::at(4), complete: true, words: 1 };
        ledger.record_open(&gone, &mut File::open(&gone).unwrap(), reading, &layout).unwrap();
        let mut file =
            FollowedFile::new(&folder.path().join("a"), &ledger, false, false, &options, &layout).unwrap();
        // A file that is open only for writing cannot be read.
        let unreadable = Growing::new(File::create(&broken).unwrap(), 0, false).unwrap();
        file.closed = vec![
            Closed { canonical: broken.clone(), kept: Some((unreadable, reading)) },
            Closed { canonical: gone.clone(), kept: None },
        ];
        let error = file.record_positions(&mut ledger).unwrap_err().to_string();
        assert!(error.contains("broken"), "{error}");
        assert!(ledger.source_at(&gone).is_none());
    }
}
