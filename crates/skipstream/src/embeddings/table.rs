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
    pub counts: Vec<u64>,
    pub rows: Rows,
}

impl Table {
    /// Sorts the rows: by descending count, equal counts by word.
    pub fn sorted(dimensions: usize, words: WordList, counts: Vec<u64>, values: Vec<f32>) -> Result<Table> {
        assert_eq!(words.len(), counts.len(), "every word has a count");
        check(dimensions, &words, &values)?;
        let mut order: Vec<usize> = (0..words.len()).collect();
        order.sort_unstable_by_key(|&row| (Reverse(counts[row]), words.word(row)));
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
            counts: order.iter().map(|&row| counts[row]).collect(),
            rows: Rows::owned(dimensions, sorted),
        })
    }

    pub fn is_sorted(&self) -> bool {
        (0..self.words.len()).is_sorted_by_key(|row| (Reverse(self.counts[row]), self.words.word(row)))
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
