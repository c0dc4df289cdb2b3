//! Models ↔ safetensors files, which any program that reads safetensors can open.
//!
//! A model file is the whole state of a trainer, so that training continues as if it had never stopped. A vectors file has
//! words, counts and vectors only. Both are sorted by frequency, the highest count first and equal counts in alphabetical
//! order, so that the row of a word is its rank.
//!
//! Below, n is the number of words, d that of dimensions, and v that of initial vectors; … is any number.
//!
//! | tensor | type | shape | file | owner | meaning |
//! |---|---|---|---|---|---|
//! | `words` | u8 | … | always | `vocabulary` | the words in UTF-8, without separators |
//! | `word_ends` | u64 | n | always | `vocabulary` | where each word ends in `words` |
//! | `counts` | u64 | n | always | `vocabulary` | occurrences since the word was admitted |
//! | `recent_counts` | u64 | n | with a half-life | `vocabulary` | the same, where older occurrences count less |
//! | `document_counts` | u64 | n | text with documents | `vocabulary` | the number of documents with the word since it was admitted |
//! | `vectors` | f32 | n × d | vectors file | `embeddings` | the vectors |
//! | `vectors` | f16 | n × d | vectors file, `f16` | `embeddings` | the vectors, in half precision |
//! | `vectors` | i8 | n × d | vectors file, `int8` | `embeddings` | the vectors, each divided by its scale |
//! | `scales` | f32 | n | vectors file, `int8` | `embeddings` | the scale of each vector |
//! | `target` | f32 | n × d | model file | `parameters` | target vectors |
//! | `context` | f32 | n × d | model file | `parameters` | context vectors |
//! | `target_squares` | f32 | n | model file, rates by row | `parameters` | AdaGrad's sums, one per row |
//! | `context_squares` | f32 | n | model file, rates by row | `parameters` | AdaGrad's sums, one per row |
//! | `target_squares` | f32 | n × d | model file, rates by dimension | `parameters` | AdaGrad's sums, one per value |
//! | `context_squares` | f32 | n × d | model file, rates by dimension | `parameters` | AdaGrad's sums, one per value |
//! | `slots` | u32 | n | model file | `vocabulary` | the id of each word |
//! | `counters` | u64 | n | model file | `vocabulary` | Misra–Gries counters; with a half-life, sums of weights |
//! | `first_tokens` | u64 | n | model file | `vocabulary` | the number of the token that admitted the word |
//! | `last_tokens` | u64 | n | model file | `vocabulary` | the number of the word's last token |
//! | `frequencies` | u64 | n | model file, with a half-life | `vocabulary` | the weights of its occurrences, with more digits than `recent_counts` |
//! | `word_times` | i64 | n × 2 | model file, text with times | `vocabulary` | when the word was first and last seen, in microseconds since 1970 |
//! | `replay_words` | u32 | … | model file, `mini-batch` | `train` | ids of the tokens that wait for their replay; 2³² − 1 for none |
//! | `replay_ends` | u32 | … | model file, `mini-batch` | `train` | where sentences end within their segment |
//! | `replay_segments` | u64 | … × 4 | model file, `mini-batch` | `train` | first token, tokens, sentences, replays that remain |
//! | `replay_clocks` | u64 | … | model file, with a half-life | `train` | the clock at the start of each segment's batch: words, or a time plus 2⁵⁹ microseconds |
//! | `replay_weights` | f32 | … | model file, sentences with weights | `train` | the weights of these sentences |
//! | `phrase_parts` | u8 | … | model file, with `phrases` | `phrases` | words and phrases that are counted before they are joined, in UTF-8 |
//! | `phrase_part_ends` | u64 | … | model file, with `phrases` | `phrases` | where each of them ends |
//! | `phrase_part_counts` | u64 | … × 4 | model file, with `phrases` | `phrases` | their counters, counts, first and last tokens |
//! | `phrase_pairs` | u32 | … × 3 | model file, with `phrases` | `phrases` | pairs: left part, right part, what is between them |
//! | `phrase_pair_counts` | u64 | … × 3 | model file, with `phrases` | `phrases` | their counters and counts, and the parts counted before them |
//! | `phrases` | u64 | … × 2 | model file, with `phrases` | `phrases` | the pairs that are phrases, and the words before they were found |
//! | `noise_slots` | u32 | … × 2 | model file, `incremental` | `noise` | the adaptive table: id, generation |
//! | `noise_generations` | u32 | … | model file, `incremental` | `noise` | the generation of each id |
//! | `initial_words` | u8 | … | model file, started from vectors | `train` | the words that start with a given vector |
//! | `initial_word_ends` | u64 | v | model file, started from vectors | `train` | where each of them ends |
//! | `initial_counts` | u64 | v | model file, started from vectors | `train` | their counts |
//! | `initial` | f32 | v × d | model file, started from vectors | `train` | their vectors |
//! | `header_checksum` | u8 | 32 | always | `snapshot` | BLAKE3 of everything before the tensors; the last bytes of the file |
//!
//! With `int8`, a vector is its row of bytes times its scale. Both are exact: in Python,
//! `tensors["vectors"] * tensors["scales"][:, None]` has the bits of this library.
//!
//! The metadata has one key, `skipstream`, whose value is JSON: the format's version, the program, a BLAKE3 checksum of
//! each tensor and, for a model file, the settings, the totals, and the sources that were read with their positions. (One
//! key, because the order of several would differ from run to run, and the same training gives the same bytes.) The checksum of
//! the header, with the metadata in it, is a tensor, because a header cannot contain its own.
//!
//! A model of several machines has several files: see [`ShardedModel`].
//!
//! Invariant: a file is either the old state or the new one, whole. It is written under a temporary name in the same
//! folder, synced, and renamed.

mod error;
mod file;
mod inspect;
mod metadata;
mod norms;
mod read;
mod shards;
mod table;
mod tensor;
mod vectors;
mod write;

pub use error::ModelFileError;
pub(crate) use file::MAX_HEADER_BYTES;
pub use inspect::{
    Checksum, FileKind, Inspection, Noise, TensorReport, TrainingState, WordEntry, inspect, kind, words,
};
pub use norms::{Band, Norms};
pub use shards::{INDEX, Shard, ShardedModel};

/// The format's version. A reader rejects others.
const VERSION: u32 = 2;

const METADATA_KEY: &str = "skipstream";

/// The tensor with the checksum of the header.
const HEADER_CHECKSUM: &str = "header_checksum";

const PROGRAM: &str = concat!("skipstream ", env!("CARGO_PKG_VERSION"));

#[cfg(test)]
mod tests;
