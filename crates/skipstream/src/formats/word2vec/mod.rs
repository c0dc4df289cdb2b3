//! The two formats of Mikolov's word2vec, which every other program reads.
//!
//! Both start with a line `words dimensions`. In the text format a line for each word follows:
//! the word and its values, separated by spaces. In the binary format each word is followed by a
//! space, its values as little-endian `f32`, and a line feed that some programs leave out.
//!
//! fastText's `.vec` is the text format. GloVe's is the text format without its first line.
//! None of them has counts.

mod binary;
mod counts;
mod text;

pub(super) use binary::{read_binary, write_binary};
pub use counts::{read_counts, save_counts};
pub use text::FirstLine;
pub(super) use text::{read_text, write_text};

use std::io::{self, Write};
use std::path::Path;

use super::error::{Defect, FormatError};
use super::rows::{Checked, fields};
use crate::embeddings::Embeddings;
use crate::{Error, Result};

/// Options for writing word2vec files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SaveOptions<'a> {
    /// The first line. Without sizes, the text format is GloVe's; no program reads such a binary file.
    pub first_line: FirstLine,
    /// A prefix for each word.
    pub prefix: &'a str,
}

#[derive(Clone, Copy)]
struct Header {
    words: usize,
    dimensions: usize,
}

impl Header {
    fn parse(line: &str) -> Checked<Header> {
        let mut numbers = fields(line.trim_ascii_end()).map(str::parse);
        let (Some(Ok(words)), Some(Ok(dimensions)), None) = (numbers.next(), numbers.next(), numbers.next())
        else {
            return Err(Defect::Expected("the number of words and of dimensions"));
        };
        Ok(Header { words, dimensions })
    }
}

/// Writes either format; they differ in `write_vector`.
fn write<Writer: Write>(
    embeddings: &Embeddings,
    mut writer: Writer,
    name: &Path,
    options: &SaveOptions<'_>,
    write_vector: impl Fn(&mut Writer, &[f32]) -> io::Result<()>,
) -> Result<()> {
    check_words(embeddings, options.prefix, name)?;
    let mut write_all = || {
        if options.first_line == FirstLine::Sizes {
            writeln!(writer, "{} {}", embeddings.len(), embeddings.dimensions())?;
        }
        for row in 0..embeddings.len() {
            write!(writer, "{}{} ", options.prefix, embeddings.word(row))?;
            write_vector(&mut writer, &embeddings.vector_at(row))?;
            writeln!(writer)?;
        }
        writer.flush()
    };
    write_all().map_err(Error::io(name))
}

/// Rejects words that word2vec files cannot represent.
fn check_words(embeddings: &Embeddings, prefix: &str, name: &Path) -> Result<()> {
    if !prefix.is_empty() && !is_writable(prefix) {
        let value = format!("`{}`", prefix.escape_debug());
        return Err(Error::setting("prefix", value, "without white space"));
    }
    if let Some(word) = embeddings.words().find(|word| !is_writable(word)) {
        return Err(Error::format(name, FormatError::Word { word: word.to_owned() }));
    }
    Ok(())
}

