//! Copies of a trainer.

use super::{Method, Stream, Trainer};
use crate::error::{Error, Result};

/// Text that does not fill a batch yet can be tried out on a fork: the fork learns it and shows the result, and the
/// trainer itself does not change.
impl Trainer {
    /// A copy of this trainer. It takes as much memory again.
    ///
    /// ```
    /// use skipstream::corpus::Lines;
    /// use skipstream::{Config, Trainer};
    ///
    /// let config = Config { dimensions: 16, ..Config::default() };
    /// let mut trainer = Trainer::new(config.clone())?;
    /// trainer.train_source(&mut Lines::new("tea with milk".as_bytes(), "monday", &config.text)?)?;
    ///
    /// let mut fork = trainer.fork()?;
    /// fork.train_source(&mut Lines::new("cocoa".as_bytes(), "maybe", &config.text)?)?;
    /// assert_eq!((fork.vocabulary().len(), trainer.vocabulary().len()), (4, 3));
    ///
    /// fork.catch_up_with(&trainer);
    /// assert_eq!(fork.vocabulary().len(), 3);
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    ///
    /// A model that was [trained in passes](super::MultiPass) learns nothing more, so it has no forks.
    pub fn fork(&self) -> Result<Trainer> {
        if let Method::Passes(_) = self.method {
            return Err(Error::PassesAreOver { strategy: self.settings.strategy().name() });
        }
        let mut fork = Trainer::of_any_strategy(self.settings.config().clone(), self.kernel)?;
        fork.catch_up_with(self);
        Ok(fork)
    }

    /// Copies the state of another trainer into this one, without new memory for its rows.
    ///
    /// # Panics
    /// If the settings of the two differ.
    pub fn catch_up_with(&mut self, other: &Trainer) {
        assert_eq!(
            self.settings, other.settings,
            "a fork can only catch up with a trainer of the same settings"
        );
        let Stream { vocabulary, parameters, totals, initial } = &other.stream;
        self.stream.parameters.copy_from(parameters, vocabulary.len());
        self.stream.vocabulary = vocabulary.clone();
        self.stream.totals = *totals;
        self.stream.initial = initial.clone();
        match (&mut self.method, &other.method) {
            (Method::MiniBatch(method), Method::MiniBatch(other)) => {
                method.restore(other.batches(), other.replay().clone());
                *method.phrases_mut() = other.phrases().clone();
            }
            (Method::Sentences(method), Method::Sentences(other)) => method.clone_from(other),
            _ => unreachable!("only streams have forks, and the settings decide on the method"),
        }
        self.ledger = other.ledger.clone();
        self.notes = other.notes.clone();
    }
}

#[cfg(test)]
mod tests {
    use crate::train::MultiPass;
    use crate::train::testing::{bytes, learn};
    use crate::{BatchOptions, Config, IncrementalOptions, MiniBatchOptions, Strategy, Trainer};

    #[test]
    fn a_fork_learns_what_the_trainer_would_and_does_not_touch_it() {
        let warmed_up = IncrementalOptions { warm_up_words: 6, ..IncrementalOptions::default() };
        for strategy in [Strategy::mini_batch(), Strategy::incremental(), Strategy::Incremental(warmed_up)] {
            // The vocabulary is so small that words leave and slots are used again.
            let config = Config { dimensions: 5, max_vocabulary: 7, strategy, ..Config::default() };
            let mut trainer = Trainer::new(config.clone()).unwrap();
            let mut fork = trainer.fork().unwrap();
            let mut alone = Trainer::new(config).unwrap();
            let texts =
                ["one two three four\n", "four five six seven eight nine\n", "ten two three four one\n"];
            for text in texts {
                let before = bytes(&trainer);
                learn(&mut fork, "maybe eleven twelve one two\n");
                assert_eq!(bytes(&trainer), before);
                fork.catch_up_with(&trainer);
                assert_eq!(bytes(&fork), before);
                learn(&mut fork, text);
                learn(&mut trainer, text);
                learn(&mut alone, text);
                assert_eq!(bytes(&fork), bytes(&alone));
                assert_eq!(bytes(&trainer), bytes(&alone));
            }
        }
    }

    #[test]
    fn a_model_that_was_trained_in_passes_has_no_forks() {
        let strategy = Strategy::Batch(BatchOptions::default());
        let passes = MultiPass::new(Config { dimensions: 4, strategy, ..Config::default() }).unwrap();
        let message = passes.model().fork().unwrap_err().to_string();
        assert_eq!(message, "a model of the strategy batch cannot learn more text");
    }

    #[test]
    fn a_batch_is_closed_by_the_sentence_that_brings_its_last_word() {
        let config = Config {
            dimensions: 4,
            strategy: Strategy::MiniBatch(MiniBatchOptions { batch_words: 15, ..Default::default() }),
            ..Config::default()
        };
        let mut trainer = Trainer::new(config).unwrap();
        assert_eq!(trainer.settings().new_words_per_batch(0), 5);
        let (first, second) = ("one two three\nfour five six\n", "seven eight nine ten eleven\n");
        let mut at_once = trainer.fork().unwrap();
        learn(&mut at_once, &format!("{first}{second}"));
        learn(&mut trainer, first);
        learn(&mut trainer, second);
        assert_eq!(bytes(&trainer), bytes(&at_once));
    }
}
