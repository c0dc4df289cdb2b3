//! Turns the bytes of an upload into chunks of lines.
//!
//! Invariant: besides the chunks it holds less than one line and the last piece, whatever is sent.

use std::io::Write;
use std::mem;

use flate2::write::MultiGzDecoder;
use skipstream::corpus::{InvalidUtf8, TextError};
use skipstream::unstable::check_text;

use super::problem::Problem;
use super::record::Kind;
use crate::log::Chunk;
use crate::settings::ServeSettings;

/// Compressed bytes to decode at a time: at worst they expand a thousandfold, to a megabyte.
const GZIP_STEP: usize = 1 << 10;

/// Bytes at the start of a body that show whether it is text.
const SAMPLE_BYTES: usize = 4 << 10;
const MIN_SAMPLE_BYTES: usize = 16;

/// The first bytes of gzip data.
const GZIP: &[u8] = b"\x1f\x8b";

/// Some editors put this at the start of a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Decompresses bytes, cuts them into lines and collects these in chunks. A line ends with `\n` or `\r\n`, which the last
/// line may lack.
pub struct Decoder {
    kind: Kind,
    invalid_utf8: InvalidUtf8,
    gzip: Option<Box<MultiGzDecoder<Vec<u8>>>>,
    /// The beginning of an unfinished line.
    begun: Vec<u8>,
    /// Lines so far.
    lines: u64,
    /// Full chunks, and one that is not full.
    pub chunks: Vec<Chunk>,
    received: u64,
    /// Bytes after decompression.
    decoded: u64,
    max_body_size: u64,
    max_line_size: usize,
    /// Learn even what does not look like text.
    pub force_text: bool,
}

impl Decoder {
    pub fn new(kind: Kind, is_gzip: bool, invalid_utf8: InvalidUtf8, settings: &ServeSettings) -> Decoder {
        Decoder {
            kind,
            invalid_utf8,
            gzip: is_gzip.then(|| Box::new(MultiGzDecoder::new(Vec::new()))),
            begun: Vec::new(),
            lines: 0,
            chunks: vec![Chunk::default()],
            received: 0,
            decoded: 0,
            max_body_size: settings.max_body_size,
            max_line_size: settings.max_line_size as usize,
            force_text: false,
        }
    }

    /// The number of bytes to take at a time.
    pub fn step(&self) -> usize {
        if self.gzip.is_some() { GZIP_STEP } else { usize::MAX }
    }

    /// The number of the next line, from 1.
    pub fn line(&self) -> u64 {
        self.lines + 1
    }

    /// Whether there are lines that are not logged yet.
    pub fn has_lines(&self) -> bool {
        self.chunks.iter().any(|chunk| !chunk.is_empty())
    }

    /// Takes the next bytes of the body.
    pub fn take(&mut self, piece: &[u8]) -> Result<(), Problem> {
        self.received += piece.len() as u64;
        // There may be many empty gzip members.
        if self.received > self.max_body_size {
            return Err(Problem::LongBody { line: self.line(), most: self.max_body_size });
        }
        let Some(gzip) = &mut self.gzip else { return self.take_text(piece) };
        let written = gzip.write_all(piece);
        let text = mem::take(gzip.get_mut());
        written.map_err(|error| self.corrupt(&error))?;
        self.take_text(&text)
    }

    /// Takes the end of the body. Fails if the gzip data is incomplete or its checksum is wrong.
    pub fn finish(&mut self) -> Result<(), Problem> {
        if let Some(gzip) = self.gzip.take() {
            let text = gzip.finish().map_err(|error| self.corrupt(&error))?;
            self.take_text(&text)?;
        }
        if self.begun.is_empty() { Ok(()) } else { self.end_line() }
    }

    /// Rejects a body that is not text, by its first piece. A few bytes, such as the first line of a pipe, prove nothing.
    fn check_kind(&self, text: &[u8]) -> Result<(), Problem> {
        let is_checked = self.decoded == 0 && text.len() >= MIN_SAMPLE_BYTES;
        if !is_checked || self.force_text || self.kind != Kind::Plain {
            return Ok(());
        }
        if text.starts_with(GZIP) {
            let what = "gzip data, which needs the header Content-Encoding: gzip".to_owned();
            return Err(Problem::Binary { what });
        }
        let sample = &text[..text.len().min(SAMPLE_BYTES)];
        check_text(sample).map_err(|error| match error {
            TextError::Binary { what } => Problem::Binary { what: what.to_owned() },
            error => Problem::Record { line: 1, reason: error.to_string() },
        })
    }

