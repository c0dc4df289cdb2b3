//! A text in memory that can be split at line ends.

use std::fs;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result};

use xtask::text::words;

pub struct LinedText {
    bytes: Vec<u8>,
    /// Bytes and words before each line, and before the end.
    starts: Vec<(usize, u64)>,
}

impl LinedText {
    /// A plain text file.
    pub fn read(path: &Path) -> Result<Self> {
        Ok(Self::new(fs::read(path).with_context(|| format!("could not read {}", path.display()))?))
    }

    /// Empty lines are part of the next line.
    pub fn new(bytes: Vec<u8>) -> Self {
        let mut starts = vec![(0, 0)];
        let (mut place, mut n_words) = (0, 0);
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            place += line.len();
            let in_line = words(line).count() as u64;
            n_words += in_line;
            if in_line > 0 {
                starts.push((place, n_words));
            }
        }
        Self { bytes, starts }
    }

    pub fn all(&self) -> Range<usize> {
        0..self.starts.len() - 1
    }

    /// The text of some lines.
    pub fn lines(&self, lines: &Range<usize>) -> &[u8] {
        &self.bytes[self.starts[lines.start].0..self.starts[lines.end].0]
    }

    pub fn n_words(&self, lines: &Range<usize>) -> u64 {
        self.starts[lines.end].1 - self.starts[lines.start].1
    }

    /// Groups of lines that end when they have `words_each` words, like mini-batches; the last may have fewer.
    pub fn batches(&self, lines: Range<usize>, words_each: u64) -> Vec<Range<usize>> {
        let mut batches = Vec::new();
        let mut start = lines.start;
        for end in lines.start + 1..=lines.end {
            if end == lines.end || self.n_words(&(start..end)) >= words_each {
                batches.push(start..end);
                start = end;
            }
        }
        batches
    }
}

/// Splits `n` items into `parts` groups whose sizes differ by at most one.
pub fn evenly(n: usize, parts: usize) -> Vec<Range<usize>> {
    (0..parts).map(|part| n * part / parts..n * (part + 1) / parts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_end_with_the_line_that_fills_them() {
        let text = LinedText::new(b"a b\n\nc\nd e f\ng\n".to_vec());
        assert_eq!((text.all(), text.n_words(&text.all())), (0..4, 7));
        assert_eq!(text.batches(text.all(), 3), [0..2, 2..3, 3..4]);
        assert_eq!(text.batches(1..3, 9), vec![1..3; 1]);
        assert!(text.batches(2..2, 9).is_empty());
        assert_eq!(text.lines(&(1..3)), b"\nc\nd e f\n");
    }

    #[test]
    fn even_parts_hold_everything_once() {
        assert_eq!(evenly(7, 3), [0..2, 2..4, 4..7]);
        assert_eq!(evenly(3, 1), vec![0..3; 1]);
    }
}
