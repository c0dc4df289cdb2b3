//! The strategies, each with the options that only it has.

use serde::{Deserialize, Serialize};

use super::{Setting, check_whole, in_range};
use crate::error::{Error, Result};
use crate::half_life::HalfLife;

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
    /// Number of parts of the vocabulary that threads work on: a power of two. At most this many threads are used. More
    /// blocks mean smaller matrix products and a little less speed per thread. The model depends on it. Default 16.
    pub blocks: usize,
    /// Number of times each word is trained again later. 0 is the paper's Algorithm 2. Default 2.
    pub replays: u32,
    /// Maximum number of words that wait for their replay. Default 2,000,000.
    pub replay_words: usize,
    /// When the first replays begin. Default [`ReplayStart::Early`].
    pub replay_start: ReplayStart,
    /// The age at which a token counts half, in everything that the model remembers. Default none: nothing is forgotten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_life: Option<HalfLife>,
}

/// When the first replays begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplayStart {
    /// At once: at most a quarter of the text so far waits, so that most of a short text has been replayed at any time.
    #[default]
    Early,
    /// When the buffer is full. Text is replayed farther from its first training, which gives better vectors once
    /// [`Trainer::finish`](crate::Trainer::finish) has trained what is left.
    Late,
}

/// A named choice between speed and quality, for `mini-batch`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quality {
    /// The default options.
    #[default]
    Balanced,
    /// [`MiniBatchOptions::best`].
    Best,
}

impl Quality {
    /// The options that it sets.
    pub fn options(self) -> MiniBatchOptions {
        match self {
            Quality::Balanced => MiniBatchOptions::default(),
            Quality::Best => MiniBatchOptions::best(),
        }
    }
}

/// Options of [`Strategy::Incremental`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IncrementalOptions {
    /// Slots of the adaptive unigram table. Default 1,000,000.
    pub table_size: usize,
    /// Words at the start of the stream that are counted before any of them is trained. 0 is the paper's Algorithm 1.
    /// Default 0.
    pub warm_up_words: usize,
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
    /// The learning rate if none is given.
    ///
    /// In n steps, AdaGrad moves a row by about 2 · rate · √n. A word that is trained several times takes as many times the
    /// steps, and the best vectors have about the same length however often they were trained: `cargo xtask figures study`
    /// found the best rates near 0.26 / √(trainings). Trained once, rates above 0.2 lose analogies. With a late start, most of
    /// the training is in [`Trainer::finish`](crate::Trainer::finish), whose rate falls, so it begins higher.
    pub(super) fn default_learning_rate(self) -> f32 {
        match (self, self.adagrad()) {
            (Strategy::MiniBatch(options), _) => {
                let trainings = 1.0 + f64::from(options.replays);
                let start = match options.replay_start {
                    ReplayStart::Early => 260.0,
                    ReplayStart::Late => 335.0,
                };
                // In thousandths, because people read it in messages and files.
                ((start / trainings.sqrt()).round().min(200.0) / 1000.0) as f32
            }
            (_, Some(AdaGrad::Row)) => 0.2,
            (_, Some(AdaGrad::Dimension)) => 0.1,
            (_, None) => 0.025,
        }
    }

    pub(super) fn check(self, window: usize) -> Result<()> {
        match self {
            Strategy::MiniBatch(options) => {
                let MiniBatchOptions { batch_words, blocks, replays, replay_words, half_life, .. } = options;
                // The pairs of a batch are counted in 32 bits.
                let most_words = (1_000_000_000 / window).min(*Setting::limits("batch_words").end());
                in_range("batch_words", batch_words, &(1..=most_words))?;
                check_whole("blocks", blocks)?;
                if !blocks.is_power_of_two() {
                    return Err(Error::setting("blocks", blocks, "a power of two"));
                }
                check_whole("replays", replays)?;
                check_whole("replay_words", replay_words)?;
                match half_life {
                    None => Ok(()),
                    Some(HalfLife::Words(words)) => check_whole("half_life", words),
                    Some(HalfLife::Seconds(1..=HalfLife::MAX_SECONDS)) => Ok(()),
                    Some(time) => Err(Error::setting("half_life", time, "from 1s to 3650d")),
                }
            }
            Strategy::Incremental(IncrementalOptions { table_size, warm_up_words, .. }) => {
                check_whole("table_size", table_size)?;
                check_whole("warm_up_words", warm_up_words)
            }
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
        MiniBatchOptions {
            batch_words: 400_000,
            blocks: 16,
            replays: 2,
            replay_words: 2_000_000,
            replay_start: ReplayStart::Early,
            half_life: None,
        }
    }
}

impl MiniBatchOptions {
    /// The options for the best vectors: each word is trained five times, from a larger buffer that is filled first. Call
    /// [`Trainer::finish`](crate::Trainer::finish) at the end of the text.
    pub fn best() -> MiniBatchOptions {
        let (replays, replay_words, replay_start) = (4, 10_000_000, ReplayStart::Late);
        MiniBatchOptions { replays, replay_words, replay_start, ..MiniBatchOptions::default() }
    }
}

impl Default for IncrementalOptions {
    fn default() -> IncrementalOptions {
        IncrementalOptions { table_size: 1_000_000, warm_up_words: 0, adagrad: AdaGrad::Dimension }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_trainings_have_a_lower_rate() {
        let rate = |replays| {
            let options = MiniBatchOptions { replays, ..MiniBatchOptions::default() };
            Strategy::MiniBatch(options).default_learning_rate()
        };
        assert_eq!([rate(0), rate(1), rate(2), rate(4)], [0.2, 0.184, 0.15, 0.116]);
        assert_eq!(Strategy::MiniBatch(MiniBatchOptions::best()).default_learning_rate(), 0.15);
        assert_eq!(Strategy::incremental().default_learning_rate(), 0.1);
        assert_eq!(Strategy::word2vec().default_learning_rate(), 0.025);
    }
}
