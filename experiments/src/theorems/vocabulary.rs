//! A text in memory, reduced to a thousand distinct words.

use std::collections::HashMap;
use std::ops::Range;

use anyhow::{Result, ensure};

use crate::data::{Corpus, Data};
use crate::record::Source;
use xtask::text::{each_line, open, words};

/// The number of words, including the token for all others.
pub const SIZE: usize = 1000;

/// A text whose words are numbers. The most frequent words are 0, 1, 2 … in the order of their frequency; the last
/// number is the token for all other words.
pub struct ReducedText {
    pub words: Vec<u16>,
    pub counts: Vec<u64>,
    line_ends: Vec<u32>,
}

/// The pieces of a text: where they begin and end.
pub struct Pieces {
    bounds: Vec<Range<u32>>,
    longest: usize,
}

impl ReducedText {
    /// Reads the largest available corpus.
    pub fn read(data: &Data) -> Result<(Self, Source)> {
        let corpus = data.first_of(&[Corpus::Wiki2014, Corpus::Wiki2006])?;
        let mut numbers: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut text: Vec<u32> = Vec::new();
        let mut line_ends = Vec::new();
        let mut hash = blake3::Hasher::new();
        let mut bytes = 0;
        each_line(open(&data.corpus(corpus)?)?, |line| {
            hash.update(line);
            bytes += line.len() as u64;
            for word in words(line) {
                let next = numbers.len() as u32;
                text.push(match numbers.get(word) {
                    Some(&number) => number,
                    None => *numbers.entry(word.to_vec()).or_insert(next),
                });
            }
            line_ends.push(u32::try_from(text.len())?);
            Ok(())
        })?;
        ensure!(numbers.len() >= SIZE, "{} has only {} distinct words", corpus.name(), numbers.len());
        let source = Source {
            name: corpus.name().into(),
            blake3: hash.finalize().to_hex().to_string(),
            bytes,
            lines: line_ends.len() as u64,
            words: text.len() as u64,
        };
        Ok((Self::reduce(&text, numbers.len(), SIZE, line_ends), source))
    }

    fn reduce(text: &[u32], n_words: usize, size: usize, line_ends: Vec<u32>) -> Self {
        let mut frequencies = vec![0u64; n_words];
        for &word in text {
            frequencies[word as usize] += 1;
        }
        let mut order: Vec<usize> = (0..n_words).collect();
        order.sort_by_key(|&word| (std::cmp::Reverse(frequencies[word]), word));
        let mut reduced = vec![(size - 1) as u16; n_words];
        for (rank, &word) in order.iter().take(size - 1).enumerate() {
            reduced[word] = rank as u16;
        }
        let words: Vec<u16> = text.iter().map(|&word| reduced[word as usize]).collect();
        Self::new(words, size, line_ends)
    }

    /// A text of numbers below `size`.
    pub fn new(words: Vec<u16>, size: usize, line_ends: Vec<u32>) -> Self {
        let mut counts = vec![0; size];
        for &word in &words {
            counts[usize::from(word)] += 1;
        }
        Self { words, counts, line_ends }
    }

    /// The share of each word: μ, by maximum likelihood.
    pub fn shares(&self) -> Vec<f64> {
        self.counts.iter().map(|&count| count as f64 / self.words.len() as f64).collect()
    }

    /// The lines, each cut into pieces of at most `longest` words.
    pub fn pieces(&self, longest: usize) -> Pieces {
        let mut bounds = Vec::new();
        let mut start = 0;
        for &end in &self.line_ends {
            while start < end {
                let stop = end.min(start + longest as u32);
                bounds.push(start..stop);
                start = stop;
            }
        }
        Pieces { bounds, longest }
    }

    pub fn piece(&self, pieces: &Pieces, index: usize) -> &[u16] {
        let bounds = &pieces.bounds[index];
        &self.words[bounds.start as usize..bounds.end as usize]
    }
}

impl Pieces {
    pub fn len(&self) -> usize {
        self.bounds.len()
    }

    /// The maximum length of a piece.
    pub fn longest(&self) -> usize {
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_become_one_token() {
        let text = ReducedText::reduce(&[0, 1, 1, 2, 3, 1, 3], 4, 3, vec![7]);
        assert_eq!(text.words, [2, 0, 0, 2, 1, 0, 1]);
        assert_eq!(text.counts, [3, 2, 2]);
    }

    #[test]
    fn long_lines_are_cut() {
        let text = ReducedText::new(vec![0, 1, 2, 3, 4, 5], 6, vec![1, 1, 6]);
        let pieces = text.pieces(2);
        let pieces: Vec<_> = (0..pieces.len()).map(|index| text.piece(&pieces, index).to_vec()).collect();
        assert_eq!(pieces, [vec![0], vec![1, 2], vec![3, 4], vec![5]]);
    }
}
