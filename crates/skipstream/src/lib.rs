//! Word vectors from text that never ends, learned in one pass and in bounded memory.
//!
//! The model is skip-gram with negative sampling, as in word2vec. The algorithms are those of Kaji and Kobayashi,
//! *Incremental Skip-gram Model with Negative Sampling* (EMNLP 2017): vocabulary, counts and noise follow the stream
//! while it is learned, so there is no counting pass, and training never has to start over.
//!
//! ```
//! use skipstream::{Config, Trainer};
//!
//! let mut trainer = Trainer::new(Config::default())?;
//! trainer.train_lines("tea with milk\ncoffee with sugar\n".as_bytes())?;
//! for neighbor in trainer.embeddings()?.neighbors("tea", 3)? {
//!     println!("{} {:.3}", neighbor.word, neighbor.similarity);
//! }
//! # Ok::<(), skipstream::Error>(())
//! ```
//!
//! Most programs need two types. A [`Trainer`] owns everything that changes: it learns from text, and can be saved to a
//! file and loaded again. [`Embeddings`] are its vectors at one moment: they never change, and a clone shares their memory.
//! The folder `examples/` has a program for each typical use.
//!
//! # Modules
//!
//! | module | what it does |
//! |---|---|
//! | [`corpus`] | reads text: lines, files, records, files that grow |
//! | [`train`] | training: observers, the memory bound, initial vectors |
//! | [`vocabulary`] | words with their counts |
//! | [`phrases`] | words that are learned as one |
//! | [`embeddings`] | answers questions: neighbors, analogies, similarity, the odd one out |
//! | [`snapshot`] | inspects model files |
//! | [`formats`] | reads and writes the files of other programs |
//! | `eval` | scores vectors on test sets, and compares two states of a model |
//!
//! # Features
//!
//! `codecs` reads and writes gzip, zstd, bzip2 and xz; `records` reads JSON lines, CSV and TSV; `parquet` reads text
//! from Parquet files and writes vectors to them; `eval` is the module of that name. All but `parquet` are on by
//! default. `unstable` shows internals to benchmarks and to the other crates of this repository; they may change in any
//! version.
//!
//! # What the crate does not do
//!
//! It does not print, log or read the clock. The only thing it reads from its environment is the number of cores, if no
//! number of threads is given. It reports progress to an [`Observer`], which can also ask for a pause.

// rustfmt sorts modules within a group, so the blank lines keep the reading order.

// What everything else rests on.
#[cfg(target_endian = "big")]
compile_error!("models are saved in the machine's byte order, which must be little-endian");

mod config;
mod error;
mod half_life;
mod hash;
mod random;
mod units;

// Files as bytes.
mod bytes;

// The text, until it is words and pairs of words.
pub mod corpus;

pub mod vocabulary;

pub mod phrases;

mod noise;
mod pairs;

// The numbers that are learned, and the arithmetic that changes them.
mod parameters;

mod kernel;

// Learning, and reading what was learned.
pub mod embeddings;
pub mod train;

// Files.
pub mod snapshot;

pub mod formats;

// Scores.
#[cfg(feature = "eval")]
pub mod eval;

pub use config::{
    AdaGrad, BatchOptions, Config, Connectors, IncrementalOptions, MiniBatchOptions, PhraseOptions,
    PhraseScore, Quality, ReplayStart, Setting, SettingKind, SettingValues, Settings, Strategy, StrategyName,
    WindowShape, Word2vecOptions,
};
pub use embeddings::{Embeddings, Quantization, Vectors};
pub use error::{Error, Result};
pub use half_life::HalfLife;
pub use train::{Observer, Progress, StopReason, Totals, Trainer};
pub use units::Bytes;

/// Internals, for benchmarks and for the other crates of this repository. They may change in any version.
#[cfg(feature = "unstable")]
#[doc(hidden)]
pub mod unstable {
    pub use crate::bytes::{Compression, Lock, create_folder, replace, sync_name};
    pub use crate::corpus::binary::check as check_text;
    pub use crate::kernel::Kernel;
    pub use crate::noise::{AdaptiveTable, AliasTable, weight};
    pub use crate::random::Random;
    pub use crate::train::count_words;
    pub use crate::units::count;
}

/// These types can be sent to other threads and shared between them.
const _: () = {
    const fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Trainer>();
    is_send_and_sync::<Embeddings>();
    is_send_and_sync::<Error>();
};

/// The Rust examples of the README, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
