//! Cuts bytes into lines.
//!
//! Invariant: it holds less than one line and the last piece, whatever is sent.

use super::problem::Problem;

/// Cuts pieces of a body into lines. A line ends with `\n` or `\r\n`, which the last line may lack.
#[derive(Debug)]
pub struct Lines {
    /// The beginning of an unfinished line.
    begun: Vec<u8>,
    /// Lines so far.
    lines: u64,
    max_line_bytes: usize,
}

/// Some editors put this at the start of a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Lines {
    pub fn new(max_line_bytes: usize) -> Lines {
        Lines { begun: Vec::new(), lines: 0, max_line_bytes }
    }

    /// The number of the next line, from 1.
    pub fn number(&self) -> u64 {
        self.lines + 1
    }

    /// Takes a piece and passes on the lines that end in it.
    pub fn take(
        &mut self,
        piece: &[u8],
        mut give: impl FnMut(u64, &[u8]) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        for part in piece.split_inclusive(|&byte| byte == b'\n') {
            // Two more bytes for `\r\n`.
            if self.begun.len() + part.len() > self.max_line_bytes + 2 {
                return Err(self.too_long());
            }
            self.begun.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.give(&mut give)?;
            }
        }
        Ok(())
    }

    /// Passes on the last line if it is unterminated.
    pub fn finish(&mut self, mut give: impl FnMut(u64, &[u8]) -> Result<(), Problem>) -> Result<(), Problem> {
        if self.begun.is_empty() { Ok(()) } else { self.give(&mut give) }
    }

    fn give(&mut self, give: &mut impl FnMut(u64, &[u8]) -> Result<(), Problem>) -> Result<(), Problem> {
        let line = self.begun.strip_suffix(b"\n").unwrap_or(&self.begun);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > self.max_line_bytes {
            return Err(self.too_long());
        }
        let line = if self.lines == 0 { line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line) } else { line };
        give(self.number(), line)?;
        self.lines += 1;
        self.begun.clear();
        Ok(())
    }

    fn too_long(&self) -> Problem {
        Problem::LongLine { line: self.number(), most: self.max_line_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a body that arrives in pieces of this size.
    fn lines(body: &[u8], piece: usize, max_line_bytes: usize) -> Result<Vec<Vec<u8>>, Problem> {
        let mut found = Vec::new();
        let mut reader = Lines::new(max_line_bytes);
        let mut give = |number: u64, line: &[u8]| {
            found.push(line.to_vec());
            assert_eq!(number, found.len() as u64);
            Ok(())
        };
        for piece in body.chunks(piece) {
            reader.take(piece, &mut give)?;
        }
        reader.finish(give)?;
        Ok(found)
    }

    #[test]
    fn lines_do_not_depend_on_the_pieces() {
        for (body, expected) in [
            ("", vec![]),
            ("\n", vec![""]),
            ("one\ntwo\n", vec!["one", "two"]),
            ("one\r\n\r\ntwo", vec!["one", "", "two"]),
            ("one\rtwo\r", vec!["one\rtwo"]),
            ("a\0b\n", vec!["a\0b"]),
            ("\u{feff}one\n\u{feff}two", vec!["one", "\u{feff}two"]),
        ] {
            for piece in 1..=body.len().max(1) {
                let found = lines(body.as_bytes(), piece, 9).unwrap();
                assert_eq!(
                    found,
                    expected.iter().map(|line| line.as_bytes()).collect::<Vec<_>>(),
                    "{body:?}"
                );
            }
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_an_error() {
        for piece in 1..=20 {
            assert_eq!(lines(b"12345\r\n1234\n", piece, 5).unwrap().len(), 2);
            for body in [&b"1234\n123456\n"[..], b"1234\n123456", b"1234\n12345678901234567890"] {
                assert_eq!(lines(body, piece, 5).unwrap_err(), Problem::LongLine { line: 2, most: 5 });
            }
        }
    }
}
