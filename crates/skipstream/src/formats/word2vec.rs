//! The two formats of Mikolov's word2vec, which every other program reads.
//!
//! Both start with a line `words dimensions`. In the text format a line for each word follows:
//! the word and its values, separated by spaces. In the binary format each word is followed by a
//! space, its values as little-endian `f32`, and a line feed that some programs leave out.
//!
//! Neither format has counts. The readers therefore count a word by its place (the last one 1,
//! the one before 2, …), as gensim does: the order of the file, which is by frequency in files of
//! any program we know, stays the order of the rows.

use std::io::{BufRead, BufWriter, Read, Write};
use std::path::Path;

use super::lines::{Line, Lines};
use crate::embeddings::{Embeddings, Words};
use crate::{Error, Result};

/// The most dimensions that the readers accept.
pub const MAX_DIMENSIONS: usize = 1 << 16;

/// The longest word that the readers accept, in bytes.
pub const MAX_WORD_BYTES: usize = 1 << 16;

/// No `f32` needs more, even a subnormal one without an exponent and with a separator.
const MAX_VALUE_BYTES: usize = 64;
const MAX_LINE_BYTES: usize = MAX_WORD_BYTES + MAX_DIMENSIONS * MAX_VALUE_BYTES;
const MAX_HEADER_BYTES: usize = 64;

/// Writes the text format, each value with the fewest digits that give it back exactly.
///
/// It is an error if a word is empty or contains whitespace. `name` stands in error messages.
pub fn write_text(embeddings: &Embeddings, writer: impl Write, name: &Path) -> Result<()> {
    write(embeddings, writer, name, |writer, vector| {
        for (place, value) in vector.iter().enumerate() {
            let separator = if place == 0 { "" } else { " " };
            write!(writer, "{separator}{value}")?;
        }
        Ok(())
    })
}

/// Writes the binary format, with a line feed after each vector.
///
/// It is an error if a word is empty or contains whitespace. `name` stands in error messages.
pub fn write_binary(embeddings: &Embeddings, writer: impl Write, name: &Path) -> Result<()> {
    write(embeddings, writer, name, |writer, vector| {
        for value in vector {
            writer.write_all(&value.to_le_bytes())?;
        }
        Ok(())
    })
}

/// What the two formats share; `write_vector` is how they differ.
fn write<Writer: Write>(
    embeddings: &Embeddings,
    writer: Writer,
    name: &Path,
    write_vector: impl Fn(&mut BufWriter<Writer>, &[f32]) -> std::io::Result<()>,
) -> Result<()> {
    if let Some(word) = embeddings.words().find(|word| !is_writable(word)) {
        return Err(Error::Unsupported(format!(
            "`{word}` is empty or contains whitespace; word2vec files cannot hold such a word"
        )));
    }
    let mut writer = BufWriter::new(writer);
    let mut write_all = || {
        writeln!(writer, "{} {}", embeddings.len(), embeddings.dimensions())?;
        for row in 0..embeddings.len() {
            write!(writer, "{} ", embeddings.word(row))?;
            write_vector(&mut writer, &embeddings.vector_at(row))?;
            writeln!(writer)?;
        }
        writer.flush()
    };
    write_all().map_err(Error::io(name))
}

/// Other spaces of Unicode are letters to every reader of these formats.
fn is_writable(word: &str) -> bool {
    !word.is_empty() && !word.contains(|letter: char| letter.is_ascii() && letter.is_whitespace())
}

/// Reads the text format. `name` stands in error messages.
///
/// The first line may be missing, as in GloVe's files, if there are two dimensions or more.
pub fn read_text(reader: impl BufRead, name: &Path) -> Result<Embeddings> {
    let mut lines = Lines::new(reader, name, MAX_LINE_BYTES);
    let first = lines.next()?.ok_or_else(|| Error::malformed(name, "the file is empty"))?;
    let (header, mut rows) = match fields(first.text).count() {
        2 => {
            let header = Header::parse(first.text).map_err(|reason| first.error(reason))?;
            (Some(header), Rows::new(header.dimensions))
        }
        n_fields => {
            let dimensions = n_fields - 1;
            check_dimensions(dimensions).map_err(|reason| first.error(reason))?;
            let mut rows = Rows::new(dimensions);
            rows.push_line(first)?;
            (None, rows)
        }
    };
    while let Some(line) = lines.next()? {
        if header.is_some_and(|header| header.words == rows.words.len()) {
            return Err(line.error(format!("a word more than the {} promised", rows.words.len())));
        }
        rows.push_line(line)?;
    }
    if let Some(header) = header
        && rows.words.len() < header.words
    {
        return Err(Error::malformed(
            name,
            format!(
                "the first line promises {} words; the file ends after {}",
                header.words,
                rows.words.len()
            ),
        ));
    }
    rows.finish()
}

