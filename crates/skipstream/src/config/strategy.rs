//! The strategies, each with the options that only it has.

use serde::{Deserialize, Serialize};

use super::{Setting, check_whole, in_range};
use crate::error::{Error, Result};

/// Training strategy. [`Strategy::default`] is `mini-batch`.
///
/// A [`Trainer`](crate::Trainer) learns a stream with the first two. The last two read a whole corpus several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "strategy", rename_all = "kebab-case")]
pub enum Strategy {
    /// Algorithm 2 of the paper: count a batch of words, then train it on all threads.
    MiniBatch(MiniBatchOptions),
    /// Algorithm 1 of the paper: count and train word by word, on one thread.
    Incremental(IncrementalOptions),
    /// Count the whole corpus, then train it in passes, pair by pair with AdaGrad.
    Batch(BatchOptions),
    /// `Batch` with a learning rate that falls linearly, as in Mikolov's program.
    Word2vec(Word2vecOptions),
}

/// The name of a [`Strategy`], as people type it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StrategyName {
    /// `mini-batch`
    #[default]
    MiniBatch,
    /// `incremental`
    Incremental,
    /// `batch`
    Batch,
    /// `word2vec`
    Word2vec,
}

/// Options of [`Strategy::MiniBatch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MiniBatchOptions {
    /// Words trained together, replayed words included. Default 400,000.
    pub batch_words: usize,
    /// Number of parts of the vocabulary that threads work on: a power of two. At most this many threads are used; twice
    /// as many blocks as threads keep all of them busy. More blocks mean smaller matrix products and a little less speed
    /// per thread. The model depends on it. Default 4.
    pub blocks: usize,
    /// Number of times each word is trained again later. 0 is the paper's Algorithm 2. Default 1.
    pub replays: u32,
    /// Maximum number of words that wait for their replay. At most a quarter of the text so far waits. Default 2,000,000.
    pub replay_words: usize,
}

/// Options of [`Strategy::Incremental`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IncrementalOptions {
    /// Slots of the adaptive unigram table. Default 1,000,000.
    pub table_size: usize,
    /// What has a learning rate of its own. Default [`AdaGrad::Dimension`].
    pub adagrad: AdaGrad,
}

/// Options of [`Strategy::Batch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BatchOptions {
    /// Passes over the corpus. Default 1.
    pub passes: u32,
    /// What has a learning rate of its own. Default [`AdaGrad::Dimension`].
    pub adagrad: AdaGrad,
}

/// Options of [`Strategy::Word2vec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Word2vecOptions {
    /// Passes over the corpus. Default 1.
    pub passes: u32,
}

/// What has a learning rate of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AdaGrad {
    /// Each row: half the memory, and no loss of quality.
    Row,
    /// Each dimension of each row, as in the paper.
    Dimension,
}

impl Strategy {
    /// `mini-batch` with its default options.
    pub fn mini_batch() -> Strategy {
        Strategy::MiniBatch(MiniBatchOptions::default())
    }

    /// `incremental` with its default options.
    pub fn incremental() -> Strategy {
        Strategy::Incremental(IncrementalOptions::default())
    }

    /// `batch` with its default options.
    pub fn batch() -> Strategy {
        Strategy::Batch(BatchOptions::default())
    }

    /// `word2vec` with its default options.
    pub fn word2vec() -> Strategy {
        Strategy::Word2vec(Word2vecOptions::default())
    }

    /// The name that people type.
    pub fn name(self) -> StrategyName {
        match self {
            Strategy::MiniBatch(_) => StrategyName::MiniBatch,
            Strategy::Incremental(_) => StrategyName::Incremental,
            Strategy::Batch(_) => StrategyName::Batch,
            Strategy::Word2vec(_) => StrategyName::Word2vec,
        }
    }

    /// Passes over the whole corpus, for the strategies that make them.
    pub fn passes(self) -> Option<u32> {
        match self {
            Strategy::MiniBatch(_) | Strategy::Incremental(_) => None,
            Strategy::Batch(BatchOptions { passes, .. }) | Strategy::Word2vec(Word2vecOptions { passes }) => {
                Some(passes)
            }
        }
    }

    /// What has a learning rate of its own; `word2vec` has one rate for everything.
    pub fn adagrad(self) -> Option<AdaGrad> {
        match self {
            Strategy::MiniBatch(_) => Some(AdaGrad::Row),
            Strategy::Incremental(IncrementalOptions { adagrad, .. })
            | Strategy::Batch(BatchOptions { adagrad, .. }) => Some(adagrad),
            Strategy::Word2vec(_) => None,
        }
    }
}

impl Strategy {
    pub(super) fn check(self, window: usize) -> Result<()> {
        match self {
            Strategy::MiniBatch(MiniBatchOptions { batch_words, blocks, replays, replay_words }) => {
                // The pairs of a batch are counted in 32 bits.
                let most_words = (1_000_000_000 / window).min(*Setting::limits("batch_words").end());
                in_range("batch_words", batch_words, &(1..=most_words))?;
                check_whole("blocks", blocks)?;
                if !blocks.is_power_of_two() {
                    return Err(Error::setting("blocks", blocks, "a power of two"));
                }
                check_whole("replays", replays)?;
                check_whole("replay_words", replay_words)
            }
            Strategy::Incremental(options) => check_whole("table_size", options.table_size),
            Strategy::Batch(BatchOptions { passes, .. }) | Strategy::Word2vec(Word2vecOptions { passes }) => {
                check_whole("passes", passes)
            }
        }
    }
}

impl StrategyName {
    /// As it is typed.
    pub fn as_str(self) -> &'static str {
        match self {
            StrategyName::MiniBatch => "mini-batch",
            StrategyName::Incremental => "incremental",
            StrategyName::Batch => "batch",
            StrategyName::Word2vec => "word2vec",
        }
    }
}

impl std::fmt::Display for StrategyName {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.as_str())
    }
}

impl Default for Strategy {
    fn default() -> Strategy {
        Strategy::mini_batch()
    }
}

impl Default for MiniBatchOptions {
    fn default() -> MiniBatchOptions {
        MiniBatchOptions { batch_words: 400_000, blocks: 4, replays: 1, replay_words: 2_000_000 }
    }
}

impl Default for IncrementalOptions {
    fn default() -> IncrementalOptions {
        IncrementalOptions { table_size: 1_000_000, adagrad: AdaGrad::Dimension }
    }
}

impl Default for BatchOptions {
    fn default() -> BatchOptions {
        BatchOptions { passes: 1, adagrad: AdaGrad::Dimension }
    }
}

impl Default for Word2vecOptions {
    fn default() -> Word2vecOptions {
        Word2vecOptions { passes: 1 }
    }
}
