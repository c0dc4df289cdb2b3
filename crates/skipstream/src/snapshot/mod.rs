//! Models ↔ safetensors files, which any program that reads safetensors can open.
//!
//! There are two kinds. One is the whole state of a trainer: `target` and `context` are n × dimensions, row i belongs to
//! the word whose bytes end at `word_ends[i]` in `words`, and what else is in the file lets training go on as if it had
//! never stopped. The other has words, counts and one matrix `vectors`: all that is needed to read.
//!
//! Rows stand in the order of frequency, the highest count first and equal counts by word, so that row = rank. A reader
//! takes any other order too.
//!
//! | tensor | shape | what |
//! |---|---|---|
//! | `words`, `word_ends` | bytes, u8; n, u64 | both kinds: the words' UTF-8, behind one another |
//! | `counts` | n, u64 | both kinds: occurrences |
//! | `vectors` | n × dimensions, f32 | the rows of a file of vectors |
//! | `target`, `context` | n × dimensions, f32 | the rows of a trainer, and all that follows |
//! | `target_squares`, `context_squares` | n, or n × dimensions, f32 | AdaGrad's sums |
//! | `slots`, `counters`, `births`, `latest` | n, u32 and u64 | the vocabulary: Misra–Gries counters, the numbers of the first and the last token |
//! | `free_slots` | u32 | slots without a word, the next to be used last |
//! | `noise_slots`, `noise_generations` | τ × 2, slots, u32 | the adaptive table (`incremental`) |
//! | `replay_words`, `replay_ends`, `replay_segments` | u32, u32, segments × 4 u64 | old text that waits |
//! | `initial`, `initial_words`, `initial_word_ends`, `initial_counts` | v × dimensions, f32; bytes, u8; v, u64 | vectors with which words start |
//!
//! The metadata has one key, `skipstream`, whose value is JSON: the format's version, the kind of file, a BLAKE3
//! checksum of each tensor, and of a trainer the settings, the totals, and the sources that were read and how far. (One
//! key, because the order of several would differ from run to run, and the same training gives the same bytes.)
//!
//! Invariant: a file is either the old state or the new one, whole. It is written under another name in the same
//! folder, synced, and renamed.

mod error;
mod file;
mod inspect;
mod metadata;
mod read;
mod tensor;
mod vectors;
mod write;

pub use error::ModelFileError;
pub use inspect::{
    Band, Checksum, Inspection, Noise, Norms, TensorReport, Training, WordEntry, contents, inspect, notes,
    words,
};
pub use metadata::Contents;
pub(crate) use vectors::one_kind;

/// The format's version. A reader refuses others.
const VERSION: u32 = 1;

/// The one key of the metadata.
const METADATA_KEY: &str = "skipstream";

/// The program that writes the files.
const PROGRAM: &str = concat!("skipstream ", env!("CARGO_PKG_VERSION"));

#[cfg(test)]
mod tests;