/// Readers of these formats treat other Unicode spaces as letters.
fn is_writable(word: &str) -> bool {
    !word.is_empty()
        && !word.contains(|letter: char| letter.is_ascii() && letter.is_whitespace() || letter == '\x0B')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::LoadOptions;
    use super::super::testing::{any_embeddings, assert_same, small, with_policy};
    use super::*;
    use crate::corpus::InvalidUtf8;

    fn text(embeddings: &Embeddings) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_text(embeddings, &mut bytes, Path::new("out.txt"), &SaveOptions::default()).unwrap();
        bytes
    }

    fn binary(embeddings: &Embeddings) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_binary(embeddings, &mut bytes, Path::new("out.bin"), &SaveOptions::default()).unwrap();
        bytes
    }

    fn from_text(bytes: &[u8]) -> Result<Embeddings> {
        read_text(bytes, Path::new("in.txt"), FirstLine::Sizes, &LoadOptions::default())
    }

    fn from_binary(bytes: &[u8]) -> Result<Embeddings> {
        read_binary(bytes, Path::new("in.bin"), &LoadOptions::default())
    }

    #[test]
    fn the_first_line_may_be_left_out_and_words_may_have_a_prefix() {
        let options = SaveOptions { first_line: FirstLine::Word, prefix: "*dt_" };
        let mut bytes = Vec::new();
        write_text(&small(), &mut bytes, Path::new("out.txt"), &options).unwrap();
        assert!(bytes.starts_with(b"*dt_the 0.1 -2.5\n"));
        let read = read_text(&bytes[..], Path::new("in.txt"), FirstLine::Word, &LoadOptions::default());
        assert!(read.unwrap().words().eq(["*dt_the", "*dt_käse"]));
    }

    #[test]
    fn no_words_make_a_round_trip() {
        let none: [(&str, u64); 0] = [];
        let empty = Embeddings::new(7, none, Vec::new()).unwrap();
        assert_same(&from_text(&text(&empty)).unwrap(), &empty);
        assert_same(&from_binary(&binary(&empty)).unwrap(), &empty);
    }

    #[test]
    fn a_word_with_white_space_is_not_written() {
        for word in ["new york", "", "a\tb", "a\nb", "a\x0Bb"] {
            let embeddings = Embeddings::new(1, [(word, 1)], vec![0.0]).unwrap();
            let mut bytes = Vec::new();
            let error =
                write_text(&embeddings, &mut bytes, Path::new("out"), &SaveOptions::default()).unwrap_err();
            let start = format!("out: the format cannot represent the word `{}`", word.escape_debug());
            assert!(error.to_string().starts_with(&start), "{error}");
            assert!(
                write_binary(&embeddings, &mut bytes, Path::new("out"), &SaveOptions::default()).is_err()
            );
            assert!(bytes.is_empty());
        }
    }

    #[test]
    fn a_full_disk_is_an_error_with_the_name() {
        let mut room = [0; 5];
        let error = write_text(&small(), room.as_mut_slice(), Path::new("out.txt"), &SaveOptions::default())
            .unwrap_err();
        assert!(error.to_string().starts_with("out.txt: "));
    }

    #[test]
    fn a_header_that_is_not_two_numbers_is_refused() {
        let reason = "expected the number of words and of dimensions";
        for header in ["2 x\n", "-1 5\n", "99999999999999999999999 5\n", "2 2 2\n"] {
            let message = from_text(header.as_bytes()).unwrap_err().to_string();
            assert_eq!(message, format!("in.txt: line 1: {reason}"));
            let message = from_binary(header.as_bytes()).unwrap_err().to_string();
            assert_eq!(message, format!("in.bin: byte 0: {reason}"));
        }
    }

    #[test]
    fn dimensions_beyond_the_limit_are_refused() {
        for dimensions in ["0", "65537", "18446744073709551615"] {
            let header = format!("1 {dimensions}\n");
            let reason = format!("{dimensions} dimensions; the number must be from 1 to 65536");
            let message = from_text(header.as_bytes()).unwrap_err().to_string();
            assert_eq!(message, format!("in.txt: line 1: {reason}"));
            let message = from_binary(header.as_bytes()).unwrap_err().to_string();
            assert_eq!(message, format!("in.bin: byte 0: {reason}"));
        }
    }

    proptest! {
        #[test]
        fn a_round_trip_keeps_words_and_vectors_bit_for_bit(embeddings in any_embeddings()) {
            assert_same(&from_text(&text(&embeddings)).unwrap(), &embeddings);
            assert_same(&from_binary(&binary(&embeddings)).unwrap(), &embeddings);
        }

        #[test]
        fn any_bytes_are_read_or_refused_but_never_panic(
            header in "[0-9]{0,3} [0-9]{0,2}\n",
            rest in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            let bytes = [header.as_bytes(), &rest].concat();
            for policy in [InvalidUtf8::Error, InvalidUtf8::Replace, InvalidUtf8::Skip] {
                for bytes in [&bytes[..], &rest] {
                    for first in [FirstLine::Sizes, FirstLine::Word] {
                        let _ = read_text(bytes, Path::new("in"), first, &with_policy(policy));
                    }
                    let _ = read_binary(bytes, Path::new("in"), &with_policy(policy));
                }
            }
        }

        #[test]
        fn a_file_that_was_cut_is_refused(embeddings in any_embeddings(), share in 0.0..1.0f64) {
            let bytes = binary(&embeddings);
            // Without the last line feed it is still whole.
            let length = ((bytes.len() - 1) as f64 * share) as usize;
            prop_assert!(from_binary(&bytes[..length]).is_err());
        }
    }
}
