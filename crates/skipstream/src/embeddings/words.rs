//! The words of the rows: one string for all of them, and the way back from a word to its row.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

/// A list of distinct words, each found by its row or the row by its word.
#[derive(Default)]
pub(crate) struct Words {
    /// All words, one after the other: a million small strings would cost a million allocations.
    text: String,
    /// Where each word ends in `text`; it starts where the one before ends.
    ends: Vec<usize>,
    rows: HashTable<usize>,
}

impl Words {
    /// Appends a word, or says in which row it already stands.
    pub(crate) fn push(&mut self, word: &str) -> Result<(), usize> {
        if let Some(row) = self.row(word) {
            return Err(row);
        }
        let row = self.len();
        self.text.push_str(word);
        self.ends.push(self.text.len());
        let Words { text, ends, rows } = self;
        rows.insert_unique(hash(word), row, |&row| hash(slice(text, ends, row)));
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The word of a row, which must exist.
    pub(crate) fn word(&self, row: usize) -> &str {
        slice(&self.text, &self.ends, row)
    }

    pub(crate) fn row(&self, word: &str) -> Option<usize> {
        let found = self.rows.find(hash(word), |&row| self.word(row) == word);
        found.copied()
    }
}

fn slice<'text>(text: &'text str, ends: &[usize], row: usize) -> &'text str {
    let start = if row == 0 { 0 } else { ends[row - 1] };
    &text[start..ends[row]]
}

/// The seed is fixed, so that nothing here depends on the run.
fn hash(word: &str) -> u64 {
    FixedState::with_seed(0).hash_one(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_by_row_and_rows_by_word() {
        let mut words = Words::default();
        for number in 0..1000 {
            assert_eq!(words.push(&number.to_string()), Ok(()));
        }
        assert_eq!(words.len(), 1000);
        for number in 0..1000 {
            assert_eq!(words.word(number), number.to_string());
            assert_eq!(words.row(&number.to_string()), Some(number));
        }
        assert_eq!(words.row("1000"), None);
    }

    #[test]
    fn a_second_copy_is_refused_with_the_row_of_the_first() {
        let mut words = Words::default();
        assert_eq!(words.push(""), Ok(()));
        assert_eq!(words.push("cat"), Ok(()));
        assert_eq!(words.push("cat"), Err(1));
        assert_eq!(words.push(""), Err(0));
        assert_eq!(words.len(), 2);
    }
}
