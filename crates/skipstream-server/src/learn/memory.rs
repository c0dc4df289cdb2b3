//! The memory limit of a service.

use serde::Serialize;
use skipstream::{Embeddings, Settings, Trainer, train};

use crate::log::Chunk;
use crate::settings::{LONG_JSONS, MAX_JSON_BYTES, MAX_TEXTS, SHORT_JSON_BYTES, ServeSettings};

/// The maximum number of bytes that a service uses, whatever is sent to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryBound {
    /// The trainer, including the memory for saving.
    pub trainer: u64,
    /// The fork, which learns text that does not fill a batch.
    pub fork: u64,
    /// The published version, an earlier one that is still read, and the next one.
    pub published: u64,
    /// Text that was read from the log and is not learned yet.
    pub read_ahead: u64,
    /// Text on its way into the log, and the database's caches.
    pub log: u64,
    /// Request bodies and responses.
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
        // In addition to words and vectors: when each word was seen (32 bytes), and the alphabetical order.
        let published = Embeddings::max_bytes(
            config.max_vocabulary(),
            config.dimensions(),
            config.text().max_token_bytes,
        ) + 36 * words;
        let chunk = (Chunk::BYTES + settings.max_line_bytes) as u64;
        let queued_words = (config.new_words_per_batch() + config.text().max_sentence_words) as u64;
        // At worst every other byte of a chunk is a word, with eight bytes for its position.
        let queued = queued_words * (config.text().max_token_bytes as u64 + 8) + chunk * 5;
        // The times of words: two numbers per slot, three times while the model is saved, and the marks.
        let times = 3 * 16 * words + (32 << 20);
        // Per text: a chunk that is filled and one that is logged, an incomplete line, and a step of gzip.
        let text = (2 * Chunk::BYTES + settings.max_line_bytes) as u64 + (1 << 20);
        let texts = settings.max_requests.min(MAX_TEXTS) as u64 * text;
        // Per JSON query: its bytes, and at worst three times as much for the parsed values.
        let short = (settings.max_requests * SHORT_JSON_BYTES) as u64;
        let questions = 4 * (short + (LONG_JSONS * MAX_JSON_BYTES) as u64);
        MemoryBound {
            trainer: model.total(),
            fork: model.total() - model.saving - model.program,
            published: 3 * published,
            read_ahead: queued + times,
            // Waiting requests and those in one transaction; the caches of three connections.
            log: 32 * chunk + (8 << 20) + chunk + 3 * (4 << 20),
            requests: texts + questions,
        }
    }

    /// The sum.
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
