//! Word vectors from text that never ends, learned in one pass and in bounded memory.
//!
//! The model is skip-gram with negative sampling, as in word2vec. The algorithms are those of Kaji and Kobayashi,
//! *Incremental Skip-gram Model with Negative Sampling* (EMNLP 2017): vocabulary, counts and noise follow the stream
//! while it is learned, so there is no pass for counting and training never has to begin again.
//!
//! Two types are all that most programs need. A [`Trainer`] owns everything that changes: it learns from a
//! [`Source`](corpus::Source) of sentences, is saved to one file and loaded again. [`Embeddings`] are what it gives out
//! for reading: they never change, and a clone shares their memory.
//!
//! ```
//! use skipstream::corpus::Lines;
//! use skipstream::{Config, Embeddings, Trainer, Vectors};
//!
//! let config = Config { dimensions: 16, subsample: 0.0, ..Config::default() };
//! let mut trainer = Trainer::new(config.clone())?;
//!
//! // A line is a sentence. Anything that is `BufRead` will do; `corpus::Files` reads many files as one stream.
//! let text = "tea with milk\ncoffee with sugar\n".repeat(100);
//! trainer.train(&mut Lines::new(text.as_bytes(), "monday", &config.text)?, &mut ())?;
//!
//! // The file holds the whole state: who loads it goes on as if training had never stopped.
//! # let folder = tempfile::tempdir().expect("a temporary folder");
//! # let path = folder.path().join("drinks.safetensors");
//! trainer.save(&path)?;
//! let mut trainer = Trainer::load(&path, None)?;
//! let text = "cocoa with milk\n".repeat(100);
//! trainer.train(&mut Lines::new(text.as_bytes(), "tuesday", &config.text)?, &mut ())?;
//!
//! let embeddings: Embeddings = trainer.embeddings(Vectors::Sum)?;
//! assert_eq!(embeddings.len(), 6);
//! for neighbor in embeddings.neighbors("cocoa", 3)? {
//!     println!("{} {:.3}", neighbor.word, neighbor.similarity);
//! }
//! # Ok::<(), skipstream::Error>(())
//! ```
//!
//! # The modules, in the order of the data
//!
//! A module uses only modules that stand above it, with one exception: [`Config`] holds the
//! [`TextOptions`](corpus::TextOptions) of `corpus`.
//!
//! | module | from → to |
//! |---|---|
//! | `config`, `error`, `random`, [`units`] | what a person asks for, what can go wrong, random numbers that belong to a purpose, sizes as they are typed |
//! | [`bytes`] | compressed files; files that are replaced whole, or looked at in place |
//! | [`corpus`] | bytes → lines → sentences of tokens; which text was learned before |
//! | [`vocabulary`] | tokens → ids and counts, at most `max_vocabulary` of them |
//! | [`noise`] | counts → noise words |
//! | [`pairs`] | ids → kept ids → windows |
//! | [`parameters`] | the rows that are learned, in blocks that threads can own |
//! | [`kernel`] | pairs and noise words → changed rows |
//! | [`embeddings`] | rows → vectors to read: neighbours, analogies, similarity, the odd one out |
//! | [`train`] | sentences → learned rows: the strategies, the threads, the [`Trainer`] |
//! | [`snapshot`] | the whole state, or vectors alone ↔ one safetensors file: [`Trainer::save`], [`Trainer::load`], [`Embeddings::save`], [`Embeddings::load`], [`Embeddings::open`] |
//! | [`formats`] | vectors ↔ the files of other programs |
//! | [`eval`] | vectors → scores |
//!
//! # What the crate does not do
//!
//! It does not print, log or read the clock, and the only thing that it asks of its environment is the number of cores
//! where no number of threads was given. An [`Observer`] receives progress and may ask for a pause.

// rustfmt sorts modules within a group, so the blank lines keep the reading order.

// What everything else rests on.
#[cfg(target_endian = "big")]
compile_error!("models are saved in the machine's byte order, which must be little-endian");

mod config;
mod error;
mod random;
pub mod units;

// Files as bytes.
pub mod bytes;

// The text, until it is words and pairs of words.
pub mod corpus;

pub mod vocabulary;

pub mod noise;
pub mod pairs;

// The numbers that are learned, and the arithmetic that changes them.
pub mod parameters;

pub mod kernel;

// Learning, and reading what was learned.
pub mod embeddings;
pub mod train;

// Files.
pub mod snapshot;

pub mod formats;

// Scores.
pub mod eval;

pub use config::{
    AdaGrad, BatchOptions, Config, IncrementalOptions, MiniBatchOptions, Setting, SettingKind, SettingValues,
    Settings, Strategy, StrategyName, WindowShape, Word2vecOptions,
};
pub use embeddings::{Embeddings, Vectors};
pub use error::{Error, Result};
pub use random::Random;
pub use train::{Observer, Progress, StopReason, Totals, Trainer};

/// The Rust examples of the README, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
