//! The rows of new words.

use super::initial::Initial;
use crate::parameters::{Parameters, RowMut, fill_new_target};
use crate::vocabulary::{FreshWord, Vocabulary, WordId};

/// A new word, whose rows still hold the values of another word.
#[derive(Clone, Copy, Debug)]
pub(super) struct FreshRows {
    pub id: WordId,
    /// The number of the token that admitted the word.
    pub birth: u64,
    initial: Option<u32>,
}

impl FreshRows {
    pub fn new(id: WordId, birth: u64, word: &str, initial: Option<&Initial>) -> FreshRows {
        FreshRows { id, birth, initial: initial.and_then(|initial| initial.row(word)) }
    }

    /// A word without an initial vector.
    pub fn at_random(id: WordId, birth: u64) -> FreshRows {
        FreshRows { id, birth, initial: None }
    }

    /// A pinned word, which no token has admitted: its rows follow from the word.
    pub fn of_pinned(id: WordId, word: &str, initial: Option<&Initial>) -> FreshRows {
        let hash = blake3::hash(word.as_bytes());
        let hash = hash.as_bytes().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        // No token has such a number.
        FreshRows::new(id, hash | 1 << 63, word, initial)
    }

    /// Resets the rows: the target row to the word's initial vector, or to random values that depend on its birth; the
    /// context row to zero; AdaGrad's sums to their first value.
    pub fn reset(
        &self,
        [mut target, mut context]: [RowMut<'_>; 2],
        dimensions: usize,
        seed: u64,
        initial: Option<&Initial>,
    ) {
        target.clear(dimensions);
        context.clear(dimensions);
        let values = &mut target.values.as_flattened_mut()[..dimensions];
        match initial.zip(self.initial) {
            Some((initial, row)) => initial.fill(row, values),
            None => fill_new_target(values, seed, self.birth),
        }
    }
}

/// Resets the rows of a new word at once.
pub(super) fn admit(
    fresh: FreshWord,
    vocabulary: &Vocabulary,
    parameters: &mut Parameters,
    initial: Option<&Initial>,
) -> WordId {
    let (dimensions, seed) = (parameters.layout().dimensions, parameters.seed);
    fresh.reset(|id, birth| {
        let word = vocabulary.word(id);
        FreshRows::new(id, birth, word, initial).reset(parameters.rows_mut(id), dimensions, seed, initial)
    })
}
