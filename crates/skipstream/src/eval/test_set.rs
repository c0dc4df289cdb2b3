//! A test set of either kind, told by what is in it.

use std::fs::File;
use std::io::{BufRead, Cursor, Read};
use std::path::Path;

use super::analogies::{Analogies, section_name};
use super::fields::{MAX_LINE_BYTES, fields, is_comment, without_byte_order_mark};
use super::pairs::{WordPairs, pair};
use crate::bytes::{Compression, read_error, read_magic};
use crate::formats::lines::Lines;
use crate::{Error, Result};

/// A test set of more decompressed bytes is refused.
const MAX_BYTES: u64 = 256 << 20;

/// Questions with known answers.
#[derive(Clone, Debug, PartialEq)]
pub enum TestSet {
    /// Pairs of words with people's scores.
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

    /// Reads a test set of either kind: word pairs are lines of two words and a score, analogies lines of four words
    /// and lines `: section`. [`WordPairs::read`] and [`Analogies::read`] say more. `name` stands in error messages.
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
        if bytes.len() as u64 > MAX_BYTES {
            let reason = format!("it has more than {} MiB; no test set is that large", MAX_BYTES >> 20);
            return Err(Error::malformed(name, reason));
        }
        let set = match Kind::of(&bytes, name)? {
            Kind::WordPairs => TestSet::WordPairs(WordPairs::read(&bytes[..], name)?),
            Kind::Analogies => TestSet::Analogies(Analogies::read(&bytes[..], name)?),
        };
        if set.is_empty() {
            return Err(Error::malformed(name, "it holds no word pairs and no analogies"));
        }
        Ok(set)
    }

    /// The number of pairs or questions.
    pub fn len(&self) -> usize {
        match self {
            TestSet::WordPairs(set) => set.pairs().len(),
            TestSet::Analogies(set) => set.len(),
        }
    }

    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    WordPairs,
    Analogies,
}

impl Kind {
    /// Told by the first two lines that are not comments: the first may be a header.
    fn of(text: &[u8], name: &Path) -> Result<Kind> {
        let mut lines = Lines::new(text, name, MAX_LINE_BYTES);
        let mut first = None;
        for _ in 0..2 {
            let line = loop {
                match lines.next()? {
                    Some(line) if is_comment(without_byte_order_mark(line.text)) => {}
                    line => break line,
                }
            };
            let Some(line) = line else { break };
            let text = without_byte_order_mark(line.text);
            let fields = fields(text);
            if section_name(text).is_some() {
                return Ok(Kind::Analogies);
            }
            if pair(&fields).is_some() {
                return Ok(Kind::WordPairs);
            }
            let wrong = || line.error("neither two words and a score nor a question of four words");
            match first {
                None => first = Some((fields.len() == 4, wrong())),
                Some((true, _)) if fields.len() == 4 => return Ok(Kind::Analogies),
                Some((true, _)) => return Err(wrong()),
                Some((false, error)) => return Err(error),
            }
        }
        match first {
            None => Err(Error::malformed(name, "it is empty: it holds no word pairs and no analogies")),
            Some((true, _)) => Ok(Kind::Analogies),
            Some((false, error)) => Err(error),
        }
    }
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
            assert!(
                matches!(read(text).unwrap(), TestSet::WordPairs(set) if set.pairs().len() == 1),
                "{text}"
            );
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
            assert_eq!(refusal(text), "set: it is empty: it holds no word pairs and no analogies");
        }
        assert_eq!(refusal(": a section\n"), "set: it holds no word pairs and no analogies");
    }

    #[test]
    fn what_is_no_test_set_is_refused_with_its_line() {
        let neither = "neither two words and a score nor a question of four words";
        assert_eq!(refusal("It was a dark and stormy night.\n"), format!("set: line 1: {neither}"));
        assert_eq!(refusal("# x\nIt was\na dark night"), format!("set: line 2: {neither}"));
        assert_eq!(refusal("a b c d\n\na b c d e\n"), format!("set: line 3: {neither}"));
        assert_eq!(refusal("a b 1\na b\n"), "set: line 2: not two words and a score");
        assert_eq!(refusal(": s\na b c d\na b c\n"), "set: line 3: 3 words; a question has 4");
        assert!(TestSet::read(&b"a b \xff"[..], Path::new("set")).is_err());
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
}
