//! Which rows the words of a test set stand for.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::embeddings::Embeddings;

/// What to do with capital letters, which a test set has and a vocabulary may not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Case {
    /// Words that differ only in their capitals are one word, and its most frequent spelling has its vector. So do
    /// word2vec's `compute-accuracy` and gensim.
    #[default]
    Ignore,
    /// Look words up as they are written.
    Keep,
    /// Look words up in lower case.
    Lower,
}

/// Words → rows, and which rows are the same word.
#[derive(Clone, Debug)]
pub(super) enum Lexicon {
    /// Every row is a word of its own.
    Exact(Case),
    /// Rows that differ only in capitals are one word, known by its first row.
    Folded {
        /// The first row of each word in capitals.
        first_rows: HashMap<String, usize>,
        /// The first row of the word that each row is.
        words: Vec<usize>,
    },
}

impl Lexicon {
    pub(super) fn new(embeddings: &Embeddings, case: Case) -> Lexicon {
        if case != Case::Ignore {
            return Lexicon::Exact(case);
        }
        let mut first_rows = HashMap::with_capacity(embeddings.len());
        // Capitals and not small letters, as the peers do: in them `ß` equals `ss`, and no letter has two forms.
        let upper = embeddings.words().map(str::to_uppercase);
        let words = upper.enumerate().map(|(row, word)| *first_rows.entry(word).or_insert(row)).collect();
        Lexicon::Folded { first_rows, words }
    }

    /// The row of a word of the test set.
    pub(super) fn row(&self, embeddings: &Embeddings, word: &str) -> Option<usize> {
        match self {
            Lexicon::Exact(Case::Lower) => embeddings.index_of(&word.to_lowercase()),
            Lexicon::Exact(_) => embeddings.index_of(word),
            Lexicon::Folded { first_rows, .. } => first_rows.get(&word.to_uppercase()).copied(),
        }
    }

    /// The row that stands for the word of a row: two rows are the same word if this is the same.
    pub(super) fn word_of(&self, row: usize) -> usize {
        match self {
            Lexicon::Exact(_) => row,
            Lexicon::Folded { words, .. } => words[row],
        }
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
    }
}