/// Reads the binary format, with or without a line feed after each vector. `name` stands in
/// error messages.
pub fn read_binary(reader: impl BufRead, name: &Path) -> Result<Embeddings> {
    let mut file = Binary { reader, name, offset: 0 };
    let header = file.until(b'\n', MAX_HEADER_BYTES, "the first line")?;
    let header = str::from_utf8(&header)
        .map_err(|_| "the first line is not text".to_owned())
        .and_then(Header::parse)
        .map_err(|reason| file.error(0, reason))?;
    let mut rows = Rows::new(header.dimensions);
    for _ in 0..header.words {
        let start = file.offset;
        let word = file.until(b' ', MAX_WORD_BYTES, "a word")?;
        // The line feed after the vector before, if there is one.
        let word = word.strip_prefix(b"\n").unwrap_or(&word);
        let word = str::from_utf8(word).map_err(|_| file.error(start, "a word is not UTF-8"))?;
        rows.push_word(word).map_err(|reason| file.error(start, reason))?;
        for place in 0..header.dimensions {
            let start = file.offset;
            let value = f32::from_le_bytes(file.four_bytes()?);
            rows.push_value(place, value).map_err(|reason| file.error(start, reason))?;
        }
    }
    file.end()?;
    rows.finish()
}

/// Something read, or what is wrong with it: the caller knows the place and adds it.
type Checked<T> = std::result::Result<T, String>;

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
            return Err("the first line must be the number of words and of dimensions".to_owned());
        };
        check_dimensions(dimensions)?;
        Ok(Header { words, dimensions })
    }
}

fn check_dimensions(dimensions: usize) -> Checked<()> {
    if (1..=MAX_DIMENSIONS).contains(&dimensions) {
        Ok(())
    } else {
        Err(format!("{dimensions} dimensions; they must be from 1 to {MAX_DIMENSIONS}"))
    }
}

fn fields(line: &str) -> impl Iterator<Item = &str> {
    line.split([' ', '\t']).filter(|field| !field.is_empty())
}

/// The rows read so far.
struct Rows {
    dimensions: usize,
    words: Words,
    vectors: Vec<f32>,
}

impl Rows {
    fn new(dimensions: usize) -> Rows {
        Rows { dimensions, words: Words::default(), vectors: Vec::new() }
    }

    fn push_line(&mut self, line: Line<'_>) -> Result<()> {
        let n_values = fields(line.text).count().saturating_sub(1);
        if n_values != self.dimensions {
            return Err(
                line.error(format!("{n_values} values after the word; there must be {}", self.dimensions))
            );
        }
        let mut fields = fields(line.text);
        let word = fields.next().unwrap_or_default();
        self.push_word(word).map_err(|reason| line.error(reason))?;
        for (place, field) in fields.enumerate() {
            let value = field.parse().map_err(|_| line.error(format!("value {} is `{field}`", place + 1)))?;
            self.push_value(place, value).map_err(|reason| line.error(reason))?;
        }
        Ok(())
    }

    fn push_word(&mut self, word: &str) -> Checked<()> {
        if word.is_empty() || word.contains('\n') {
            return Err(format!("`{}` is not a word", word.escape_debug()));
        }
        self.words
            .push(word)
            .map_err(|earlier| format!("`{word}` stands twice, first as word {}", earlier + 1))
    }

    fn push_value(&mut self, place: usize, value: f32) -> Checked<()> {
        if !value.is_finite() {
            return Err(format!("value {} is {value}; it must be finite", place + 1));
        }
        self.vectors.push(value);
        Ok(())
    }

