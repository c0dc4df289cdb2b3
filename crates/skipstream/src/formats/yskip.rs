//! The text model of yskip, the program of the paper's authors.
//!
//! The first line has nine numbers, separated by tabs: words, largest vocabulary, dimensions, and the settings. A line
//! for each word follows, in no order: the word, its count, and four vectors (target, context and AdaGrad's two sums),
//! separated by tabs, their values by spaces. Values have six decimals, so small ones were rounded when they were
//! written. We read this format but do not write it.

use std::io::BufRead;
use std::path::Path;

use super::error::{Defect, FormatError};
use super::lines::{Line, Lines};
use super::rows::{MAX_DIMENSIONS, MAX_VALUE_BYTES, MAX_WORD_BYTES, Rows, fields};
use crate::embeddings::{Embeddings, Vectors};
use crate::{Error, Result};

const MAX_LINE_BYTES: usize = MAX_WORD_BYTES + 4 * MAX_DIMENSIONS * MAX_VALUE_BYTES;

/// Whether a first line is that of a yskip model.
pub(super) fn is_first_line(line: &str) -> bool {
    let fields: Vec<&str> = line.split('\t').collect();
    fields.len() == 9
        && fields.iter().enumerate().all(|(place, field)| match place {
            5..=7 => field.parse::<f32>().is_ok(),
            _ => field.trim_ascii_end().parse::<u64>().is_ok(),
        })
}

pub(super) fn read(reader: impl BufRead, name: &Path, vectors: Vectors) -> Result<Embeddings> {
    let mut lines = Lines::new(reader, name, MAX_LINE_BYTES);
    let first = lines.next()?.ok_or_else(|| Error::format(name, FormatError::Empty))?;
    if !is_first_line(first.text) {
        return Err(first.error(Defect::Expected("nine numbers, separated by tabs")));
    }
    let mut numbers = first.text.split('\t').map(str::parse::<usize>);
    let (Some(Ok(promised)), _, Some(Ok(dimensions))) = (numbers.next(), numbers.next(), numbers.next())
    else {
        return Err(first.error(Defect::Expected("smaller numbers of words and dimensions")));
    };
    // A row holds both vectors.
    let mut rows = Rows::new(dimensions)
        .and_then(|_| Rows::new(2 * dimensions))
        .map_err(|defect| first.error(defect))?;
    while let Some(line) = lines.next()? {
        push_line(&mut rows, line)?;
    }
    if rows.len() != promised {
        return Err(Error::format(name, FormatError::WordCount { stated: promised, found: rows.len() }));
    }
    rows.finish()?.composed(vectors)
}

fn push_line(rows: &mut Rows, line: Line<'_>) -> Result<()> {
    let parts: Vec<&str> = line.text.splitn(7, '\t').collect();
    let [word, count, target, context, _, _] = parts[..] else {
        return Err(line.error(Defect::Expected("a word, its count and four vectors, separated by tabs")));
    };
    rows.push_word(word).map_err(|defect| line.error(defect))?;
    rows.push_count(line.count(count)?);
    let dimensions = rows.dimensions() / 2;
    for vector in [target, context] {
        let n_values = fields(vector).count();
        if n_values != dimensions {
            return Err(line.error(Defect::Values { found: n_values, expected: dimensions }));
        }
    }
    rows.push_fields(fields(target).chain(fields(context))).map_err(|defect| line.error(defect))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Two words, the rarer one first.
    const MODEL: &str = "2\t1000000\t2\t5\t5\t0.750000\t0.001000\t0.100000\t100000000\n\
        rare\t1\t0.500000 -1.000000\t0.250000 2.000000\t0.000010 0.000010\t0.000010 0.000010\n\
        the\t7\t1.000000 2.000000\t3.000000 4.000000\t0.100000 0.100000\t0.100000 0.100000\n";

    fn read(text: &str, vectors: Vectors) -> Result<Embeddings> {
        super::read(text.as_bytes(), Path::new("model"), vectors)
    }

    #[track_caller]
    fn assert_refused(text: &str, message: &str) {
        assert_eq!(read(text, Vectors::Sum).unwrap_err().to_string(), format!("model: {message}"));
    }

    #[test]
    fn words_come_by_frequency_with_the_vectors_that_are_asked_for() {
        for (vectors, expected) in [
            (Vectors::Target, &[0.5, -1.0][..]),
            (Vectors::Context, &[0.25, 2.0]),
            (Vectors::Sum, &[0.75, 1.0]),
            (Vectors::Joined, &[-0.0625, -1.375, -0.96875, -0.25]),
        ] {
            let embeddings = read(MODEL, vectors).unwrap();
            assert!(embeddings.words().eq(["the", "rare"]));
            assert_eq!((embeddings.count(0), embeddings.count(1)), (7, 1));
            assert_eq!(embeddings.vector("rare").unwrap(), expected);
        }
    }

    #[test]
    fn a_first_line_that_is_wrong_is_refused() {
        assert_refused("", "the file is empty");
        assert_refused("2 2\n", "line 1: expected nine numbers, separated by tabs");
        let message = "line 1: 0 dimensions; the number must be from 1 to 65536";
        assert_refused(&MODEL.replacen("\t2\t", "\t0\t", 1), message);
        let message = "line 1: 1000000000000000000 dimensions; the number must be from 1 to 65536";
        assert_refused(&MODEL.replacen("\t2\t", "\t1000000000000000000\t", 1), message);
    }

    #[test]
    fn another_number_of_words_than_promised_is_refused() {
        let message = "the first line states 3 words; the file has 2";
        assert_refused(&MODEL.replacen('2', "3", 1), message);
        assert!(read(&MODEL[..MODEL.len() / 2], Vectors::Sum).is_err());
    }

    #[test]
    fn a_line_that_is_wrong_is_refused() {
        for (from, to, message) in [
            ("\t7\t", "\tmany\t", "line 3: `many` is not a count"),
            ("\t7\t", " ", "line 3: expected a word, its count and four vectors, separated by tabs"),
            ("rare", "the", "line 3: `the` is repeated; it is also word 1"),
            ("0.250000 2", "2", "line 2: 1 values; expected 2"),
            ("4.000000", "x", "line 3: value 4 is `x`; it must be a number"),
            ("4.000000", "nan", "line 3: value 4 of word 2 is NaN; it must be finite"),
        ] {
            assert_refused(&MODEL.replacen(from, to, 1), message);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused_but_never_panic(
            at in 0..MODEL.len(),
            rest in proptest::collection::vec(any::<u8>(), 0..99),
        ) {
            let bytes = [&MODEL.as_bytes()[..at], &rest].concat();
            let _ = super::read(bytes.as_slice(), Path::new("model"), Vectors::Sum);
        }
    }
}
