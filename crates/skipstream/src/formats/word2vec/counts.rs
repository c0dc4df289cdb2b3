//! word2vec's vocabulary file: a line `word count` for each word, next to vectors without counts.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use super::super::error::{Defect, FormatError};
use super::super::lines::Lines;
use super::super::recognize::Opened;
use super::super::rows::{MAX_WORD_BYTES, fields};
use super::check_words;
use crate::bytes::{Compression, replace};
use crate::embeddings::Embeddings;
use crate::{Error, Result};

/// A word, a space and the digits of a count.
const MAX_LINE_BYTES: usize = MAX_WORD_BYTES + 64;

/// Writes words and counts as word2vec's `-save-vocab` does, with a prefix for each word.
///
/// It is an error if [the counts are not known](Embeddings::has_counts).
pub fn save_counts(embeddings: &Embeddings, path: impl AsRef<Path>, prefix: &str) -> Result<()> {
    let path = path.as_ref();
    check_words(embeddings, prefix, path)?;
    if !embeddings.has_counts() {
        return Err(Error::format(path, FormatError::NoCounts));
    }
    let write = |out: &mut dyn Write| {
        for (row, word) in embeddings.words().enumerate() {
            writeln!(out, "{prefix}{word} {}", embeddings.count(row)).map_err(Error::io(path))?;
        }
        out.flush().map_err(Error::io(path))
    };
    replace(path, |file| Compression::by_name(path).encode(file, write, path))
}

/// Reads the counts of words. A word that is not UTF-8 is read with replacement characters.
pub fn read_counts(path: impl AsRef<Path>) -> Result<HashMap<String, u64>> {
    let path = path.as_ref();
    let mut lines = Lines::new(Opened::new(path)?.into_reader(), path, MAX_LINE_BYTES).lossy();
    let mut counts = HashMap::new();
    while let Some(line) = lines.next()? {
        let (word, count) = line.text.trim_ascii_end().rsplit_once([' ', '\t']).unwrap_or_default();
        let count = count.parse().map_err(|_| line.error(Defect::Expected("a word and its count")))?;
        if fields(word).next().is_none() {
            return Err(line.error(Defect::Expected("a word and its count")));
        }
        counts.insert(word.to_owned(), count);
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;
    use tempfile::TempDir;

    use super::super::super::testing::small;
    use super::*;

    #[test]
    fn counts_are_written_as_word2vec_does_and_read_again() {
        let folder = TempDir::new().unwrap();
        for name in ["vocabulary", "vocabulary.gz"] {
            let path = folder.path().join(name);
            save_counts(&small(), &path, "*").unwrap();
            let expected = [("*the".to_owned(), 9), ("*käse".to_owned(), 3)];
            assert_eq!(read_counts(&path).unwrap(), HashMap::from(expected));
        }
        assert_eq!(fs::read(folder.path().join("vocabulary")).unwrap(), "*the 9\n*käse 3\n".as_bytes());
    }

    #[test]
    fn what_is_no_count_is_refused_with_its_line() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("vocabulary");
        for line in ["word", "word x", "word -1", " 7", "word 1.5"] {
            fs::write(&path, format!("the 9\n{line}\n")).unwrap();
            let message = read_counts(&path).unwrap_err().to_string();
            assert!(message.ends_with("line 2: expected a word and its count"), "{line}: {message}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let folder = TempDir::new().unwrap();
            let path = folder.path().join("vocabulary");
            fs::write(&path, bytes).unwrap();
            let _ = read_counts(&path);
        }
    }

    #[test]
    fn counts_that_are_not_known_and_prefixes_with_spaces_are_refused() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("vocabulary");
        let message = save_counts(&small().without_counts(), &path, "").unwrap_err().to_string();
        assert!(message.ends_with("the counts of the words are unknown"), "{message}");
        let message = save_counts(&small(), &path, "a b").unwrap_err().to_string();
        assert_eq!(message, "prefix is `a b`; it must be without white space");
    }
}
