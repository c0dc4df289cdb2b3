//! The rows of the words of a test set.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::embeddings::Embeddings;

/// How words of a test set are looked up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Case {
    /// Spellings that differ only in case are one word, with the vector of the most frequent one. word2vec's
    /// `compute-accuracy` and gensim do the same.
    #[default]
    Ignore,
    /// As written.
    Keep,
    /// In lower case.
    Lower,
}

/// Words → rows, and the spellings of each word.
#[derive(Clone, Debug)]
pub(super) enum Lexicon {
    /// Every row is a word of its own.
    Exact(Case),
    /// Rows that differ only in case are one word, identified by its first row.
    Folded {
        /// The first row of each word in upper case.
        first_rows: HashMap<String, usize>,
        /// The first row of each row's word.
        words: Vec<usize>,
        /// The other rows of words with several spellings, by their first row.
        others: HashMap<usize, Vec<usize>>,
    },
}

impl Lexicon {
    pub(super) fn new(embeddings: &Embeddings, case: Case) -> Lexicon {
        if case != Case::Ignore {
            return Lexicon::Exact(case);
        }
        let mut first_rows = HashMap::with_capacity(embeddings.len());
        // Upper case, as in word2vec and gensim: there `ß` equals `ss`, and no letter has two forms.
        let upper = embeddings.words().map(str::to_uppercase);
        let words: Vec<usize> =
            upper.enumerate().map(|(row, word)| *first_rows.entry(word).or_insert(row)).collect();
        let mut others: HashMap<usize, Vec<usize>> = HashMap::new();
        for (row, &first) in words.iter().enumerate().filter(|&(row, &first)| row != first) {
            others.entry(first).or_default().push(row);
        }
        Lexicon::Folded { first_rows, words, others }
    }

    /// The row of a word, or that of its estimate if the embeddings have one.
    pub(super) fn row(&self, embeddings: &Embeddings, word: &str) -> Option<usize> {
        let spelling = self.spelling(word);
        match self {
            Lexicon::Exact(_) => embeddings.exact_index_of(&spelling),
            Lexicon::Folded { first_rows, .. } => match first_rows.get(&word.to_uppercase()) {
                Some(&row) => Some(embeddings.estimate_of_row(row)),
                None => embeddings.estimate_of(&spelling),
            },
        }
    }

    /// The spelling of a word to look up or, if it is unknown, to estimate.
    pub(super) fn spelling<'a>(&self, word: &'a str) -> Cow<'a, str> {
        match self {
            Lexicon::Exact(Case::Lower) => word.to_lowercase().into(),
            _ => word.into(),
        }
    }

    /// The first row of a row's word.
    pub(super) fn word_of(&self, row: usize) -> usize {
        match self {
            Lexicon::Exact(_) => row,
            Lexicon::Folded { words, .. } => words[row],
        }
    }

    /// The rows of some words with all their spellings.
    pub(super) fn spellings(&self, first_rows: &[usize]) -> Vec<usize> {
        let mut rows = first_rows.to_vec();
        if let Lexicon::Folded { others, .. } = self {
            rows.extend(first_rows.iter().filter_map(|row| others.get(row)).flatten());
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embeddings() -> Embeddings {
        let words = [("us", 5), ("US", 4), ("Straße", 3), ("STRASSE", 2), ("x", 1)];
        Embeddings::new(1, words, vec![1.0; 5]).unwrap()
    }

    fn rows(case: Case, words: [&str; 4]) -> [Option<usize>; 4] {
        let embeddings = embeddings();
        let lexicon = Lexicon::new(&embeddings, case);
        words.map(|word| lexicon.row(&embeddings, word))
    }

    #[test]
    fn a_spelling_is_kept_lowered_or_ignored() {
        let words = ["US", "Us", "strasse", "X"];
        assert_eq!(rows(Case::Keep, words), [Some(1), None, None, None]);
        assert_eq!(rows(Case::Lower, words), [Some(0), Some(0), None, Some(4)]);
        assert_eq!(rows(Case::Ignore, words), [Some(0), Some(0), Some(2), Some(4)]);
    }

    #[test]
    fn spellings_are_one_word_where_case_is_ignored() {
        let all = |case| (0..5).map(|row| Lexicon::new(&embeddings(), case).word_of(row)).collect::<Vec<_>>();
        assert_eq!(all(Case::Ignore), [0, 0, 2, 2, 4]);
        assert_eq!(all(Case::Keep), [0, 1, 2, 3, 4]);
        let spellings = |case| Lexicon::new(&embeddings(), case).spellings(&[4, 2]);
        assert_eq!((spellings(Case::Ignore), spellings(Case::Keep)), (vec![4, 2, 3], vec![4, 2]));
    }
}
