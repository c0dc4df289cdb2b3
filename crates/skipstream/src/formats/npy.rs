//! numpy's format for an array, with a list of words next to it.
//!
//! `vectors.npy` has the matrix: a row for each word, the most frequent first, values as little-endian `f32`. A list
//! `vectors.words.tsv` has a line for each row: the word, a tab, its count. The array's header is so short and regular
//! that a library for it would be more code than this file.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use super::error::{Defect, FormatError};
use super::input::Input;
use super::lines::Lines;
use super::rows::{Checked, MAX_WORD_BYTES, Rows};
use crate::embeddings::Embeddings;
use crate::{Error, Result};

pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// The maximum length of a header. numpy itself accepts 10,000 bytes by default.
const MAX_HEADER_BYTES: usize = 1 << 16;

/// The data begin at a multiple of this, so that they can be memory-mapped.
const ALIGNMENT: usize = 64;

/// The list of words that belongs to an array.
pub(super) fn words_path(array: &Path) -> PathBuf {
    array.with_extension("words.tsv")
}

/// What an .npy file begins with, before rows of little-endian `f32`.
pub fn npy_header(rows: usize, columns: usize) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    // The magic, the version and the length of the header take 10 bytes; the header ends with a line feed.
    let length = (10 + header.len() + 1).next_multiple_of(ALIGNMENT) - 10;
    let header = format!("{header:<width$}\n", width = length - 1);
    [MAGIC, &[1, 0], &(length as u16).to_le_bytes(), header.as_bytes()].concat()
}

pub(super) fn write_array(embeddings: &Embeddings, mut writer: impl Write, name: &Path) -> Result<()> {
    let mut write_all = || {
        writer.write_all(&npy_header(embeddings.len(), embeddings.dimensions()))?;
        for row in 0..embeddings.len() {
            let vector = embeddings.vector_at(row);
            writer.write_all(bytemuck::cast_slice(&vector))?;
        }
        writer.flush()
    };
    write_all().map_err(Error::io(name))
}

/// Reads an array and its list of words. In the list counts may be missing, but not for some words only.
///
/// Values of 8 bytes are rounded to `f32`.
pub(super) fn read(
    (array, array_name): (impl BufRead, &Path),
    (words, words_name): (impl BufRead, &Path),
) -> Result<Embeddings> {
    let mut file = Input::new(array, array_name);
    let header = read_header(&mut file)?;
    let mut rows = Rows::new(header.columns).map_err(|defect| file.error(0, defect))?;
    read_words(&mut rows, words, words_name)?;
    if rows.len() != header.rows {
        let (vectors, words) = (header.rows, rows.len());
        let words_file = words_name.to_owned();
        return Err(Error::format(array_name, FormatError::TwoFiles { vectors, words, words_file }));
    }
    for _ in 0..header.rows {
        match header.value {
            Value::Single => file.vector(&mut rows)?,
            Value::Double => file.values(&mut rows, |bytes| f64::from_le_bytes(bytes) as f32)?,
        }
    }
    if !file.is_at_end()? {
        return Err(file.error(file.offset(), Defect::Extra));
    }
    rows.finish()
}

fn read_words(rows: &mut Rows, reader: impl BufRead, name: &Path) -> Result<()> {
    // A tab, a count and the end of the line besides the word.
    let mut lines = Lines::new(reader, name, MAX_WORD_BYTES + 32);
    let mut has_counts = None;
    while let Some(line) = lines.next()? {
        let (word, count) = match line.text.split_once('\t') {
            Some((word, count)) => (word, Some(count)),
            None => (line.text, None),
        };
        if *has_counts.get_or_insert(count.is_some()) != count.is_some() {
            return Err(line.error(Defect::MixedCounts));
        }
        rows.push_word(word).map_err(|defect| line.error(defect))?;
        if let Some(count) = count {
            rows.push_count(line.count(count.trim_ascii())?);
        }
    }
    Ok(())
}

struct Header {
    rows: usize,
    columns: usize,
    value: Value,
}

enum Value {
    Single,
    Double,
}

