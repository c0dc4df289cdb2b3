//! The memory limit of a service.

use skipstream::embeddings::Subwords;
use skipstream::train::MemoryBound;
use skipstream::{Embeddings, Settings};

use crate::log::Chunk;
use crate::server::{BUFFER_BYTES, SPARE};
use crate::settings::{
    DOWNLOADED_VERSIONS, HEAVY_REQUESTS, LONG_BYTES, MAX_DOWNLOADS, MAX_TEXTS, MEMORY_PER_JSON_BYTE,
    SHORT_BYTES, SOURCE_BYTES, ServeSettings,
};

/// The maximum number of bytes that a service uses, whatever is sent to it. `model` is the bound of its trainer.
pub fn memory_bound(config: &Settings, model: MemoryBound, settings: &ServeSettings) -> u64 {
    let words = config.max_vocabulary() as u64;
    // In addition to words and vectors: when each word was seen (32 bytes), and in how many lines, which is copied once
    // while rows are sorted.
    let dimensions = settings.vectors.dimensions(config.dimensions());
    // With a half-life, recent counts, which are copied once while rows are sorted.
    let recent = config.half_life().map_or(0, |_| 16 * words);
    // With phrases, a list of them in two forms.
    let phrases =
        if model.phrases > 0 { words / 2 * (2 * config.text().max_token_bytes as u64 + 128) } else { 0 };
    let published = Embeddings::max_bytes(config.max_vocabulary(), dimensions, config.text().max_token_bytes)
        + (32 + 16) * words
        + recent
        + phrases;
    let chunk = Chunk::BYTES as u64 + settings.max_line_size;
    let queued_words = (config.new_words_per_batch(0) + config.text().max_sentence_words) as u64;
    // At worst every other byte of a chunk is a word, with eight bytes for its position.
    let queued = queued_words * (config.text().max_token_bytes as u64 + 8) + chunk * 5;
    // The times of words: two numbers per slot, three times while the model is saved, and the marks.
    let times = 3 * 16 * words + (32 << 20);
    // Per text: a chunk that is filled and one that is logged, an incomplete line, and a step of gzip.
    let text = 2 * Chunk::BYTES as u64 + settings.max_line_size + (1 << 20);
    let texts = settings.max_requests.min(MAX_TEXTS) as u64 * text;
    // Heavy requests have a JSON body. Long bodies and long answers share.
    let questions = (settings.max_requests * MEMORY_PER_JSON_BYTE * SHORT_BYTES + LONG_BYTES) as u64;
    // Per connection: what is read, what is written, and a short answer.
    let connections = ((settings.max_connections + SPARE) * (2 * BUFFER_BYTES + SHORT_BYTES)) as u64;
    // Waiting requests and those in one transaction; the caches of three connections.
    let log = 32 * chunk + (8 << 20) + chunk + 3 * (4 << 20);
    // What the sources have fetched, and what the sink sends.
    let sources = (settings.source.len() + usize::from(settings.publish.is_some())) as u64 * SOURCE_BYTES;
    // The table of subwords, and the next one while it is fitted on one thread.
    let subwords = settings.subwords().map_or(0, |options| {
        let table = (options.buckets * dimensions * size_of::<f32>()) as u64;
        table + Subwords::max_bytes(&options, config.max_vocabulary(), dimensions, 1)
    });
    // What a download holds while it writes a row group of Parquet.
    let downloads = MAX_DOWNLOADS as u64 * (8 << 20);
    // The trainer and the fork, which is never saved. Both count the lines with each word, in a list that grows.
    let trainers = 2 * (model.total() + 3 * 8 * words) - model.saving - model.program;
    // The published version, an earlier one that is still read, and the next one; those of downloads and heavy requests.
    let versions = (3 + DOWNLOADED_VERSIONS + HEAVY_REQUESTS) as u64;
    trainers
        + versions * published
        + queued
        + times
        + log
        + texts
        + questions
        + connections
        + sources
        + subwords
        + downloads
}

#[cfg(test)]
mod tests {
    use super::*;
    use skipstream::{Config, Trainer};

    #[test]
    fn the_bound_holds_the_trainer_twice_and_grows_with_the_vocabulary() {
        let bound = |max_vocabulary| {
            let trainer = Trainer::new(Config { max_vocabulary, ..Config::default() }).unwrap();
            let model = trainer.memory_bound();
            (memory_bound(trainer.settings(), model, &ServeSettings::default()), model.parameters)
        };
        let ((small, _), (large, parameters)) = (bound(1_000), bound(100_000));
        assert!(large > small && large > 2 * parameters);
    }

    #[test]
    fn the_bound_holds_two_tables_of_subwords() {
        let trainer = Trainer::new(Config::default()).unwrap();
        let bound = |subword_buckets| {
            let settings = ServeSettings { subword_buckets, ..ServeSettings::default() };
            memory_bound(trainer.settings(), trainer.memory_bound(), &settings)
        };
        assert!(bound(200_000) - bound(0) > 2 * 200_000 * 400);
    }
}