    fn take_text(&mut self, text: &[u8]) -> Result<(), Problem> {
        self.check_kind(text)?;
        self.decoded += text.len() as u64;
        if self.decoded > self.max_body_size {
            return Err(Problem::LongBody { line: self.line(), most: self.max_body_size });
        }
        for part in text.split_inclusive(|&byte| byte == b'\n') {
            // Two more bytes for `\r\n`.
            if self.begun.len() + part.len() > self.max_line_size + 2 {
                return Err(self.long_line());
            }
            self.begun.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.end_line()?;
            }
        }
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), Problem> {
        let line = self.begun.strip_suffix(b"\n").unwrap_or(&self.begun);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > self.max_line_size {
            return Err(self.long_line());
        }
        let line = if self.lines == 0 { line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line) } else { line };
        let (text, time, weight) = self.kind.read(self.line(), line, self.invalid_utf8)?;
        if self.chunks.last().is_none_or(|chunk| chunk.weight() >= Chunk::BYTES) {
            self.chunks.push(Chunk::default());
        }
        self.chunks.last_mut().expect("there is a chunk by now").push_weighted(&text, time, weight);
        self.lines += 1;
        self.begun.clear();
        Ok(())
    }

    fn long_line(&self) -> Problem {
        Problem::LongLine { line: self.line(), most: self.max_line_size }
    }

    fn corrupt(&self, error: &std::io::Error) -> Problem {
        Problem::Gzip { line: self.line(), reason: error.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn compressed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn decoded(bytes: &[u8], piece: usize) -> Result<Vec<u8>, Problem> {
        let mut decoder = Decoder::new(Kind::Plain, true, InvalidUtf8::Replace, &ServeSettings::default());
        for piece in bytes.chunks(piece) {
            decoder.take(piece)?;
        }
        decoder.finish()?;
        Ok(decoder.chunks.into_iter().flat_map(|chunk| chunk.text).collect())
    }

    /// The lines of a body that arrives in pieces of this size.
    fn lines(body: &[u8], piece: usize, max_line_size: u64) -> Result<Vec<Vec<u8>>, Problem> {
        let settings = ServeSettings { max_line_size, ..ServeSettings::default() };
        let mut decoder = Decoder::new(Kind::Plain, false, InvalidUtf8::Replace, &settings);
        for piece in body.chunks(piece) {
            decoder.take(piece)?;
        }
        decoder.finish()?;
        let lines = decoder.chunks.iter().flat_map(|chunk| chunk.iter().map(|(line, ..)| line.to_vec()));
        Ok(lines.collect())
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

    #[test]
    fn gzip_may_have_several_members_and_arrive_in_any_pieces() {
        let text = b"tea with milk\n".repeat(1_000);
        let two = [compressed(&text), compressed(b"coffee\n")].concat();
        for piece in [1, 7, 100, 100_000] {
            assert_eq!(decoded(&compressed(&text), piece).unwrap(), text);
            assert_eq!(decoded(&two, piece).unwrap(), [&text[..], b"coffee\n"].concat());
            assert!(decoded(&compressed(b""), piece).unwrap().is_empty());
        }
    }

    #[test]
    fn corrupt_or_incomplete_gzip_is_an_error() {
        let good = compressed(&b"tea with milk\n".repeat(100));
        for end in 1..good.len() {
            assert!(decoded(&good[..end], 9).is_err(), "{end} of {}", good.len());
        }
        let mut wrong_checksum = good.clone();
        wrong_checksum[good.len() - 6] ^= 1;
        assert!(decoded(&wrong_checksum, 9).is_err());
        assert!(decoded(b"tea with milk\n", 9).is_err());
        assert!(decoded(&[&good[..], b"trailing garbage"].concat(), 9).is_err());
    }
}
