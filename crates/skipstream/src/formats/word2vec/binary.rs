//! word2vec's binary format.

use std::io::{BufRead, Write};
use std::path::Path;

use super::super::LoadOptions;
use super::super::error::Defect;
use super::super::input::Input;
use super::super::rows::{MAX_WORD_BYTES, Rows};
use super::{Header, SaveOptions, write};
use crate::Result;
use crate::corpus::InvalidUtf8;
use crate::embeddings::Embeddings;

const MAX_HEADER_BYTES: usize = 64;

/// Writes the binary format, with a line feed after each vector.
pub(in super::super) fn write_binary(
    embeddings: &Embeddings,
    writer: impl Write,
    name: &Path,
    options: &SaveOptions<'_>,
) -> Result<()> {
    write(embeddings, writer, name, options, |writer, vector| writer.write_all(bytemuck::cast_slice(vector)))
}

/// Reads the binary format, with or without a line feed after each vector. `name` is for error messages.
pub(in super::super) fn read_binary(
    reader: impl BufRead,
    name: &Path,
    options: &LoadOptions,
) -> Result<Embeddings> {
    let limit = options.limit.unwrap_or(usize::MAX);
    let mut file = Input::new(reader, name);
    let header = file.until(b'\n', MAX_HEADER_BYTES, "the first line")?;
    let header = str::from_utf8(&header)
        .map_err(|_| Defect::NotUtf8)
        .and_then(Header::parse)
        .map_err(|defect| file.error(0, defect))?;
    let mut rows = Rows::new(header.dimensions).map_err(|defect| file.error(0, defect))?;
    for _ in 0..header.words {
        if rows.len() >= limit {
            return rows.finish();
        }
        let start = file.offset();
        let word = file.until(b' ', MAX_WORD_BYTES + 1, "a word")?;
        // The line feed after the previous vector, if there is one; some programs write several.
        let line_feeds = word.iter().take_while(|&&byte| byte == b'\n').count();
        let word = &word[line_feeds..];
        let word = String::from_utf8_lossy(word);
        let is_valid = matches!(word, std::borrow::Cow::Borrowed(_));
        match options.invalid_utf8 {
            InvalidUtf8::Error if !is_valid => return Err(file.error(start, Defect::WordNotUtf8)),
            InvalidUtf8::Skip if !is_valid => file.skip(4 * header.dimensions as u64, "a vector")?,
            _ => {
                rows.push_word(&word).map_err(|defect| file.error(start, defect))?;
                file.vector(&mut rows)?;
            }
        }
    }
    // Nothing but a line feed may follow.
    let end = file.offset();
    if !file.is_at_end()? && (file.array::<1>("the end")? != *b"\n" || !file.is_at_end()?) {
        return Err(file.error(end, Defect::Extra));
    }
    rows.finish()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::super::super::testing::{small, with_policy};
    use super::*;

    fn read(bytes: &[u8]) -> Result<Embeddings> {
        read_binary(bytes, Path::new("in.bin"), &LoadOptions::default())
    }

    #[track_caller]
    fn assert_refused(bytes: &[u8], message: &str) {
        assert_eq!(read(bytes).unwrap_err().to_string(), format!("in.bin: {message}"));
    }

    #[test]
    fn binary_is_what_mikolovs_program_writes() {
        let mut expected = b"2 2\nthe ".to_vec();
        expected.extend([0.1f32.to_le_bytes(), (-2.5f32).to_le_bytes()].concat());
        expected.extend("\nkäse ".as_bytes());
        expected.extend([1e-20f32.to_le_bytes(), (-0.0f32).to_le_bytes()].concat());
        expected.extend(b"\n");
        let mut bytes = Vec::new();
        write_binary(&small(), &mut bytes, Path::new("out.bin"), &SaveOptions::default()).unwrap();
        assert_eq!(bytes, expected);
    }

    #[test]
    fn binary_without_line_feeds_is_read() {
        let bytes = [b"2 1\na ".as_slice(), &[0; 4], b"b ", &[0; 4]].concat();
        assert!(read(&bytes).unwrap().words().eq(["a", "b"]));
    }

    #[test]
    fn line_feeds_before_a_word_are_no_part_of_it() {
        let bytes = [b"2 1\n\na ".as_slice(), &[0; 4], b"\n\nb ", &[0; 4]].concat();
        assert!(read(&bytes).unwrap().words().eq(["a", "b"]));
    }

    #[test]
    fn an_empty_file_is_refused() {
        assert_refused(b"", "byte 0: the file ends in the first line");
    }

    #[test]
    fn more_words_promised_than_there_are_is_refused_without_room_for_them() {
        let bytes = [format!("{} 65536\na ", usize::MAX).as_bytes(), &[0; 8]].concat();
        assert_refused(&bytes, "byte 29: the file ends in a vector");
        let bytes = [b"2 1\na ".as_slice(), &[0; 4]].concat();
        assert_refused(&bytes, "byte 10: the file ends in a word");
    }

    #[test]
    fn fewer_words_promised_than_there_are_is_refused() {
        let bytes = [b"1 1\na ".as_slice(), &[0; 4], b"\nb ", &[0; 4]].concat();
        assert_refused(&bytes, "byte 10: more data than the header states");
    }

    #[test]
    fn a_value_that_is_not_finite_is_refused() {
        let bytes = [b"1 2\na ".as_slice(), &[0; 4], &f32::NAN.to_le_bytes()].concat();
        assert_refused(&bytes, "byte 10: value 2 of word 1 is NaN; it must be finite");
    }

    #[test]
    fn a_duplicate_word_is_refused_with_both_places() {
        let bytes = [b"2 1\na ".as_slice(), &[0; 4], b"\na ", &[0; 4]].concat();
        assert_refused(&bytes, "byte 10: `a` is repeated; it is also word 1");
    }

    #[test]
    fn an_endless_word_is_refused() {
        let endless = std::io::Cursor::new(b"1 1\n").chain(std::io::repeat(b'a'));
        let endless = std::io::BufReader::new(endless);
        let message = read_binary(endless, Path::new("in.bin"), &LoadOptions::default()).unwrap_err();
        assert_eq!(message.to_string(), "in.bin: byte 4: a word is longer than 65537 bytes");
    }

    #[test]
    fn an_empty_word_is_refused() {
        assert_refused(&[b"1 1\n ".as_slice(), &[0; 4]].concat(), "byte 4: `` is not a word");
    }

    #[test]
    fn a_word_that_is_not_utf8_is_refused_replaced_or_left_out() {
        let bytes = [b"2 1\n\xc3 ".as_slice(), &[0; 4], b"\nb ", &[0; 4]].concat();
        let read = |policy| read_binary(bytes.as_slice(), Path::new("in.bin"), &with_policy(policy));
        assert_refused(&bytes, "byte 4: a word is not valid UTF-8");
        assert!(read(InvalidUtf8::Replace).unwrap().words().eq(["\u{fffd}", "b"]));
        assert!(read(InvalidUtf8::Skip).unwrap().words().eq(["b"]));
    }
}