fn read_header(file: &mut Input<'_, impl BufRead>) -> Result<Header> {
    if file.array::<6>("the header")? != MAGIC {
        return Err(file.error(0, Defect::Expected("an .npy file")));
    }
    let [major, minor] = file.array("the header")?;
    let length = match major {
        1 => usize::from(u16::from_le_bytes(file.array("the header")?)),
        2 | 3 => file.u32("the header")? as usize,
        _ => {
            return Err(
                file.error(6, Defect::Version { found: format!("{major}.{minor}"), supported: "1 to 3" })
            );
        }
    };
    if length > MAX_HEADER_BYTES {
        return Err(file.error(8, Defect::TooLong { what: "the header", limit: MAX_HEADER_BYTES }));
    }
    let text = file.bytes(length, "the header")?;
    parse_header(&String::from_utf8_lossy(&text)).map_err(|defect| file.error(10, defect))
}

/// Parses the header, which is a Python dictionary.
fn parse_header(text: &str) -> Checked<Header> {
    let entry = |key: &'static str| {
        text.split_once(key).map(|(_, rest)| rest.trim_start()).ok_or(Defect::Expected(key))
    };
    let descr = entry("'descr':")?;
    let value = if descr.starts_with("'<f4'") {
        Value::Single
    } else if descr.starts_with("'<f8'") {
        Value::Double
    } else {
        let what: String = descr.chars().take_while(|&letter| letter != ',').take(40).collect();
        return Err(Defect::ValueType { found: what, supported: "'<f4' or '<f8'" });
    };
    if !entry("'fortran_order':")?.starts_with("False") {
        return Err(Defect::FortranOrder);
    }
    let shape = entry("'shape':")?;
    let numbers = shape.strip_prefix('(').and_then(|shape| shape.split_once(')')).map(|(numbers, _)| numbers);
    let numbers = numbers.unwrap_or_default().trim_end_matches([' ', ',']);
    let numbers: Vec<Option<usize>> = numbers.split(',').map(|number| number.trim().parse().ok()).collect();
    match numbers[..] {
        [Some(rows), Some(columns)] => Ok(Header { rows, columns, value }),
        _ => Err(Defect::Expected("an array with two dimensions")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{any_embeddings, assert_same, assert_same_counts, small};
    use super::super::tsv;
    use super::*;

    fn written(embeddings: &Embeddings) -> (Vec<u8>, Vec<u8>) {
        let (mut array, mut words) = (Vec::new(), Vec::new());
        write_array(embeddings, &mut array, Path::new("v.npy")).unwrap();
        tsv::write_words(embeddings, &mut words, Path::new("v.words.tsv"), "").unwrap();
        (array, words)
    }

    fn read(array: &[u8], words: &[u8]) -> Result<Embeddings> {
        super::read((array, Path::new("v.npy")), (words, Path::new("v.words.tsv")))
    }

    fn array(header: &str, values: &[u8]) -> Vec<u8> {
        let length = (header.len() as u16).to_le_bytes();
        [MAGIC, &[1, 0], &length, header.as_bytes(), values].concat()
    }

    #[track_caller]
    fn assert_refused(array: &[u8], words: &str, message: &str) {
        assert_eq!(read(array, words.as_bytes()).unwrap_err().to_string(), message);
    }

    const PLAIN: &str = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }\n";

    #[test]
    fn the_bytes_are_numpys() {
        let (array, words) = written(&small());
        assert_eq!(&array[..10], b"\x93NUMPY\x01\x00\x76\x00");
        let start = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), } ";
        assert_eq!(&array[10..10 + start.len()], start);
        assert_eq!((array[127], array.len()), (b'\n', 128 + 16));
        assert_eq!(&array[128..132], 0.1f32.to_le_bytes());
        assert_eq!(words, "the\t9\nkäse\t3\n".as_bytes());
    }

    #[test]
    fn the_words_stand_beside_the_array() {
        assert_eq!(words_path(Path::new("a/vectors.npy")), Path::new("a/vectors.words.tsv"));
    }

    #[test]
    fn words_without_counts_and_doubles_are_read() {
        let doubles = [1.0f64.to_le_bytes(), 2.0f64.to_le_bytes()].concat();
        let header = "{'shape': (1, 2), 'fortran_order': False, 'descr': '<f8'}";
        let embeddings = read(&array(header, &doubles), b"new york\n").unwrap();
        assert_eq!(embeddings.vector("new york").unwrap(), [1.0, 2.0].as_slice());
    }

    #[test]
    fn a_header_that_is_wrong_is_refused() {
        assert_refused(b"\x93NUM", "", "v.npy: byte 0: the file ends in the header");
        assert_refused(
            b"\x93NUMPY\x09\x00",
            "",
            "v.npy: byte 6: version 9.0 is not supported; expected 1 to 3",
        );
        let long = [MAGIC, &[2, 0], &u32::MAX.to_le_bytes()].concat();
        let reason = "v.npy: byte 8: the header is longer than 65536 bytes";
        assert_refused(&long, "", reason);
        for (header, reason) in [
            ("{}", "expected 'descr':"),
            (
                "{'descr': '<i8', 'fortran_order': False, 'shape': (1, 2)}",
                "values of type '<i8' are not supported; expected '<f4' or '<f8'",
            ),
            (
                "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2)}",
                "Fortran order is not supported; convert it with numpy.ascontiguousarray(array)",
            ),
        ] {
            assert_refused(&array(header, b""), "", &format!("v.npy: byte 10: {reason}"));
        }
        for shape in ["()", "(3,)", "(1, 2, 3)", "(-1, 2)", "(99999999999999999999999, 2)", "(1", "2"] {
            let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}");
            let reason = "v.npy: byte 10: expected an array with two dimensions";
            assert_refused(&array(&header, b""), "", reason);
        }
    }

    #[test]
    fn dimensions_beyond_the_limit_are_refused() {
        for columns in [0, 65537, 1_000_000_000_000_000_000usize] {
            let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': (1, {columns})}}");
            let reason = format!("v.npy: byte 0: {columns} dimensions; the number must be from 1 to 65536");
            assert_refused(&array(&header, b""), "a\n", &reason);
        }
    }

    #[test]
    fn another_number_of_words_than_rows_is_refused() {
        let reason = "v.npy: 1 vectors; v.words.tsv has 2 words";
        assert_refused(&array(PLAIN, &[0; 8]), "a\t2\nb\t1\n", reason);
    }

    #[test]
    fn another_number_of_values_than_promised_is_refused() {
        assert_refused(&array(PLAIN, &[0; 7]), "a\n", "v.npy: byte 70: the file ends in a vector");
        assert_refused(&array(PLAIN, &[0; 9]), "a\n", "v.npy: byte 78: more data than the header states");
    }

    #[test]
    fn words_that_are_wrong_are_refused() {
        for (words, reason) in [
            ("a\t1\nb\n", "line 2: some words have a count after a tab and some do not"),
            ("a\tmany\n", "line 1: `many` is not a count"),
            ("a\na\n", "line 2: `a` is repeated; it is also word 1"),
            ("\t1\n", "line 1: `` is not a word"),
        ] {
            assert_refused(&array(PLAIN, &[0; 8]), words, &format!("v.words.tsv: {reason}"));
        }
    }

    #[test]
    fn a_double_that_is_too_large_for_a_single_is_refused() {
        let header = PLAIN.replace("f4", "f8");
        let values = [1.0f64.to_le_bytes(), 1e300f64.to_le_bytes()].concat();
        let reason = "v.npy: byte 78: value 2 of word 1 is inf; it must be finite";
        assert_refused(&array(&header, &values), "a\n", reason);
    }

    proptest! {
        #[test]
        fn a_round_trip_keeps_words_counts_and_vectors(embeddings in any_embeddings()) {
            let (array, words) = written(&embeddings);
            let back = read(&array, &words).unwrap();
            assert_same(&back, &embeddings);
            assert_same_counts(&back, &embeddings);
        }

        #[test]
        fn any_bytes_are_read_or_refused_but_never_panic(
            header in "\\{'descr': '<f[48]', 'fortran_order': False, 'shape': \\([0-9]{0,2}, [0-9]{0,2}\\)\\}",
            rest in proptest::collection::vec(any::<u8>(), 0..99),
            words in proptest::collection::vec(any::<u8>(), 0..99),
        ) {
            let _ = read(&array(&header, &rest), &words);
            let _ = read(&[MAGIC, &rest].concat(), &words);
            let _ = read(&rest, &words);
        }
    }
}
