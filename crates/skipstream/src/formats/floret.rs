//! floret's table of n-grams, which spaCy reads with `spacy init vectors LANG FILE OUT --mode floret`.
//!
//! The first line has the number of rows, the dimensions, the lengths of the shortest and the longest n-grams, the number of
//! hashes, their seed, and the marks of the beginning and the end of a word. Each further line has the number of a row
//! and its values.

use std::io::Write;
use std::path::Path;

use super::rows::write_values;
use crate::bytes::{Compression, replace};
use crate::embeddings::{BEGIN, END, HASH_SEED, HASHES, SubwordOptions, Subwords};
use crate::{Error, Result};

/// Writes a table of subwords to a path, compressed if its extension says so. The file is replaced as a whole.
///
/// spaCy then computes the vectors of [`Subwords::vector`], for words of the vocabulary as well.
pub fn save_floret(subwords: &Subwords, path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    replace(path, |file| {
        Compression::by_name(path).encode(file, |out| write_floret(subwords, out, path), path)
    })
}

/// Writes the bytes of [`save_floret`]. `name` is for error messages.
pub fn write_floret(subwords: &Subwords, mut writer: impl Write, name: &Path) -> Result<()> {
    let SubwordOptions { buckets, min, max } = *subwords.options();
    let dimensions = subwords.dimensions();
    let mut write_all = || {
        writeln!(writer, "{buckets} {dimensions} {min} {max} {HASHES} {HASH_SEED} {BEGIN} {END}")?;
        for (number, row) in subwords.rows().enumerate() {
            write!(writer, "{number} ")?;
            write_values(&mut writer, row, " ")?;
            writeln!(writer)?;
        }
        writer.flush()
    };
    write_all().map_err(Error::io(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Embeddings;

    #[test]
    fn the_header_is_that_of_floret_and_every_row_has_its_number() {
        let embeddings = Embeddings::new(2, [("ab", 3), ("cd", 2)], vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        let options = SubwordOptions { buckets: 7, min: 2, max: 4 };
        let subwords = Subwords::fit(&embeddings, &options, None).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.floret");
        save_floret(&subwords, &path).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("7 2 2 4 1 2166136261 < >"));
        for (number, (line, row)) in lines.zip(subwords.rows()).enumerate() {
            assert_eq!(line, format!("{number} {} {}", row[0], row[1]));
        }
        assert_eq!(text.lines().count(), 8);
    }
}
