//! The format of a file, by its first bytes.

use std::fs::File;
use std::io::{BufRead, Cursor, Read};
use std::path::Path;

use super::error::FormatError;
use super::rows::fields;
use super::{Format, finalfusion, npy, projector, yskip};
use crate::bytes::{Compression, read_error, read_magic};
use crate::snapshot::MAX_HEADER_BYTES;
use crate::{Error, Result};

const SAMPLE_BYTES: u64 = 64 << 10;

/// Recognizes the format of a file or folder by its content; the file may be compressed.
pub fn recognize(path: impl AsRef<Path>) -> Result<Format> {
    let path = path.as_ref();
    if !path.is_dir() {
        return Opened::new(path)?.format(path);
    }
    if !projector::vectors_path(path).exists() {
        return Err(Error::format(path, FormatError::Folder));
    }
    Ok(Format::Projector)
}

pub(super) struct Opened {
    pub(super) compression: Compression,
    sample: Vec<u8>,
    rest: Box<dyn BufRead + Send>,
}

impl Opened {
    pub(super) fn new(path: &Path) -> Result<Opened> {
        let mut file = File::open(path).map_err(Error::io(path))?;
        let magic = read_magic(&mut file).map_err(Error::io(path))?;
        let compression = Compression::of(&magic);
        let mut rest = compression.decode(Cursor::new(magic).chain(file), path)?;
        let mut sample = Vec::new();
        rest.by_ref().take(SAMPLE_BYTES).read_to_end(&mut sample).map_err(|error| read_error(path, error))?;
        Ok(Opened { compression, sample, rest })
    }

    pub(super) fn format(&self, path: &Path) -> Result<Format> {
        format_of(&self.sample).map_err(|cause| Error::format(path, cause))
    }

    pub(super) fn into_reader(self) -> impl BufRead {
        Cursor::new(self.sample).chain(self.rest)
    }
}

/// The format of a file that begins with these bytes.
fn format_of(sample: &[u8]) -> std::result::Result<Format, FormatError> {
    let is_safetensors = match sample.split_first_chunk::<8>() {
        Some((length, rest)) => u64::from_le_bytes(*length) <= MAX_HEADER_BYTES && rest.starts_with(b"{"),
        None => false,
    };
    match sample {
        [] => Err(FormatError::Empty),
        _ if is_safetensors => Ok(Format::Safetensors),
        _ if sample.starts_with(finalfusion::MAGIC) => Ok(Format::Finalfusion),
        _ if sample.starts_with(npy::MAGIC) => Ok(Format::Npy),
        [0xBA, 0x16, 0x4F, 0x2F, ..] => Err(FormatError::FastTextBinary),
        [0x80, 2..=5, ..] => Err(FormatError::Pickle),
        _ => text_format_of(sample),
    }
}

/// The format of a file that begins with a line of text.
fn text_format_of(sample: &[u8]) -> std::result::Result<Format, FormatError> {
    let (first, rest) = match sample.iter().position(|&byte| byte == b'\n') {
        Some(end) => (&sample[..end], &sample[end + 1..]),
        None => (sample, &[][..]),
    };
    // Only the words may be something other than ASCII, and only they may be broken.
    let first = String::from_utf8_lossy(first);
    let parts: Vec<&str> = fields(first.trim_ascii()).collect();
    let is_count = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = |part: &&str| part.parse::<f32>().is_ok();
    let is_cut = sample.len() as u64 == SAMPLE_BYTES;
    match parts[..] {
        [words, dimensions] if is_count(words) && is_count(dimensions) => {
            let is_text = is_printable(rest, is_cut) || are_lines(rest, is_cut);
            Ok(if is_text { Format::Word2vecText } else { Format::Word2vecBinary })
        }
        _ if yskip::is_first_line(&first) => Ok(Format::Yskip),
        [_, _, ..] if first.contains('\t') && parts.iter().all(is_number) => Err(FormatError::NoWords),
        // The sample may end within the last part.
        [_, .., next_to_last, last] if is_number(if is_cut { &next_to_last } else { &last }) => {
            Ok(Format::Glove)
        }
        _ => Err(FormatError::Unknown),
    }
}

