//! A test set of either kind, recognized by its content.

use std::fs::File;
use std::io::{BufRead, Cursor, Read};
use std::path::Path;

use super::TestSetError;
use super::analogies::{Analogies, section_name};
use super::pairs::{WordPairs, pair};
use crate::bytes::{Compression, read_error, read_magic};
use crate::{Error, Result};

const MAX_BYTES: u64 = 256 << 20;

/// Questions with known answers.
#[derive(Clone, Debug, PartialEq)]
pub enum TestSet {
    /// Pairs of words with human scores.
    WordPairs(WordPairs),
    /// Analogies, in sections.
    Analogies(Analogies),
}

impl TestSet {
    /// Opens a file of either kind, compressed or not.
    pub fn open(path: impl AsRef<Path>) -> Result<TestSet> {
        let path = path.as_ref();
        let mut file = File::open(path).map_err(Error::io(path))?;
        let magic = read_magic(&mut file).map_err(Error::io(path))?;
        let text = Compression::of(&magic).decode(Cursor::new(magic).chain(file), path)?;
        TestSet::read(text, path)
    }

    /// Reads a test set of either kind. `name` appears in error messages.
    ///
    /// Tabs, semicolons, commas or spaces separate columns; blank lines and lines that start with `#` are skipped. A word
    /// pair is two words and a score: the first number after them, so that a column in between (a part of speech, in
    /// SimLex-999) does no harm. Further columns are ignored, and the first line may be a header. An analogy is four words,
    /// and a line `: name` starts a section.
    ///
    /// ```
    /// # use skipstream::eval::TestSet;
    /// let set = TestSet::read(&b": capitals\nParis France Rome Italy\n"[..], "set".as_ref())?;
    /// assert!(matches!(set, TestSet::Analogies(_)));
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    pub fn read(reader: impl BufRead, name: &Path) -> Result<TestSet> {
        let mut bytes = Vec::new();
        reader.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| read_error(name, error))?;
        TestSet::parse(&bytes).map_err(|cause| Error::TestSet { path: name.to_owned(), cause })
    }

    fn parse(bytes: &[u8]) -> Result<TestSet, TestSetError> {
        if bytes.len() as u64 > MAX_BYTES {
            return Err(TestSetError::TooLarge { limit: MAX_BYTES });
        }
        let text = str::from_utf8(bytes).map_err(|error| {
            let line_ends = bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
            TestSetError::NotUtf8 { line: line_ends + 1 }
        })?;
        // Some editors start a file with a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let set = if is_analogies(text)? {
            TestSet::Analogies(Analogies::parse(text)?)
        } else {
            TestSet::WordPairs(WordPairs::parse(text)?)
        };
        if set.is_empty() { Err(TestSetError::Empty) } else { Ok(set) }
    }

    /// The number of pairs or questions.
    pub fn len(&self) -> usize {
        match self {
            TestSet::WordPairs(set) => set.pairs.len(),
            TestSet::Analogies(set) => set.questions().count(),
        }
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Whether a text has analogies and not word pairs, by its first two lines: the first may be a header.
fn is_analogies(text: &str) -> Result<bool, TestSetError> {
    let mut lines = lines(text);
    let (first, line) = lines.next().ok_or(TestSetError::Empty)?;
    let is_analogy = |line| section_name(line).is_some() || fields(line).len() == 4;
    let is_pair = |line| pair(&fields(line)).is_some();
    match lines.next() {
        _ if section_name(line).is_some() => Ok(true),
        _ if is_pair(line) => Ok(false),
        Some((_, second)) if is_pair(second) => Ok(false),
        _ if !is_analogy(line) => Err(TestSetError::UnknownKind { line: first }),
        Some((second, line)) if !is_analogy(line) => Err(TestSetError::UnknownKind { line: second }),
        _ => Ok(true),
    }
}

/// The lines that are neither blank nor comments (`# …`), with their numbers from 1.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    lines.filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
}

