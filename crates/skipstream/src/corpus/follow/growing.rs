//! A file that grows while it is read, by whole lines.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::corpus::binary;

/// The number of bytes per step of the search for the last line end.
const STEP_BYTES: u64 = 64 << 10;

/// The number of bytes before the end of what was seen that must stay the same.
const MARK_BYTES: u64 = 256;

/// A file that grows. One clone is read as text, and another answers questions about its state.
///
/// Reading ends after the last whole line and continues when there is more. Memory does not depend on the length of a
/// line.
#[derive(Clone, Debug)]
pub(super) struct Growing(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    file: File,
    next: u64,
    /// The end of what may be read: after a newline, until the file is final.
    end: u64,
    /// There is no newline from `end` up to here.
    searched: u64,
    mark: Vec<u8>,
    is_final: bool,
    is_truncated: bool,
    /// Whether it is text; `None` until there is something to read.
    is_text: Option<bool>,
}

impl Growing {
    /// Reads from an offset, which is at the start of a line. A file that is not text has nothing to read, unless it is
    /// forced to be text or was read before.
    pub fn new(file: File, offset: u64, is_forced: bool) -> io::Result<Growing> {
        let mut state = State {
            file,
            next: offset,
            end: offset,
            searched: offset,
            mark: Vec::new(),
            is_final: false,
            is_truncated: false,
            is_text: (is_forced || offset > 0).then_some(true),
        };
        state.mark = state.mark_before(offset)?;
        Ok(Growing(Arc::new(Mutex::new(state))))
    }

    /// The file is final: what follows the last newline is text too.
    pub fn finish(&self) {
        self.state().is_final = true;
    }

    /// Whether the file was truncated, and perhaps filled again: it is shorter than what was seen of it, or different.
    pub fn is_truncated(&self) -> bool {
        self.state().is_truncated
    }

    /// Whether the file is text, as far as is known.
    pub fn is_text(&self) -> bool {
        self.state().is_text.unwrap_or(true)
    }

    /// The offset after what was read.
    pub fn offset(&self) -> u64 {
        self.state().next
    }

    /// Gives access to the file, at any offset.
    pub fn with_file<T>(&self, look: impl FnOnce(&mut File) -> T) -> T {
        look(&mut self.state().file)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Read for Growing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut state = self.state();
        state.look()?;
        if state.is_truncated {
            return Ok(0);
        }
        let most = buffer.len().min(usize::try_from(state.end - state.next).unwrap_or(usize::MAX));
        if most == 0 || !state.check_text()? {
            return Ok(0);
        }
        let next = state.next;
        state.file.seek(SeekFrom::Start(next))?;
        let length = state.file.read(&mut buffer[..most])?;
        // It may have been truncated since we looked.
        state.is_truncated = length == 0;
        // Whole lines, so that a truncation does not split a line that was given in part (unless it is very long).
        let length = memchr::memrchr(b'\n', &buffer[..length]).map_or(length, |newline| newline + 1);
        state.next += length as u64;
        Ok(length)
    }
}

impl State {
    /// Checks for truncation, even before everything was read, and how far the file may be read now.
    fn look(&mut self) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        self.is_truncated =
            self.is_truncated || length < self.end || self.mark_before(self.end)? != self.mark;
        if self.is_truncated || self.next < self.end || length == self.end {
            return Ok(());
        }
        if length < self.searched {
            // What was an unfinished line was truncated.
            self.searched = self.end;
        }
        let end = if self.is_final { Some(length) } else { self.last_line_end(length)? };
        self.searched = length;
        if let Some(end) = end {
            self.end = end;
            self.mark = self.mark_before(end)?;
        }
        Ok(())
    }

    /// Whether the file is text, by its first bytes.
    fn check_text(&mut self) -> io::Result<bool> {
        if let Some(is_text) = self.is_text {
            return Ok(is_text);
        }
        let mut sample = Vec::new();
        self.read_at(0, binary::SAMPLE_BYTES as u64, &mut sample)?;
        let is_text = binary::check(&sample).is_ok();
        self.is_text = Some(is_text);
        Ok(is_text)
    }

    /// The end of the last whole line before `length`, after what was searched.
    fn last_line_end(&mut self, length: u64) -> io::Result<Option<u64>> {
        let mut block = Vec::new();
        let mut block_end = length;
        while block_end > self.searched {
            let start = block_end.saturating_sub(STEP_BYTES).max(self.searched);
            self.read_at(start, block_end - start, &mut block)?;
            if let Some(newline) = memchr::memrchr(b'\n', &block) {
                return Ok(Some(start + newline as u64 + 1));
            }
            block_end = start;
        }
        Ok(None)
    }

    fn mark_before(&mut self, end: u64) -> io::Result<Vec<u8>> {
        let mut mark = Vec::new();
        let start = end.saturating_sub(MARK_BYTES);
        self.read_at(start, end - start, &mut mark)?;
        Ok(mark)
    }

    fn read_at(&mut self, start: u64, length: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
        bytes.clear();
        self.file.seek(SeekFrom::Start(start))?;
        (&mut self.file).take(length).read_to_end(bytes)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::path::{Path, PathBuf};

    use tempfile::TempDir;

    use super::*;

    fn file(text: &str) -> (TempDir, PathBuf, Growing) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, text).unwrap();
        let growing = Growing::new(File::open(&path).unwrap(), 0, false).unwrap();
        (folder, path, growing)
    }

    fn append(path: &Path, text: &str) {
        OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn read(growing: &mut Growing) -> String {
        let mut text = String::new();
        growing.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn only_whole_lines_are_read_until_the_file_is_final() {
        let (_folder, path, mut growing) = file("one\ntw");
        assert_eq!(read(&mut growing), "one\n");
        assert_eq!(read(&mut growing), "");
        append(&path, "o\nthree\nfo");
        assert_eq!(read(&mut growing), "two\nthree\n");
        growing.finish();
        assert_eq!(read(&mut growing), "fo");
        append(&path, "ur");
        assert_eq!(read(&mut growing), "ur");
    }

    #[test]
    fn a_line_of_many_blocks_is_waited_for_and_searched_once() {
        let (_folder, path, mut growing) = file("");
        let part = "x".repeat(3 * STEP_BYTES as usize);
        for _ in 0..3 {
            append(&path, &part);
            assert_eq!(read(&mut growing), "");
        }
        append(&path, "\nnext");
        assert_eq!(read(&mut growing).len(), 3 * part.len() + 1);
    }

    #[test]
    fn a_file_that_was_cut_is_told_also_when_it_has_grown_again() {
        for text in ["", "new\n", "one\nTWO\nthree and four\n"] {
            let (_folder, path, mut growing) = file("one\ntwo\n");
            assert_eq!(read(&mut growing), "one\ntwo\n");
            assert!(!growing.is_truncated());
            fs::write(&path, text).unwrap();
            assert_eq!(read(&mut growing), "");
            assert!(growing.is_truncated(), "{text}");
        }
    }

    #[test]
    fn a_cut_is_told_also_while_the_reader_is_behind() {
        for text in ["", "new\n", "ONE\nTWO\n", "a new line that is longer than all\n"] {
            let (_folder, path, mut growing) = file("one\ntwo\n");
            let mut buffer = [0; 6];
            assert_eq!(growing.read(&mut buffer).unwrap(), 4, "a whole line");
            fs::write(&path, text).unwrap();
            assert_eq!(growing.read(&mut buffer).unwrap(), 0);
            assert!(growing.is_truncated(), "{text}");
        }
    }
}
