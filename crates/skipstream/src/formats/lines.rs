//! Numbered lines of text with a limit on their length.

use std::io::{BufRead, Read};
use std::path::Path;

use super::error::{Defect, FilePlace, FormatError};
use crate::bytes::read_error;
use crate::{Error, Result};

/// Reads a text line by line. A line that is too long is an error, and so is one that is not UTF-8 unless invalid bytes are
/// replaced.
pub(crate) struct Lines<'name, Reader> {
    reader: Reader,
    name: &'name Path,
    max_bytes: usize,
    lossy: bool,
    number: u64,
    bytes: Vec<u8>,
    /// The line with its invalid bytes replaced, if there are any.
    replaced: String,
}

/// A line without its end, and its number.
#[derive(Clone, Copy)]
pub(crate) struct Line<'lines> {
    pub(crate) text: &'lines str,
    pub(crate) is_replaced: bool,
    number: u64,
    name: &'lines Path,
}

impl<'name, Reader: BufRead> Lines<'name, Reader> {
    /// Lines of at most `max_bytes`, their end included; `name` is for messages.
    pub(crate) fn new(reader: Reader, name: &'name Path, max_bytes: usize) -> Self {
        Lines { reader, name, max_bytes, lossy: false, number: 0, bytes: Vec::new(), replaced: String::new() }
    }

    /// Bytes that are not UTF-8 become U+FFFD instead of an error.
    pub(crate) fn lossy(self) -> Self {
        Lines { lossy: true, ..self }
    }

    /// The next line that is not blank, or nothing at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Line<'_>>> {
        while self.read()? {
            if !self.bytes.trim_ascii().is_empty() {
                return self.line().map(Some);
            }
        }
        Ok(None)
    }

    /// Reads one line into `bytes`; false at the end.
    fn read(&mut self) -> Result<bool> {
        self.bytes.clear();
        self.number += 1;
        // One byte more than allowed distinguishes a line that is too long from one that just fits.
        let mut bounded = self.reader.by_ref().take(self.max_bytes as u64 + 1);
        bounded.read_until(b'\n', &mut self.bytes).map_err(|error| read_error(self.name, error))?;
        if self.bytes.len() > self.max_bytes {
            return Err(self.error(Defect::TooLong { what: "the line", limit: self.max_bytes }));
        }
        Ok(!self.bytes.is_empty())
    }

    fn line(&mut self) -> Result<Line<'_>> {
        let (text, is_replaced) = match str::from_utf8(&self.bytes) {
            Ok(text) => (text, false),
            Err(_) if self.lossy => {
                self.replaced = String::from_utf8_lossy(&self.bytes).into_owned();
                (self.replaced.as_str(), true)
            }
            Err(_) => return Err(self.error(Defect::NotUtf8)),
        };
        let text = text.trim_end_matches(['\n', '\r']);
        Ok(Line { text, is_replaced, number: self.number, name: self.name })
    }

    fn error(&self, defect: Defect) -> Error {
        Error::format(self.name, FormatError::At { place: FilePlace::Line(self.number), defect })
    }
}

impl Line<'_> {
    pub(super) fn count(&self, text: &str) -> Result<u64> {
        text.parse().map_err(|_| self.error(Defect::Count { text: text.to_owned() }))
    }

    pub(crate) fn error(&self, defect: Defect) -> Error {
        Error::format(self.name, FormatError::At { place: FilePlace::Line(self.number), defect })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(bytes: &[u8], max_bytes: usize) -> Result<Vec<(u64, String)>> {
        let mut lines = Lines::new(bytes, Path::new("some.txt"), max_bytes);
        let mut found = Vec::new();
        while let Some(line) = lines.next()? {
            found.push((line.number, line.text.to_owned()));
        }
        Ok(found)
    }

    #[test]
    fn blank_lines_are_passed_over_and_counted() {
        let found = collect(b"a b \r\n\n \t\nlast", 99).unwrap();
        assert_eq!(found, [(1, "a b ".to_owned()), (4, "last".to_owned())]);
    }

    #[test]
    fn a_line_over_the_limit_is_refused() {
        assert_eq!(collect(b"1234\n1234\n", 5).unwrap().len(), 2);
        let message = collect(b"1234\n12345\n", 5).unwrap_err().to_string();
        assert_eq!(message, "some.txt: line 2: the line is longer than 5 bytes");
    }

    #[test]
    fn a_line_that_is_not_utf8_is_refused() {
        let message = collect(b"fine\n\xff\xfe\n", 99).unwrap_err().to_string();
        assert_eq!(message, "some.txt: line 2: not valid UTF-8");
    }
}
