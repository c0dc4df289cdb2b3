//! The two files of TensorFlow's embedding projector, in a folder.
//!
//! `vectors.tsv` has a line for each word, the most frequent first: its values, separated by tabs. `metadata.tsv` has
//! what is known about the words in the same order, here the columns `word` and `count`. Its first line names the columns,
//! which the projector requires of files with more than one column.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use super::error::{Defect, FormatError};
use super::lines::Lines;
use super::rows::{MAX_DIMENSIONS, MAX_VALUE_BYTES, MAX_WORD_BYTES, Rows, fields, write_values};
use super::tsv;
use crate::embeddings::Embeddings;
use crate::{Error, Result};

const VECTORS: &str = "vectors.tsv";
const METADATA: &str = "metadata.tsv";

const MAX_VECTOR_BYTES: usize = MAX_DIMENSIONS * MAX_VALUE_BYTES;
/// Metadata of other programs has more columns than ours.
const MAX_METADATA_BYTES: usize = 16 * MAX_WORD_BYTES;

pub(super) fn vectors_path(folder: &Path) -> PathBuf {
    folder.join(VECTORS)
}

pub(super) fn metadata_path(folder: &Path) -> PathBuf {
    folder.join(METADATA)
}

/// Writes the values, each with the fewest digits that represent it exactly.
pub(super) fn write_vectors(embeddings: &Embeddings, mut writer: impl Write, name: &Path) -> Result<()> {
    let mut write_all = || {
        for row in 0..embeddings.len() {
            write_values(&mut writer, &embeddings.vector_at(row), "\t")?;
            writeln!(writer)?;
        }
        writer.flush()
    };
    write_all().map_err(Error::io(name))
}

/// Writes the words and their counts. Words alone have no header, as the projector wants it.
pub(super) fn write_metadata(embeddings: &Embeddings, writer: impl Write, name: &Path) -> Result<()> {
    let header = if embeddings.has_counts() { "word\tcount\n" } else { "" };
    tsv::write_words(embeddings, writer, name, header)
}

/// Reads both files. The column `word` is taken, or else the first one; counts are taken from the column `count`.
pub(super) fn read(
    (vectors, vectors_name): (impl BufRead, &Path),
    (metadata, metadata_name): (impl BufRead, &Path),
) -> Result<Embeddings> {
    let mut lines = Lines::new(vectors, vectors_name, MAX_VECTOR_BYTES);
    let mut rows = None;
    let mut n_vectors = 0;
    while let Some(line) = lines.next()? {
        let n_values = fields(line.text).count();
        let rows = match &mut rows {
            Some(rows) => rows,
            none => none.insert(Rows::new(n_values).map_err(|defect| line.error(defect))?),
        };
        if n_values != rows.dimensions() {
            return Err(line.error(Defect::Values { found: n_values, expected: rows.dimensions() }));
        }
        rows.push_fields(fields(line.text)).map_err(|defect| line.error(defect))?;
        n_vectors += 1;
    }
    let mut rows = rows.ok_or_else(|| Error::format(vectors_name, FormatError::Empty))?;
    read_metadata(&mut rows, metadata, metadata_name)?;
    if rows.len() != n_vectors {
        let (vectors, words) = (n_vectors, rows.len());
        let words_file = metadata_name.to_owned();
        return Err(Error::format(vectors_name, FormatError::TwoFiles { vectors, words, words_file }));
    }
    rows.finish()
}

