//! Words, counts and rows, in the order of frequency.

use std::cmp::Reverse;

use super::rows::Rows;
use super::words::Words;
use crate::{Error, Result};

/// What embeddings share.
pub(super) struct Table {
    pub dimensions: usize,
    pub words: Words,
    pub counts: Vec<u64>,
    pub rows: Rows,
}

impl Table {
    /// Puts the rows into order: descending counts, equal counts by word.
    pub fn sorted(dimensions: usize, words: Words, counts: Vec<u64>, values: Vec<f32>) -> Result<Table> {
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

fn check(dimensions: usize, words: &Words, values: &[f32]) -> Result<()> {
    if dimensions == 0 {
        return Err(Error::Setting {
            field: "dimensions",
            value: "0".to_owned(),
            limit: "at least 1".to_owned(),
        });
    }
    if words.len().checked_mul(dimensions) != Some(values.len()) {
        return Err(Error::invalid_vectors(format!(
            "{} words of {dimensions} dimensions do not have {} values",
            words.len(),
            values.len()
        )));
    }
    let mut rows = values.chunks_exact(dimensions).enumerate();
    rows.try_for_each(|(row, vector)| check_finite(words, row, vector))
}

/// An error that names the first value that is not finite.
pub(super) fn check_finite(words: &Words, row: usize, vector: &[f32]) -> Result<()> {
    match vector.iter().position(|value| !value.is_finite()) {
        Some(place) => Err(Error::invalid_vectors(format!(
            "value {} of `{}` (word {}) is {}; it must be finite",
            place + 1,
            words.word(row),
            row + 1,
            vector[place]
        ))),
        None => Ok(()),
    }
}
