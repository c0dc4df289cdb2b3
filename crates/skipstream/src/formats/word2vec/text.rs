//! word2vec's text format, with or without its first line.

use std::io::{BufRead, Write};
use std::path::Path;

use super::super::LoadOptions;
use super::super::error::{Defect, FormatError};
use super::super::lines::{Line, Lines};
use super::super::rows::{MAX_DIMENSIONS, MAX_VALUE_BYTES, MAX_WORD_BYTES, Rows, fields, write_values};
use super::{Header, SaveOptions, write};
use crate::corpus::InvalidUtf8;
use crate::embeddings::Embeddings;
use crate::{Error, Result};

const MAX_LINE_BYTES: usize = MAX_WORD_BYTES + MAX_DIMENSIONS * MAX_VALUE_BYTES;

/// The content of the first line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FirstLine {
    /// The number of words and of dimensions: word2vec and fastText.
    #[default]
    Sizes,
    /// The first word: GloVe.
    Word,
}

/// Writes the text format, each value with the fewest digits that represent it exactly.
pub(in super::super) fn write_text(
    embeddings: &Embeddings,
    writer: impl Write,
    name: &Path,
    options: &SaveOptions<'_>,
) -> Result<()> {
    write(embeddings, writer, name, options, |writer, vector| write_values(writer, vector, " "))
}

/// Reads the text format. `name` is for error messages.
///
/// A word may contain spaces, as some of GloVe's do: the last fields are the values, and everything before them is the
/// word. Only the first part of such a word may be a number, so that a wrong number of dimensions is noticed.
pub(in super::super) fn read_text(
    reader: impl BufRead,
    name: &Path,
    first_line: FirstLine,
    options: &LoadOptions,
) -> Result<Embeddings> {
    let limit = options.limit.unwrap_or(usize::MAX);
    let mut lines = Lines::new(reader, name, MAX_LINE_BYTES).lossy();
    let mut n_lines = 0;
    let first = lines.next()?.ok_or_else(|| Error::format(name, FormatError::Empty))?;
    let (promised, mut rows) = match first_line {
        FirstLine::Sizes => {
            let header = Header::parse(first.text).map_err(|defect| first.error(defect))?;
            (Some(header.words), Rows::new(header.dimensions).map_err(|defect| first.error(defect))?)
        }
        FirstLine::Word => {
            let dimensions = fields(first.text).count().saturating_sub(1);
            let mut rows = Rows::new(dimensions).map_err(|defect| first.error(defect))?;
            push_line(&mut rows, first, options.invalid_utf8)?;
            (None, rows)
        }
    };
    loop {
        if rows.len() >= limit {
            return rows.finish();
        }
        let Some(line) = lines.next()? else { break };
        if promised == Some(n_lines) {
            return Err(line.error(Defect::Extra));
        }
        n_lines += 1;
        push_line(&mut rows, line, options.invalid_utf8)?;
    }
    if let Some(promised) = promised.filter(|&promised| promised != n_lines) {
        return Err(Error::format(name, FormatError::WordCount { stated: promised, found: n_lines }));
    }
    rows.finish()
}

fn push_line(rows: &mut Rows, line: Line<'_>, invalid_utf8: InvalidUtf8) -> Result<()> {
    match invalid_utf8 {
        InvalidUtf8::Error if line.is_replaced => return Err(line.error(Defect::WordNotUtf8)),
        InvalidUtf8::Skip if line.is_replaced => return Ok(()),
        _ => {}
    }
    let dimensions = rows.dimensions();
    let n_fields = fields(line.text).count();
    let word = match n_fields.checked_sub(dimensions) {
        Some(1) => fields(line.text).next(),
        Some(2..) => spaced_word(line.text, dimensions),
        _ => None,
    };
    let word = word.ok_or_else(|| {
        line.error(Defect::Values { found: n_fields.saturating_sub(1), expected: dimensions })
    })?;
    rows.push_word(word).map_err(|defect| line.error(defect))?;
    rows.push_fields(fields(line.text).skip(n_fields - dimensions)).map_err(|defect| line.error(defect))
}

