//! The whole state of a trainer ↔ one safetensors file.
//!
//! Any program that reads safetensors can open a model: `target` and `context` are n × dimensions, row i belongs
//! to the word whose bytes end at `word_ends[i]` in `words`. What else is in the file lets training go on as if it
//! had never stopped.
//!
//! | tensor | shape | what |
//! |---|---|---|
//! | `target`, `context` | n × dimensions, f32 | the rows |
//! | `target_squares`, `context_squares` | n, or n × dimensions, f32 | AdaGrad's sums |
//! | `words`, `word_ends` | bytes, u8; n, u64 | the words' UTF-8, behind one another |
//! | `slots`, `counts`, `counters`, `births` | n, u32 and u64 | the vocabulary |
//! | `free_slots` | u32 | slots without a word, the next to be used last |
//! | `noise_slots`, `noise_generations` | τ × 2, slots, u32 | the adaptive table (`incremental`) |
//! | `replay_words`, `replay_ends`, `replay_segments` | u32, u32, segments × 4 u64 | old text that waits |
//!
//! The metadata has one key, `skipstream`, whose value is JSON: the format's version, the settings, the totals, the
//! sources that were read and how far, and a BLAKE3 checksum of each tensor. (One key, because the order of several
//! would differ from run to run, and the same training gives the same bytes.)
//!
//! Invariant: a file is either the old state or the new one, whole. It is written under another name in the same
//! folder, synced, and renamed.

mod read;
mod state;
mod write;

/// The format's version. A reader refuses others.
const VERSION: u32 = 1;

/// The one key of the metadata.
const METADATA_KEY: &str = "skipstream";

#[cfg(test)]
mod tests;
