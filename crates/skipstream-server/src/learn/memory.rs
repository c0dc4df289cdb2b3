//! How much memory a service may take.

use serde::Serialize;
use skipstream::{Embeddings, Settings, Trainer, train};

use crate::log::Chunk;
use crate::settings::{LONG_JSONS, MAX_JSON_BYTES, MAX_TEXTS, SHORT_JSON_BYTES, ServeSettings};

/// Bytes that a service takes at the most, whatever is sent to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryBound {
    /// The trainer, with what saving takes.
    pub trainer: u64,
    /// Its fork, for text that does not fill a batch.
    pub fork: u64,
    /// What is published, what was published before and is still being read, and what is being made.
    pub published: u64,
    /// Text that was read from the log and is not learned.
    pub read_ahead: u64,
    /// Text on its way into the log, and what the database keeps in memory.
    pub log: u64,
    /// Bodies of requests that are being read, and answers.
    pub requests: u64,
}

impl MemoryBound {
    /// The bound of a trainer in a service.
    pub fn new(trainer: &Trainer, settings: &ServeSettings) -> MemoryBound {
        MemoryBound::of(trainer.settings(), trainer.memory_bound(), settings)
    }

    /// The bound of a new model with these settings in a service.
    pub fn of_new(config: &Settings, settings: &ServeSettings) -> MemoryBound {
        MemoryBound::of(config, train::MemoryBound::new(config), settings)
    }

    fn of(config: &Settings, model: train::MemoryBound, settings: &ServeSettings) -> MemoryBound {
        let words = config.max_vocabulary() as u64;
        // Beside words and vectors, when each word was seen (32 bytes) and its place in the alphabet.
        let published = Embeddings::max_bytes(
            config.max_vocabulary(),
            config.dimensions(),
            config.text().max_token_bytes,
        ) + 36 * words;
        let chunk = (Chunk::BYTES + settings.max_line_bytes) as u64;
        let queued_words = (config.new_words_per_batch() + config.text().max_sentence_words) as u64;
        // Of a chunk, at worst every other byte is a word: eight bytes for its place.
        let queued = queued_words * (config.text().max_token_bytes as u64 + 8) + chunk * 5;
        // The times of words: two numbers a slot, twice while they are settled, and the places that wait.
        let times = 2 * 16 * words + (32 << 20);
        // Of a text: a chunk that is filled and one that is logged, a line that is not whole, and a step of gzip.
        let text = (2 * Chunk::BYTES + settings.max_line_bytes) as u64 + (1 << 20);
        let texts = settings.max_requests.min(MAX_TEXTS) as u64 * text;
        // Of a question in JSON: its bytes, and at worst as much again three times for what they say.
        let short = (settings.max_requests * SHORT_JSON_BYTES) as u64;
        let questions = 4 * (short + (LONG_JSONS * MAX_JSON_BYTES) as u64);
        MemoryBound {
            trainer: model.total(),
            fork: model.total() - model.saving - model.program,
            published: 3 * published,
            read_ahead: queued + times,
            // Requests that wait and those in one transaction; the caches of three connections.
            log: 32 * chunk + (8 << 20) + chunk + 3 * (4 << 20),
            requests: texts + questions,
        }
    }

    /// All of it.
    pub fn total(&self) -> u64 {
        let MemoryBound { trainer, fork, published, read_ahead, log, requests } = self;
        trainer + fork + published + read_ahead + log + requests
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skipstream::Config;

    #[test]
    fn the_bound_holds_the_trainer_twice_and_grows_with_the_vocabulary() {
        let bound = |max_vocabulary| {
            let trainer = Trainer::new(Config { max_vocabulary, ..Config::default() }).unwrap();
            (MemoryBound::new(&trainer, &ServeSettings::default()).total(), trainer.memory_bound().parameters)
        };
        let ((small, _), (large, parameters)) = (bound(1_000), bound(100_000));
        assert!(large > small && large > 2 * parameters);
    }
}
