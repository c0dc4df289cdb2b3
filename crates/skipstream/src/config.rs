//! The settings of a model: what a person asks for, and the proof that it was checked.

use std::ops::{Deref, RangeInclusive};

use serde::{Deserialize, Serialize};

use crate::corpus::TextOptions;
use crate::error::{Error, Result};

/// How the stream is turned into updates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Algorithm 2 of the paper: counts and noise take in a batch, then the batch is trained, on all threads.
    #[default]
    MiniBatch,
    /// Algorithm 1 of the paper: counts and noise move with each word, pair by pair, on one thread.
    Incremental,
    /// Counts and noise from the whole corpus first, then passes over it, pair by pair with AdaGrad.
    Batch,
    /// `Batch` with a learning rate that falls linearly, as in Mikolov's program.
    Word2vec,
}

/// How far a window reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowShape {
    /// A reach drawn from 1 to `window` for each center.
    #[default]
    Shrinking,
    /// Always `window`.
    Fixed,
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

/// The settings of a model. Public fields and defaults; [`Config::check`] makes [`Settings`] of it.
///
/// ```
/// use skipstream::Config;
///
/// let settings = Config { dimensions: 50, ..Config::default() }.check()?;
/// assert_eq!(settings.dimensions, 50);
/// assert!(Config { window: 0, ..Config::default() }.check().is_err());
/// # Ok::<(), skipstream::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Length of a vector.
    pub dimensions: usize,
    /// Words to each side of the center that are its contexts, at the most.
    pub window: usize,
    /// Whether the window shrinks at random.
    pub window_shape: WindowShape,
    /// Noise words for each pair.
    pub negatives: usize,
    /// The noise draws a word with probability ∝ count ^ `noise_exponent`.
    pub noise_exponent: f64,
    /// Words more frequent than this share of the text are dropped at random; 0 keeps all.
    pub subsample: f64,
    /// AdaGrad's rate (or, for `word2vec`, the first one); by default 0.2 for rates by row, 0.1 for rates by
    /// dimension, 0.025 for `word2vec`.
    pub learning_rate: Option<f32>,
    /// What has a rate of its own; by default the row for `mini-batch`, the dimension otherwise. `word2vec` has
    /// one rate for all.
    pub adagrad: Option<AdaGrad>,
    /// Words kept at the most.
    pub max_vocabulary: usize,
    /// Slots of the adaptive unigram table (`incremental`).
    pub table_size: usize,
    /// Words trained together (`mini-batch`): new ones, and as many old ones as are replayed.
    pub batch_words: usize,
    /// Parts into which the words are dealt on either side, so that threads can work side by side (`mini-batch`): a
    /// power of two, at least the threads, better twice as many. More of them give smaller products, and a little
    /// less speed a thread. The model depends on it.
    pub blocks: usize,
    /// How often each word is trained again later (`mini-batch`); by default 1 there, 0 elsewhere.
    pub replays: Option<u32>,
    /// Words that wait for their replay, at the most (with several replays, each as often as it waits, on average).
    pub replay_words: usize,
    /// Passes over the corpus (`batch` and `word2vec`).
    pub passes: u32,
    /// How the text is read.
    pub text: TextOptions,
    /// Every random number follows from it.
    pub seed: u64,
    /// How the stream is turned into updates.
    pub strategy: Strategy,
    /// Threads that train. Not a part of the model: its bytes are the same for any number.
    #[serde(skip)]
    pub threads: Option<usize>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            dimensions: 100,
            window: 5,
            window_shape: WindowShape::Shrinking,
            negatives: 5,
            noise_exponent: 0.75,
            subsample: 1e-4,
            learning_rate: None,
            adagrad: None,
            max_vocabulary: 100_000,
            table_size: 1_000_000,
            batch_words: 400_000,
            blocks: 4,
            replays: None,
            replay_words: 2_000_000,
            passes: 1,
            text: TextOptions::default(),
            seed: 1,
            strategy: Strategy::MiniBatch,
            threads: None,
        }
    }
}

/// Words that may be kept.
pub(crate) const MAX_VOCABULARY: RangeInclusive<usize> = 2..=100_000_000;

/// Slots that a noise table may have.
pub(crate) const TABLE_SIZE: RangeInclusive<usize> = 1_000..=1_000_000_000;

