//! Turns the bytes of an upload into chunks of lines.

use std::io::Write;
use std::mem;

use flate2::write::MultiGzDecoder;
use skipstream::corpus::InvalidUtf8;

use super::lines::Lines;
use super::problem::Problem;
use super::record::Kind;
use crate::log::Chunk;
use crate::settings::ServeSettings;

/// Compressed bytes to decode at a time: at worst they expand a thousandfold, to a megabyte.
const GZIP_STEP: usize = 1 << 10;

/// Decompresses bytes, cuts them into lines and collects these in chunks.
pub struct Decoder {
    kind: Kind,
    invalid_utf8: InvalidUtf8,
    gzip: Option<Box<MultiGzDecoder<Vec<u8>>>>,
    lines: Lines,
    /// Full chunks, and one that is not full.
    pub chunks: Vec<Chunk>,
    received: u64,
    /// Bytes after decompression.
    decoded: u64,
    most: u64,
}

impl Decoder {
    pub fn new(kind: Kind, is_gzip: bool, invalid_utf8: InvalidUtf8, settings: &ServeSettings) -> Decoder {
        Decoder {
            kind,
            invalid_utf8,
            gzip: is_gzip.then(|| Box::new(MultiGzDecoder::new(Vec::new()))),
            lines: Lines::new(settings.max_line_bytes),
            chunks: vec![Chunk::default()],
            received: 0,
            decoded: 0,
            most: settings.max_body_bytes,
        }
    }

    /// The number of bytes to take at a time.
    pub fn step(&self) -> usize {
        if self.gzip.is_some() { GZIP_STEP } else { usize::MAX }
    }

    pub fn line(&self) -> u64 {
        self.lines.number()
    }

    /// Whether there are lines that are not logged yet.
    pub fn has_lines(&self) -> bool {
        self.chunks.iter().any(|chunk| !chunk.is_empty())
    }

    /// Takes the next bytes of the body.
    pub fn take(&mut self, piece: &[u8]) -> Result<(), Problem> {
        self.received += piece.len() as u64;
        // There may be many empty gzip members.
        if self.received > self.most {
            return Err(self.too_long());
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
        let Decoder { lines, chunks, kind, invalid_utf8, .. } = self;
        lines.finish(|number, line| push(chunks, kind.read(number, line, *invalid_utf8)?))
    }

    fn take_text(&mut self, text: &[u8]) -> Result<(), Problem> {
        self.decoded += text.len() as u64;
        if self.decoded > self.most {
            return Err(self.too_long());
        }
        let Decoder { lines, chunks, kind, invalid_utf8, .. } = self;
        lines.take(text, |number, line| push(chunks, kind.read(number, line, *invalid_utf8)?))
    }

    fn too_long(&self) -> Problem {
        Problem::LongBody { line: self.line(), most: self.most }
    }

    fn corrupt(&self, error: &std::io::Error) -> Problem {
        Problem::Gzip { line: self.line(), reason: error.to_string() }
    }
}

fn push(chunks: &mut Vec<Chunk>, (text, time): super::record::Line<'_>) -> Result<(), Problem> {
    if chunks.last().is_none_or(|chunk| chunk.weight() >= Chunk::BYTES) {
        chunks.push(Chunk::default());
    }
    chunks.last_mut().expect("there is a chunk by now").push(&text, time);
    Ok(())
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