/// Whether this is UTF-8 without control characters, as text is even where its values are wrong, and vectors of bytes are
/// not. The last character may be cut.
fn is_printable(rest: &[u8], is_cut: bool) -> bool {
    let text = match str::from_utf8(rest) {
        Ok(text) => text,
        Err(error) if is_cut && error.error_len().is_none() => {
            str::from_utf8(&rest[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !text.contains(|character: char| character.is_control() && !character.is_ascii_whitespace())
}

/// Whether the next two lines have a word and values, as text does (with words of any bytes) and vectors of bytes do not
/// but by a rare accident.
fn are_lines(rest: &[u8], is_cut: bool) -> bool {
    let mut lines: Vec<&[u8]> = rest.split(|&byte| byte == b'\n').take(3).collect();
    let is_whole = |line: &[u8]| {
        let line = String::from_utf8_lossy(line);
        let parts: Vec<&str> = fields(line.trim_ascii_end()).collect();
        parts.is_empty() || parts.len() > 1 && parts[parts.len() - 1].parse::<f32>().is_ok()
    };
    if let [only] = lines[..]
        && is_cut
    {
        // Not even one line is whole, and the last part may not be either.
        let line = String::from_utf8_lossy(only);
        return fields(&line).rev().nth(1).is_some_and(|part| part.parse::<f32>().is_ok());
    }
    if is_cut || lines.len() == 3 {
        lines.pop();
    }
    lines.into_iter().all(is_whole)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::any_embeddings;
    use super::super::write;
    use super::*;

    #[track_caller]
    fn assert_format(sample: impl AsRef<[u8]>, format: Format) {
        assert_eq!(format_of(sample.as_ref()), Ok(format));
    }

    #[test]
    fn formats_are_told_by_their_first_bytes() {
        assert_format("2 3\nthe 1 2 3\n", Format::Word2vecText);
        assert_format("2 3\r\nnew\tyork 1 2 3 \r\n", Format::Word2vecText);
        assert_format("0 3\n", Format::Word2vecText);
        assert_format(b"1 1\nthe \x00\x00\x80\x3f\n", Format::Word2vecBinary);
        assert_format(b"1 3\n\xc3 1 2 3\n", Format::Word2vecText);
        assert_format("the 1 2 3\n", Format::Glove);
        assert_format("the 1e-5 2", Format::Glove);
        assert_format("99999999999999999999999 5\n", Format::Word2vecText);
        assert_format(b"1 1\nthe 8\n\x14\x1e\n", Format::Word2vecBinary);
        assert_format(b"2 2\nthe 8\n\x14\x1e\n", Format::Word2vecBinary);
        assert_format("2\t9\t2\t5\t5\t0.750000\t0.001000\t0.100000\t9\nthe\t7\t", Format::Yskip);
        assert_format(b"FiFu\0\0\0\0", Format::Finalfusion);
        assert_format(b"\x93NUMPY\x01\x00", Format::Npy);
        assert_format(b"\x09\0\0\0\0\0\0\0{\"a\":1}", Format::Safetensors);
    }

    #[test]
    fn printable_text_is_never_binary() {
        assert_format("2 2\n</s> 0.1 0.2\nof 0,3 0,4\n", Format::Word2vecText);
        assert_format("2 3\na 1 2 3\nb 1 2 x\n", Format::Word2vecText);
        assert_format("1 2\nkäse eins zwei", Format::Word2vecText);
        let cut = format!("1 2\nx{}", "ä".repeat(40_000));
        assert_format(&cut.as_bytes()[..SAMPLE_BYTES as usize], Format::Word2vecText);
    }

    #[test]
    fn long_lines_are_told_by_their_first_part() {
        let long = format!("1 40000\nthe {}", "0.25 ".repeat(40_000));
        assert_format(&long.as_bytes()[..SAMPLE_BYTES as usize], Format::Word2vecText);
        let long = format!("the {}", "-1.5e-7 ".repeat(40_000));
        assert_format(&long.as_bytes()[..SAMPLE_BYTES as usize], Format::Glove);
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_what_to_do() {
        for (sample, part) in [
            (&b""[..], "the file is empty"),
            (b"\xba\x16\x4f\x2f\x0c\0\0\0", "use the .vec file"),
            (b"\x80\x04\x95", "save_word2vec_format"),
            (b"this is no model at all", "not a model file"),
            (b"0.5\t-1\n", "name its folder"),
            (b"0.5\t-1\t3e-5\n", "name its folder"),
            (b"\0\0\0\0\0\0\0\0", "not a model file"),
        ] {
            let message = format_of(sample).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_recognized(embeddings in any_embeddings()) {
            for format in [Format::Word2vecText, Format::Word2vecBinary, Format::Finalfusion] {
                let mut bytes = Vec::new();
                let is_written = write(&embeddings, format, &mut bytes, Path::new("out")).is_ok();
                // A file of no words is the same in both formats of word2vec, and a few bytes may be letters by chance.
                let is_ambiguous = format == Format::Word2vecBinary && is_printable(&bytes, false);
                if is_written && !is_ambiguous {
                    prop_assert_eq!(format_of(&bytes), Ok(format));
                }
            }
        }

        #[test]
        fn any_bytes_are_recognized_or_refused_but_never_panic(
            start in "([0-9a ]{0,9}\n){0,2}",
            rest in proptest::collection::vec(any::<u8>(), 0..99),
        ) {
            let _ = format_of(&[start.as_bytes(), &rest].concat());
        }
    }
}