impl Config {
    /// Checks every field against its limits.
    pub fn check(self) -> Result<Settings> {
        let config = &self;
        in_range("dimensions", config.dimensions, 1..=10_000)?;
        in_range("window", config.window, 1..=1_000)?;
        in_range("negatives", config.negatives, 1..=100)?;
        in_range("noise_exponent", config.noise_exponent, 0.0..=1.0)?;
        in_range("subsample", config.subsample, 0.0..=1.0)?;
        in_range("max_vocabulary", config.max_vocabulary, MAX_VOCABULARY)?;
        in_range("table_size", config.table_size, TABLE_SIZE)?;
        // The pairs of a batch are counted in 32 bits.
        in_range("batch_words", config.batch_words, 1..=100_000_000.min(1_000_000_000 / config.window))?;
        in_range("blocks", config.blocks, 1..=256)?;
        if !config.blocks.is_power_of_two() {
            return Err(Error::Setting {
                field: "blocks",
                value: config.blocks.to_string(),
                limit: "a power of two".to_owned(),
            });
        }
        in_range("replay_words", config.replay_words, 1..=4_000_000_000)?;
        let in_passes = matches!(config.strategy, Strategy::Batch | Strategy::Word2vec);
        if !in_passes && config.passes > 1 {
            return Err(Error::Setting {
                field: "passes",
                value: config.passes.to_string(),
                limit:
                    "1 for a stream, which is read once; replays trains each word again, and the strategies \
                        batch and word2vec read their files in passes"
                        .to_owned(),
            });
        }
        in_range("passes", config.passes, 1..=10_000)?;
        config.text.check()?;
        if let Some(threads) = config.threads {
            in_range("threads", threads, 1..=1_000)?;
        }
        let mini_batch = config.strategy == Strategy::MiniBatch;
        let replays = config.replays.unwrap_or(u32::from(mini_batch));
        in_range("replays", replays, 0..=if mini_batch { 100 } else { 0 })?;
        let adagrad = config.adagrad.unwrap_or(if mini_batch { AdaGrad::Row } else { AdaGrad::Dimension });
        if mini_batch && adagrad == AdaGrad::Dimension {
            return Err(Error::Setting {
                field: "adagrad",
                value: "dimension".to_owned(),
                limit: "row for the strategy mini-batch".to_owned(),
            });
        }
        let learning_rate = config.learning_rate.unwrap_or(match config.strategy {
            Strategy::Word2vec => 0.025,
            _ if adagrad == AdaGrad::Row => 0.2,
            _ => 0.1,
        });
        // Plain steps diverge where AdaGrad's do not.
        let fastest = if config.strategy == Strategy::Word2vec { 1.0 } else { 10.0 };
        in_range("learning_rate", learning_rate, 1e-6..=fastest)?;
        let threads = config.threads.unwrap_or_else(available_threads);
        Ok(Settings { learning_rate, adagrad, replays, threads, config: self })
    }
}

/// Settings within their limits, with the choices that depend on others made. Read them like a [`Config`].
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    config: Config,
    learning_rate: f32,
    adagrad: AdaGrad,
    replays: u32,
    threads: usize,
}

impl Settings {
    /// The rate in force.
    pub fn learning_rate(&self) -> f32 {
        self.learning_rate
    }

    /// What has a rate of its own.
    pub fn adagrad(&self) -> AdaGrad {
        self.adagrad
    }

    /// How often each word is trained again.
    pub fn replays(&self) -> u32 {
        self.replays
    }

    /// So many words of new text close a batch, at the end of the sentence that brings the last of them; the strategies
    /// that learn sentence by sentence take each as it comes.
    pub fn new_words_per_batch(&self) -> usize {
        match self.strategy {
            Strategy::MiniBatch => self.batch_words.div_ceil(1 + self.replays as usize),
            _ => 1,
        }
    }

    /// Threads that train.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The configuration with every choice spelled out (but for `threads`, which is not a part of the model): what is
    /// saved, so that other defaults do not change a model.
    pub fn resolved(&self) -> Config {
        Config {
            learning_rate: Some(self.learning_rate),
            adagrad: Some(self.adagrad),
            replays: Some(self.replays),
            threads: None,
            ..self.config.clone()
        }
    }
}

impl Deref for Settings {
    type Target = Config;

    fn deref(&self) -> &Config {
        &self.config
    }
}

pub(crate) fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn in_range<T: PartialOrd + std::fmt::Display>(
    field: &'static str,
    value: T,
    range: RangeInclusive<T>,
) -> Result<()> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(Error::Setting {
        field,
        value: value.to_string(),
        limit: format!("from {} to {}", range.start(), range.end()),
    })
}