/// The columns of a line: separated by tabs or, if there is none, by semicolons, commas or white space.
pub(super) fn fields(line: &str) -> Vec<&str> {
    for separator in ['\t', ';', ','] {
        if line.contains(separator) {
            return line.split(separator).map(str::trim).collect();
        }
    }
    line.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<TestSet> {
        TestSet::read(text.as_bytes(), Path::new("set"))
    }

    fn refusal(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    #[test]
    fn pairs_are_told_from_analogies() {
        for text in ["a b 1\n", "# x\nfirst\tsecond\tkind\tscore\na\tb\tN\t1\n", "Word 1,Word 2,Mean\na,b,1"]
        {
            assert!(matches!(read(text).unwrap(), TestSet::WordPairs(set) if set.pairs.len() == 1), "{text}");
        }
        for text in [
            ": s\na b c d\n",
            "a b c d\n",
            "#\n\na,b,c,d\r\ne,f,g,h\r\n",
            "\u{feff}# x\na b c d\n",
            ": 1\n: 2\none 1 two 2",
        ] {
            assert!(matches!(read(text).unwrap(), TestSet::Analogies(_)), "{text}");
        }
    }

    #[test]
    fn an_empty_file_is_refused() {
        for text in ["", "\n\n", "# only\n# comments\n"] {
            assert_eq!(refusal(text), "set: the file has no word pairs and no analogies");
        }
        assert_eq!(refusal(": a section\n"), "set: the file has no word pairs and no analogies");
    }

    #[test]
    fn what_is_no_test_set_is_refused_with_its_line() {
        let neither = "expected two words and a score, or four words";
        assert_eq!(refusal("It was a dark and stormy night.\n"), format!("set: line 1: {neither}"));
        assert_eq!(refusal("# x\nIt was\na dark night"), format!("set: line 2: {neither}"));
        assert_eq!(refusal("a b c d\n\na b c d e\n"), format!("set: line 3: {neither}"));
        assert_eq!(refusal("a b 1\na b\n"), "set: line 2: expected two words and a score");
        assert_eq!(refusal(": s\na b c d\na b c\n"), "set: line 3: expected 4 words, found 3");
        let error = TestSet::read(&b"a b 1\nc \xff 2"[..], Path::new("set")).unwrap_err();
        assert_eq!(error.to_string(), "set: line 2: not valid UTF-8");
    }

    #[test]
    fn a_file_that_is_missing_or_damaged_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set.gz");
        assert!(TestSet::open(&path).unwrap_err().to_string().starts_with(&path.display().to_string()));
        let mut bytes = Vec::new();
        let write = |to: &mut dyn std::io::Write| to.write_all(b"a b 1\n").map_err(Error::io("set"));
        Compression::Gzip.encode(&mut bytes, write, &path).unwrap();
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(TestSet::open(&path).unwrap().len(), 1);
        std::fs::write(&path, &bytes[..bytes.len() - 4]).unwrap();
        assert!(TestSet::open(&path).unwrap_err().to_string().contains("cut short"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = TestSet::read(&bytes[..], Path::new("set"));
        }

        #[test]
        fn any_lines_are_read_or_refused(text in "([a-c0-9.:#;,\t -]{0,12}\n){0,6}") {
            let _ = TestSet::read(text.as_bytes(), Path::new("set"));
        }
    }

    #[test]
    fn the_strongest_separator_of_a_line_counts() {
        let expected = ["ice cream", "dessert", "9.5"];
        for line in ["ice cream\tdessert\t9.5", "ice cream;dessert;9.5", "ice cream, dessert, 9.5"] {
            assert_eq!(fields(line), expected);
        }
        assert_eq!(fields(" tiger  cat 7.35 "), ["tiger", "cat", "7.35"]);
        assert_eq!(fields("1,5\t2\t3"), ["1,5", "2", "3"]);
    }
}