fn read_metadata(rows: &mut Rows, reader: impl BufRead, name: &Path) -> Result<()> {
    let mut lines = Lines::new(reader, name, MAX_METADATA_BYTES);
    // The places of the two columns.
    let (mut word, mut count) = (0, None);
    let mut is_first = true;
    while let Some(line) = lines.next()? {
        if std::mem::take(&mut is_first) && line.text.contains('\t') {
            let place = |name| line.text.split('\t').position(|column| column.eq_ignore_ascii_case(name));
            (word, count) = (place("word").unwrap_or(0), place("count"));
            continue;
        }
        let mut cells = line.text.split('\t');
        let word = cells.clone().nth(word).unwrap_or_default();
        rows.push_word(word).map_err(|defect| line.error(defect))?;
        if let Some(place) = count {
            rows.push_count(line.count(cells.nth(place).unwrap_or_default())?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{any_embeddings, assert_same, assert_same_counts, small};
    use super::*;

    fn written(embeddings: &Embeddings) -> (Vec<u8>, Vec<u8>) {
        let (mut vectors, mut metadata) = (Vec::new(), Vec::new());
        write_vectors(embeddings, &mut vectors, Path::new(VECTORS)).unwrap();
        write_metadata(embeddings, &mut metadata, Path::new(METADATA)).unwrap();
        (vectors, metadata)
    }

    fn read(vectors: &[u8], metadata: &[u8]) -> Result<Embeddings> {
        super::read((vectors, Path::new(VECTORS)), (metadata, Path::new(METADATA)))
    }

    #[track_caller]
    fn assert_refused(vectors: &str, metadata: &str, message: &str) {
        assert_eq!(read(vectors.as_bytes(), metadata.as_bytes()).unwrap_err().to_string(), message);
    }

    #[test]
    fn the_files_are_what_the_projector_expects() {
        let (vectors, metadata) = written(&small());
        assert_eq!(String::from_utf8(vectors).unwrap(), "0.1\t-2.5\n0.00000000000000000001\t-0\n");
        assert_eq!(String::from_utf8(metadata).unwrap(), "word\tcount\nthe\t9\nkäse\t3\n");
    }

    #[test]
    fn one_column_has_no_header_and_others_are_found_by_name() {
        let embeddings = read(b"1\t2\n3\t4\n", b"new york\nword\n").unwrap();
        assert_eq!(embeddings.vector("new york").unwrap(), [1.0, 2.0].as_slice());
        let embeddings = read(b"1\t2\n3\t4\n", b"Label\tWord\tCount\nx\ta\t3\ny\tb\t5\n").unwrap();
        assert!(embeddings.words().eq(["b", "a"]));
        assert_eq!(embeddings.vector("b").unwrap(), [3.0, 4.0].as_slice());
    }

    #[test]
    fn files_that_do_not_fit_together_are_refused() {
        assert_refused("", "a\n", "vectors.tsv: the file is empty");
        assert_refused("1\t2\n", "a\nb\n", "vectors.tsv: 1 vectors; metadata.tsv has 2 words");
        assert_refused("1\t2\n3\t4\n", "a\n", "vectors.tsv: 2 vectors; metadata.tsv has 1 words");
        assert_refused("1\t2\n3\n", "a\n", "vectors.tsv: line 2: 1 values; expected 2");
    }

    #[test]
    fn values_and_words_that_are_wrong_are_refused() {
        assert_refused("1\tx\n", "a\n", "vectors.tsv: line 1: value 2 is `x`; it must be a number");
        let message = "vectors.tsv: line 1: value 2 of word 1 is NaN; it must be finite";
        assert_refused("1\tnan\n", "a\n", message);
        assert_refused("1\n2\n", "word\tcount\na\t1\nb\tx\n", "metadata.tsv: line 3: `x` is not a count");
        let message = "metadata.tsv: line 2: `a` is repeated; it is also word 1";
        assert_refused("1\n2\n", "a\na\n", message);
    }

    #[test]
    fn a_word_that_a_line_cannot_hold_is_not_written() {
        for word in ["", " ", "a\tb", "a\nb", "a\r"] {
            let embeddings = Embeddings::new(1, [(word, 1)], vec![0.0]).unwrap();
            let message =
                write_metadata(&embeddings, Vec::new(), Path::new(METADATA)).unwrap_err().to_string();
            assert!(message.contains("the format cannot represent the word"), "{message}");
        }
    }

    proptest! {
        #[test]
        fn a_round_trip_keeps_words_counts_and_vectors(embeddings in any_embeddings()) {
            let (vectors, metadata) = written(&embeddings);
            if embeddings.is_empty() {
                // Nothing tells the dimensions of no vectors.
                prop_assert!(read(&vectors, &metadata).is_err());
                return Ok(());
            }
            let back = read(&vectors, &metadata).unwrap();
            assert_same(&back, &embeddings);
            assert_same_counts(&back, &embeddings);
        }

        #[test]
        fn any_bytes_are_read_or_refused_but_never_panic(
            vectors in "([0-9]{0,2}[\t\n]){0,9}",
            metadata in proptest::collection::vec(any::<u8>(), 0..99),
        ) {
            let _ = read(vectors.as_bytes(), &metadata);
            let _ = read(&metadata, &metadata);
        }
    }
}
