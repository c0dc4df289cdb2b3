//! The words of the rows, and the index from words to rows.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use hashbrown::HashTable;

use crate::hash::WordHasher;

/// The index is built after this many scans of the whole list. By then, scanning has taken about as long as building it
/// would. (A scan of half a million words takes 2 ms.)
const SEARCHES: usize = 32;

/// Whether one of the letters is upper-case.
pub(crate) fn has_upper_case(text: &str) -> bool {
    match text.is_ascii() {
        true => text.bytes().any(|byte| byte.is_ascii_uppercase()),
        false => text.chars().any(char::is_uppercase),
    }
}

/// A list of distinct words, indexed by row and by word.
pub(crate) struct WordList {
    /// All words, concatenated: a million small strings would be a million allocations.
    text: String,
    /// The end of each word in `text`. It starts at the end of the previous word.
    ends: Vec<u64>,
    index: OnceLock<HashTable<usize>>,
    /// Words compared while there was no index.
    searched: AtomicUsize,
    is_lowercase: OnceLock<bool>,
}

impl Default for WordList {
    fn default() -> WordList {
        WordList {
            text: String::new(),
            ends: Vec::new(),
            index: OnceLock::from(HashTable::new()),
            searched: AtomicUsize::new(0),
            is_lowercase: OnceLock::new(),
        }
    }
}

impl WordList {
    /// Words that are known to be distinct. The ends must be ascending, within the text and between characters.
    ///
    /// The index is built later: a lookup of one word should not wait until a million words are indexed.
    pub(crate) fn unindexed(text: String, ends: Vec<u64>) -> WordList {
        WordList { text, ends, index: OnceLock::new(), ..WordList::default() }
    }

    /// Appends a word, or returns the row that already has it.
    pub(crate) fn push(&mut self, word: &str) -> Result<(), usize> {
        if let Some(row) = self.row(word) {
            return Err(row);
        }
        let row = self.len();
        self.is_lowercase.take();
        self.text.push_str(word);
        self.ends.push(self.text.len() as u64);
        let WordList { text, ends, index, .. } = self;
        let index = index.get_mut().expect("a list that grows has an index from the start");
        index.insert_unique(hash(word), row, |&row| hash(slice(text, ends, row)));
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
        if self.index.get().is_none() && self.searched.load(Ordering::Relaxed) < SEARCHES * self.len() {
            return self.search(word);
        }
        let index = self.index.get_or_init(|| self.make_index());
        index.find(hash(word), |&row| self.word(row) == word).copied()
    }

    /// Whether no word has an upper-case letter.
    pub(super) fn is_lowercase(&self) -> bool {
        *self.is_lowercase.get_or_init(|| !has_upper_case(&self.text))
    }

    pub(super) fn in_order(&self, order: &[usize]) -> WordList {
        let mut text = String::with_capacity(self.text.len());
        let mut ends = Vec::with_capacity(order.len());
        for &row in order {
            text.push_str(self.word(row));
            ends.push(text.len() as u64);
        }
        WordList::unindexed(text, ends)
    }

    /// Compares one word after the other.
    fn search(&self, word: &str) -> Option<usize> {
        let length = word.len() as u64;
        let mut start = 0;
        let found = self.ends.iter().position(|&end| {
            let same = end - start == length
                && self.text.as_bytes()[start as usize..end as usize] == *word.as_bytes();
            start = end;
            same
        });
        self.searched.fetch_add(found.unwrap_or(self.len()), Ordering::Relaxed);
        found
    }

    /// Of a word that occurs twice, the first row is found.
    fn make_index(&self) -> HashTable<usize> {
        let mut index = HashTable::with_capacity(self.len());
        for row in 0..self.len() {
            let word = self.word(row);
            let entry =
                index.entry(hash(word), |&other| self.word(other) == word, |&row| hash(self.word(row)));
            entry.or_insert(row);
        }
        index
    }
}

fn slice<'text>(text: &'text str, ends: &[u64], row: usize) -> &'text str {
    let start = if row == 0 { 0 } else { ends[row - 1] };
    &text[start as usize..ends[row] as usize]
}

fn hash(word: &str) -> u64 {
    WordHasher::new().hash(word.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_by_row_and_rows_by_word() {
        let mut words = WordList::default();
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
        let mut words = WordList::default();
        assert_eq!(words.push(""), Ok(()));
        assert_eq!(words.push("cat"), Ok(()));
        assert_eq!(words.push("cat"), Err(1));
        assert_eq!(words.push(""), Err(0));
        assert_eq!(words.len(), 2);
    }

    #[test]
    fn the_index_is_made_when_it_pays_and_changes_no_answer() {
        let words = WordList::unindexed("onetwotwothree".to_owned(), vec![3, 6, 9, 14]);
        assert_eq!(words.row("one"), Some(0));
        for _ in 0..SEARCHES {
            assert!(words.index.get().is_none());
            assert_eq!(words.row("none"), None);
        }
        assert_eq!(words.row("two"), Some(1));
        assert!(words.index.get().is_some());
        assert_eq!([words.row("one"), words.row("three"), words.row("onetwo")], [Some(0), Some(3), None]);
    }

    #[test]
    fn no_words_have_no_rows() {
        assert_eq!(WordList::unindexed(String::new(), Vec::new()).row(""), None);
    }
}
