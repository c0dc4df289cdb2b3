//! Words, counts and rows, sorted by frequency.

use std::cmp::Reverse;

use super::VectorsError;
use super::rows::Rows;
use super::words::WordList;
use crate::{Error, Result};

/// What clones of embeddings share.
pub(super) struct Table {
    pub dimensions: usize,
    pub words: WordList,
    pub counts: Counts,
    pub rows: Rows,
}

/// The counts of words, by row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    /// Occurrences since the word was admitted.
    pub all: Vec<u64>,
    /// The same, where older occurrences count less: of a model with a half-life.
    pub recent: Option<Vec<u64>>,
    /// The number of documents with the word, of a model of text with documents.
    pub documents: Option<Vec<u64>>,
}

impl Counts {
    /// The counts that rows are sorted by, and that decide which words are frequent.
    pub fn deciding(&self) -> &[u64] {
        self.recent.as_ref().unwrap_or(&self.all)
    }

    /// The counts of these rows.
    pub fn of(&self, rows: &[usize]) -> Counts {
        let select = |counts: &Vec<u64>| rows.iter().map(|&row| counts[row]).collect();
        Counts {
            all: select(&self.all),
            recent: self.recent.as_ref().map(select),
            documents: self.documents.as_ref().map(select),
        }
    }
}

impl From<Vec<u64>> for Counts {
    fn from(all: Vec<u64>) -> Counts {
        Counts { all, recent: None, documents: None }
    }
}

impl Table {
    /// Sorts the rows: by descending count, equal counts by word.
    pub fn sorted(dimensions: usize, words: WordList, counts: Counts, values: Vec<f32>) -> Result<Table> {
        let deciding = counts.deciding();
        assert!([deciding.len(), counts.all.len()] == [words.len(); 2], "every word has a count");
        check(dimensions, &words, &values)?;
        let mut order: Vec<usize> = (0..words.len()).collect();
        order.sort_unstable_by_key(|&row| (Reverse(deciding[row]), words.word(row)));
        if order.is_sorted() {
            return Ok(Table { dimensions, words, counts, rows: Rows::owned(dimensions, values) });
        }
        let mut sorted = Vec::with_capacity(values.len());
        for &row in &order {
            sorted.extend_from_slice(&values[row * dimensions..][..dimensions]);
        }
        Ok(Table {
            dimensions,
            words: words.in_order(&order),
            counts: counts.of(&order),
            rows: Rows::owned(dimensions, sorted),
        })
    }

    pub fn is_sorted(&self) -> bool {
        let counts = self.counts.deciding();
        (0..self.words.len()).is_sorted_by_key(|row| (Reverse(counts[row]), self.words.word(row)))
    }
}

fn check(dimensions: usize, words: &WordList, values: &[f32]) -> Result<()> {
    if dimensions == 0 {
        return Err(Error::setting("dimensions", 0, "at least 1"));
    }
    if words.len().checked_mul(dimensions) != Some(values.len()) {
        let (words, values) = (words.len(), values.len());
        return Err(VectorsError::Length { words, dimensions, values }.into());
    }
    let mut rows = values.chunks_exact(dimensions).enumerate();
    rows.try_for_each(|(row, vector)| check_finite(words, row, vector))
}

pub(super) fn check_finite(words: &WordList, row: usize, vector: &[f32]) -> Result<()> {
    match vector.iter().position(|value| !value.is_finite()) {
        Some(position) => Err(VectorsError::NotFinite {
            word: words.word(row).to_owned(),
            number: row + 1,
            position: position + 1,
            value: vector[position],
        }
        .into()),
        None => Ok(()),
    }
}