/// The word before the values if it has several parts, of which only the first may be a number.
fn spaced_word(line: &str, dimensions: usize) -> Option<&str> {
    let first_value = fields(line).rev().nth(dimensions - 1)?;
    let start_of_values = first_value.as_ptr() as usize - line.as_ptr() as usize;
    let word = line[..start_of_values].trim_matches([' ', '\t']);
    fields(word).skip(1).all(|part| part.parse::<f32>().is_err()).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{small, with_policy};
    use super::*;

    fn read(text: &str) -> Result<Embeddings> {
        read_text(text.as_bytes(), Path::new("in.txt"), FirstLine::Sizes, &LoadOptions::default())
    }

    fn read_glove(text: &str) -> Result<Embeddings> {
        read_text(text.as_bytes(), Path::new("in.txt"), FirstLine::Word, &LoadOptions::default())
    }

    #[track_caller]
    fn assert_refused(result: Result<Embeddings>, message: &str) {
        assert_eq!(result.unwrap_err().to_string(), format!("in.txt: {message}"));
    }

    #[test]
    fn text_is_what_other_programs_expect() {
        let mut bytes = Vec::new();
        write_text(&small(), &mut bytes, Path::new("out.txt"), &SaveOptions::default()).unwrap();
        let expected = "2 2\nthe 0.1 -2.5\nkäse 0.00000000000000000001 -0\n";
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }

    #[test]
    fn the_order_of_the_file_is_the_order_of_the_rows() {
        let embeddings = read("3 1\nz 1\ny 2\na 3\n").unwrap();
        assert!(embeddings.words().eq(["z", "y", "a"]));
        assert_eq!((embeddings.count(0), embeddings.count(2)), (3, 1));
    }

    #[test]
    fn trailing_spaces_tabs_and_carriage_returns_are_accepted() {
        let embeddings = read("1 2 \r\na\t1 2 \r\n\r\n").unwrap();
        assert_eq!(embeddings.vector("a").unwrap(), [1.0, 2.0].as_slice());
    }

    #[test]
    fn what_fasttext_writes_is_read() {
        // A space after each value, the end of a sentence as a word, and a word with a space that is no separator.
        let embeddings = read("3 2\n</s> 0.1 -0.2 \nnew\u{a0}york 1 2e-05 \n\u{3000} 5 6 \n").unwrap();
        assert!(embeddings.words().eq(["</s>", "new\u{a0}york", "\u{3000}"]));
        assert_eq!(embeddings.vector("new\u{a0}york").unwrap(), [1.0, 2e-5].as_slice());
    }

    #[test]
    fn text_without_a_first_line_is_read() {
        let embeddings = read_glove("the 1 2\nof 3 4\n").unwrap();
        assert_eq!(embeddings.vector("of").unwrap(), [3.0, 4.0].as_slice());
        assert!(read_glove("2 2\nof 3\n").is_ok(), "a number is a word like any other");
    }

    #[test]
    fn words_with_spaces_are_read() {
        let embeddings = read_glove("the 1 2\n. . . 3 4\nat name@domain.com\t5 6\n7 up 7 8\n").unwrap();
        assert!(embeddings.words().eq(["the", ". . .", "at name@domain.com", "7 up"]));
        assert_eq!(embeddings.vector("7 up").unwrap(), [7.0, 8.0].as_slice());
    }

    #[test]
    fn dimensions_that_lie_are_not_taken_for_words_with_spaces() {
        assert_refused(read("1 2\nthe 1 2 3\n"), "line 2: 3 values; expected 2");
        assert_refused(read("1 4\nthe 1 2 3\n"), "line 2: 3 values; expected 4");
        assert_refused(read("1 2\nthe\n"), "line 2: 0 values; expected 2");
    }

    #[test]
    fn an_empty_file_is_refused() {
        assert_refused(read(""), "the file is empty");
        assert_refused(read_glove(" \n\n"), "the file is empty");
        assert_refused(read_glove("alone\n"), "line 1: 0 dimensions; the number must be from 1 to 65536");
    }

    #[test]
    fn more_words_promised_than_there_are_is_refused_without_room_for_them() {
        let most = usize::MAX;
        let message = format!("the first line states {most} words; the file has 1");
        assert_refused(read(&format!("{most} 2\na 1 2\n")), &message);
    }

    #[test]
    fn fewer_words_promised_than_there_are_is_refused() {
        let message = "line 3: more data than the header states";
        assert_refused(read("1 1\na 1\nb 2\n"), message);
    }

    #[test]
    fn a_value_that_is_not_a_number_is_refused() {
        assert_refused(read("1 2\na 1 b\n"), "line 2: value 2 is `b`; it must be a number");
        assert_refused(read("1 2\na 1 1e99\n"), "line 2: value 2 of word 1 is inf; it must be finite");
        assert_refused(read("1 2\na nan 1\n"), "line 2: value 1 of word 1 is NaN; it must be finite");
    }

    #[test]
    fn a_duplicate_word_is_refused_with_both_places() {
        let message = "line 4: `a` is repeated; it is also word 1";
        assert_refused(read("3 1\na 1\nb 2\na 2\n"), message);
    }

    #[test]
    fn a_word_that_is_not_utf8_is_refused_replaced_or_left_out() {
        let bytes = b"3 1\na 1\n\xc3 2\nc 3\n";
        let read =
            |policy| read_text(&bytes[..], Path::new("in.txt"), FirstLine::Sizes, &with_policy(policy));
        assert_refused(read(InvalidUtf8::Error), "line 3: a word is not valid UTF-8");
        assert!(read(InvalidUtf8::Replace).unwrap().words().eq(["a", "\u{fffd}", "c"]));
        assert!(read(InvalidUtf8::Skip).unwrap().words().eq(["a", "c"]));
        let glove = read_text(
            &b"\xc3 1 2\nb 3 4\n"[..],
            Path::new("in"),
            FirstLine::Word,
            &with_policy(InvalidUtf8::Skip),
        );
        assert!(glove.unwrap().words().eq(["b"]));
    }

    #[test]
    fn an_endless_line_is_refused() {
        let endless = std::io::BufReader::new(std::io::repeat(b'a'));
        let result = read_text(endless, Path::new("in.txt"), FirstLine::Word, &LoadOptions::default());
        assert_refused(result, "line 1: the line is longer than 4259840 bytes");
    }
}
