//! Initial vectors.

use serde::{Deserialize, Serialize};

use crate::embeddings::Embeddings;
use crate::error::Result;

/// Initial vectors: the target row of a word that has one starts there, and not at random.
///
/// They are used whenever a word enters the vocabulary, for the first time or after an eviction, so they are part of the
/// trainer's state and saved with it. They add no words, counts or contexts to the model: a word enters the vocabulary when
/// it occurs in the text, and its context row starts at zero.
#[derive(Clone, Debug)]
pub struct Initial {
    /// The vectors.
    pub vectors: Embeddings,
    /// The file they were loaded from.
    pub source: InitialSource,
}

/// The file of the initial vectors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InitialSource {
    /// The name of the file, without its folder.
    pub file: String,
    /// BLAKE3 of the file, in hexadecimal.
    pub fingerprint: String,
}

impl Initial {
    /// Keeps the vectors of the most frequent words only, sorted by count.
    pub(super) fn cut_to(mut self, most: usize) -> Result<Initial> {
        if self.vectors.has_recent_counts() {
            self.vectors = self.vectors.top(most).without_recent_counts()?;
        }
        if self.vectors.len() <= most {
            return Ok(self);
        }
        let rows: Vec<usize> = (0..most).collect();
        Ok(Initial { vectors: self.vectors.select(&rows)?, source: self.source })
    }

    pub(super) fn row(&self, word: &str) -> Option<u32> {
        self.vectors.exact_index_of(word).map(|row| row as u32)
    }

    pub(super) fn fill(&self, row: u32, target: &mut [f32]) {
        target.copy_from_slice(&self.vectors.vector_at(row as usize));
    }

    /// Memory of the vectors in bytes, including the copies that saving makes.
    pub fn bytes(&self) -> u64 {
        let words = self.vectors.len();
        let text: usize = self.vectors.words().map(str::len).sum();
        // A long word takes its own bytes only, three times while the list grows. Saving copies words and counts.
        let held = Embeddings::max_bytes(words, self.vectors.dimensions(), 0) + 3 * text as u64;
        held + (text + words * 16) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Lines;
    use crate::{Config, Strategy, Trainer};

    const TEXT: &str = "tea with milk\ncoffee with milk\n";

    fn initial() -> Initial {
        let vectors =
            Embeddings::new(2, [("tea", 3), ("milk", 2), ("stone", 1)], vec![3., 4., -1., 2., 9., 9.]);
        let source = InitialSource { file: "v.txt".to_owned(), fingerprint: "0".repeat(64) };
        Initial { vectors: vectors.unwrap(), source }
    }

    /// A model whose rate is too small to move a row.
    fn config(strategy: Strategy) -> Config {
        let learning_rate = Some(1e-6);
        Config {
            dimensions: 2,
            max_vocabulary: 100,
            subsample: 0.0,
            learning_rate,
            strategy,
            ..Config::default()
        }
    }

    fn train(trainer: &mut Trainer, text: &str) {
        let options = trainer.settings().text().clone();
        trainer.train_source(&mut Lines::new(text.as_bytes(), "text", &options).unwrap()).unwrap();
    }

    fn is_near(row: &[f32], expected: [f32; 2]) -> bool {
        row.iter().zip(expected).all(|(value, expected)| (value - expected).abs() < 1e-3)
    }

    #[test]
    fn words_that_occur_start_with_their_vectors_and_others_are_not_known() {
        for strategy in [Strategy::mini_batch(), Strategy::incremental()] {
            let mut trainer = Trainer::starting_from(config(strategy), initial()).unwrap();
            train(&mut trainer, TEXT);
            let (vocabulary, parameters) = (trainer.vocabulary(), trainer.parameters());
            for (word, expected) in [("tea", [3.0, 4.0]), ("milk", [-1.0, 2.0])] {
                let id = vocabulary.id(word).unwrap();
                assert!(is_near(parameters.target(id), expected), "{strategy:?}: {word}");
                assert!(is_near(parameters.context(id), [0.0, 0.0]), "{strategy:?}: contexts start fresh");
            }
            assert_eq!(vocabulary.count(vocabulary.id("milk").unwrap()), 2, "counts are those of the text");
            assert!(vocabulary.id("stone").is_none());
            let coffee = parameters.target(vocabulary.id("coffee").unwrap());
            assert!(coffee.iter().all(|value| value.abs() <= 0.26), "others start at random");
        }
    }

    #[test]
    fn a_word_that_comes_later_or_again_after_saving_starts_with_its_vector_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m");
        let config = Config { max_vocabulary: 3, ..config(Strategy::mini_batch()) };
        let mut trainer = Trainer::starting_from(config, initial()).unwrap();
        train(&mut trainer, "tea with milk\nnew ones come\n");
        assert!(trainer.vocabulary().id("tea").is_none(), "it had to leave");
        trainer.save(&path).unwrap();
        let mut trainer = Trainer::load(&path, None).unwrap();
        assert_eq!(trainer.initial().unwrap().source, initial().source);
        train(&mut trainer, "tea\n");
        let tea = trainer.vocabulary().id("tea").unwrap();
        assert!(is_near(trainer.parameters().target(tea), [3.0, 4.0]));
    }

    #[test]
    fn a_long_word_takes_room_once() {
        let bytes = |long: usize| {
            let words = (0..1_000).map(|n| if n == 0 { "x".repeat(long) } else { format!("{n:04}") });
            let words: Vec<String> = words.collect();
            let vectors = Embeddings::new(2, words.iter().map(|word| (word.as_str(), 1)), vec![1.0; 2_000]);
            Initial { vectors: vectors.unwrap(), ..initial() }.bytes()
        };
        assert_eq!(bytes(5_004) - bytes(4), 4 * 5_000);
        let held = Embeddings::max_bytes(1_000, 2, 4);
        assert_eq!(bytes(4), held + 1_000 * (4 + 16), "of words of one length, as ever");
    }

    #[test]
    fn dimensions_must_agree_and_no_more_is_held_than_there_may_be_words() {
        let wrong = Config { dimensions: 3, ..config(Strategy::mini_batch()) };
        let message = Trainer::starting_from(wrong, initial()).unwrap_err().to_string();
        assert_eq!(message, "dimensions is 3; it must be 2, as in v.txt");
        let small = Config { max_vocabulary: 2, ..config(Strategy::mini_batch()) };
        let trainer = Trainer::starting_from(small, initial()).unwrap();
        assert_eq!(trainer.initial().unwrap().vectors.len(), 2);
        assert!(trainer.memory_bound().initial > 0);
    }
}