    fn finish(self) -> Result<Embeddings> {
        let counts = (1..=self.words.len() as u64).rev().collect();
        Embeddings::from_list(self.dimensions, self.words, counts, self.vectors)
    }
}

/// Bytes of which we know how many were read.
struct Binary<'name, Reader> {
    reader: Reader,
    name: &'name Path,
    offset: u64,
}

impl<Reader: BufRead> Binary<'_, Reader> {
    /// The bytes before `end`, which is read too; `what` they are stands in error messages.
    fn until(&mut self, end: u8, max_bytes: usize, what: &str) -> Result<Vec<u8>> {
        let start = self.offset;
        let mut bytes = Vec::new();
        // Two bytes more: for `end`, and for the line feed before a word.
        let mut bounded = self.reader.by_ref().take(max_bytes as u64 + 2);
        let read = bounded.read_until(end, &mut bytes);
        self.offset += read.map_err(Error::io(self.name))? as u64;
        if bytes.pop_if(|last| *last == end).is_some() {
            Ok(bytes)
        } else if bytes.len() < max_bytes + 2 {
            Err(self.error(start, format!("the file ends in {what}")))
        } else {
            Err(self.error(start, format!("{what} is longer than {max_bytes} bytes")))
        }
    }

    fn four_bytes(&mut self) -> Result<[u8; 4]> {
        let mut bytes = [0; 4];
        self.reader.read_exact(&mut bytes).map_err(|error| {
            if error.kind() == std::io::ErrorKind::UnexpectedEof {
                self.error(self.offset, "the file ends in a vector")
            } else {
                Error::io(self.name)(error)
            }
        })?;
        self.offset += 4;
        Ok(bytes)
    }

    /// Nothing but a line feed may follow.
    fn end(&mut self) -> Result<()> {
        let mut rest = Vec::new();
        let mut bounded = self.reader.by_ref().take(2);
        bounded.read_to_end(&mut rest).map_err(Error::io(self.name))?;
        match rest.as_slice() {
            b"" | b"\n" => Ok(()),
            _ => Err(self.error(self.offset, "more bytes than the first line promises")),
        }
    }

    fn error(&self, offset: u64, reason: impl AsRef<str>) -> Error {
        let reason = reason.as_ref();
        Error::malformed(self.name, format!("byte {offset}: {reason}"))
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use proptest::prelude::*;

    use super::*;

    fn small() -> Embeddings {
        let vectors = vec![0.1, -2.5, 1e-20, -0.0];
        Embeddings::new(2, [("the", 9), ("käse", 3)], vectors).unwrap()
    }

    fn text(embeddings: &Embeddings) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_text(embeddings, &mut bytes, Path::new("out.txt")).unwrap();
        bytes
    }

    fn binary(embeddings: &Embeddings) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_binary(embeddings, &mut bytes, Path::new("out.bin")).unwrap();
        bytes
    }

    fn from_text(bytes: &[u8]) -> Result<Embeddings> {
        read_text(bytes, Path::new("in.txt"))
    }

    fn from_binary(bytes: &[u8]) -> Result<Embeddings> {
        read_binary(bytes, Path::new("in.bin"))
    }

    fn text_refusal(text: &str) -> String {
        from_text(text.as_bytes()).unwrap_err().to_string()
    }

    fn binary_refusal(bytes: &[u8]) -> String {
        from_binary(bytes).unwrap_err().to_string()
    }

    #[track_caller]
    fn assert_same(left: &Embeddings, right: &Embeddings) {
        assert_eq!(left.dimensions(), right.dimensions());
        assert!(left.words().eq(right.words()));
        let bits = |embeddings: &Embeddings| -> Vec<u32> {
            embeddings.vectors().flat_map(Cow::into_owned).map(f32::to_bits).collect()
        };
        assert_eq!(bits(left), bits(right));
    }

    #[test]
    fn text_is_what_other_programs_expect() {
        let expected = "2 2\nthe 0.1 -2.5\nkäse 0.00000000000000000001 -0\n";
        assert_eq!(String::from_utf8(text(&small())).unwrap(), expected);
    }

    #[test]
    fn binary_is_what_mikolovs_program_writes() {
        let mut expected = b"2 2\nthe ".to_vec();
        expected.extend([0.1f32.to_le_bytes(), (-2.5f32).to_le_bytes()].concat());
        expected.extend("\nkäse ".as_bytes());
        expected.extend([1e-20f32.to_le_bytes(), (-0.0f32).to_le_bytes()].concat());
        expected.extend(b"\n");
        assert_eq!(binary(&small()), expected);
    }

    #[test]
    fn binary_without_line_feeds_is_read() {
        let bytes = [b"2 1\na ".as_slice(), &[0; 4], b"b ", &[0; 4]].concat();
        let words = from_binary(&bytes).unwrap();
        assert!(words.words().eq(["a", "b"]));
    }

    #[test]
    fn the_order_of_the_file_is_the_order_of_the_rows() {
        let embeddings = from_text(b"3 1\nz 1\ny 2\na 3\n").unwrap();
        assert!(embeddings.words().eq(["z", "y", "a"]));
        assert_eq!((embeddings.count(0), embeddings.count(2)), (3, 1));
    }

    #[test]
    fn trailing_spaces_tabs_and_carriage_returns_are_accepted() {
        let embeddings = from_text(b"1 2 \r\na\t1 2 \r\n\r\n").unwrap();
        assert_eq!(embeddings.vector("a").unwrap(), [1.0, 2.0].as_slice());
    }

    #[test]
    fn text_without_a_first_line_is_read() {
        let embeddings = from_text(b"the 1 2\nof 3 4\n").unwrap();
        assert_eq!(embeddings.vector("of").unwrap(), [3.0, 4.0].as_slice());
    }

    #[test]
    fn no_words_make_a_round_trip() {
        let none: [(&str, u64); 0] = [];
        let empty = Embeddings::new(7, none, Vec::new()).unwrap();
        assert_same(&from_text(&text(&empty)).unwrap(), &empty);
        assert_same(&from_binary(&binary(&empty)).unwrap(), &empty);
    }

    #[test]
    fn a_word_with_whitespace_is_not_written() {
        for word in ["new york", "", "a\tb", "a\nb"] {
            let embeddings = Embeddings::new(1, [(word, 1)], vec![0.0]).unwrap();
            let mut bytes = Vec::new();
            let error = write_text(&embeddings, &mut bytes, Path::new("out")).unwrap_err();
            assert!(error.to_string().starts_with(&format!("`{word}` is empty or")));
            assert!(write_binary(&embeddings, &mut bytes, Path::new("out")).is_err());
            assert!(bytes.is_empty());
        }
    }

    #[test]
    fn a_full_disk_is_an_error_with_the_name() {
        let mut room = [0; 5];
        let error = write_text(&small(), room.as_mut_slice(), Path::new("out.txt")).unwrap_err();
        assert!(error.to_string().starts_with("out.txt: "));
    }

    #[test]
    fn an_empty_file_is_refused() {
        assert_eq!(text_refusal(""), "in.txt: the file is empty");
        assert_eq!(binary_refusal(b""), "in.bin: byte 0: the file ends in the first line");
    }

    #[test]
    fn a_header_that_is_not_two_numbers_is_refused() {
        let reason = "the first line must be the number of words and of dimensions";
        for header in ["2 x\n", "-1 5\n", "99999999999999999999999 5\n"] {
            assert_eq!(text_refusal(header), format!("in.txt: line 1: {reason}"));
            assert_eq!(binary_refusal(header.as_bytes()), format!("in.bin: byte 0: {reason}"));
        }
        assert_eq!(binary_refusal(b"2 2 2\n"), format!("in.bin: byte 0: {reason}"));
    }

    #[test]
    fn dimensions_beyond_the_limit_are_refused() {
        for dimensions in ["0", "65537", "18446744073709551615"] {
            let header = format!("1 {dimensions}\n");
            let reason = format!("{dimensions} dimensions; they must be from 1 to 65536");
            assert_eq!(text_refusal(&header), format!("in.txt: line 1: {reason}"));
            assert_eq!(binary_refusal(header.as_bytes()), format!("in.bin: byte 0: {reason}"));
        }
        assert!(text_refusal("alone\n").contains("0 dimensions"));
    }

    #[test]
    fn more_words_promised_than_there_are_is_refused_without_room_for_them() {
        let most = usize::MAX;
        assert_eq!(
            text_refusal(&format!("{most} 2\na 1 2\n")),
            format!("in.txt: the first line promises {most} words; the file ends after 1")
        );
        let bytes = [format!("{most} 65536\na ").as_bytes(), &[0; 8]].concat();
        let message = binary_refusal(&bytes);
        assert_eq!(message, "in.bin: byte 37: the file ends in a vector");
    }

    #[test]
    fn fewer_words_promised_than_there_are_is_refused() {
        let message = text_refusal("1 1\na 1\nb 2\n");
        assert_eq!(message, "in.txt: line 3: a word more than the 1 promised");
        let bytes = [b"1 1\na ".as_slice(), &[0; 4], b"\nb ", &[0; 4]].concat();
        let message = binary_refusal(&bytes);
        assert_eq!(message, "in.bin: byte 10: more bytes than the first line promises");
    }

    #[test]
    fn a_wrong_number_of_values_is_refused() {
        let message = text_refusal("2 2\na 1 2\nnew york 1 2\n");
        assert_eq!(message, "in.txt: line 3: 3 values after the word; there must be 2");
    }

    #[test]
    fn a_value_that_is_not_a_number_is_refused() {
        assert_eq!(text_refusal("1 2\na 1 b\n"), "in.txt: line 2: value 2 is `b`");
    }

    #[test]
    fn a_value_that_is_not_finite_is_refused() {
        let message = text_refusal("1 2\na 1 1e99\n");
        assert_eq!(message, "in.txt: line 2: value 2 is inf; it must be finite");
        let bytes = [b"1 1\na ".as_slice(), &f32::NAN.to_le_bytes()].concat();
        let message = binary_refusal(&bytes);
        assert_eq!(message, "in.bin: byte 6: value 1 is NaN; it must be finite");
    }

    #[test]
    fn a_duplicate_word_is_refused() {
        let message = text_refusal("2 1\na 1\na 2\n");
        assert_eq!(message, "in.txt: line 3: `a` stands twice, first as word 1");
        let bytes = [b"2 1\na ".as_slice(), &[0; 4], b"\na ", &[0; 4]].concat();
        let message = binary_refusal(&bytes);
        assert_eq!(message, "in.bin: byte 10: `a` stands twice, first as word 1");
    }

    #[test]
    fn an_endless_word_is_refused() {
        let endless = std::io::Cursor::new(b"1 1\n").chain(std::io::repeat(b'a'));
        let endless = std::io::BufReader::new(endless);
        let message = read_binary(endless, Path::new("in.bin")).unwrap_err();
        let expected = "in.bin: byte 4: a word is longer than 65536 bytes";
        assert_eq!(message.to_string(), expected);
    }

    #[test]
    fn a_word_that_is_empty_or_not_utf8_is_refused() {
        let message = binary_refusal(&[b"1 1\n ".as_slice(), &[0; 4]].concat());
        assert_eq!(message, "in.bin: byte 4: `` is not a word");
        let message = binary_refusal(&[b"1 1\n\xff ".as_slice(), &[0; 4]].concat());
        assert_eq!(message, "in.bin: byte 4: a word is not UTF-8");
    }

    fn any_embeddings() -> impl Strategy<Value = Embeddings> {
        let words = proptest::collection::btree_map("[^ \t\r\n\x0b\x0c]{1,6}", 0u64..9, 0..12);
        let finite = prop::num::f32::NORMAL | prop::num::f32::SUBNORMAL | prop::num::f32::ZERO;
        (words, 1usize..20).prop_flat_map(move |(words, dimensions)| {
            proptest::collection::vec(finite, words.len() * dimensions)
                .prop_map(move |vectors| Embeddings::new(dimensions, words.clone(), vectors).unwrap())
        })
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
            let _ = from_text(&bytes);
            let _ = from_binary(&bytes);
            let _ = from_text(&rest);
            let _ = from_binary(&rest);
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
