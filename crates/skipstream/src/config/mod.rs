//! The settings of a model: [`Config`], as you write them, and [`Settings`], checked and complete.
//!
//! `description.rs` describes every setting once; `values.rs` has the flat form that flags, files and Python share.

mod description;
mod phrases;
mod strategy;
mod values;

use serde::{Deserialize, Serialize};

use description::check_number;
pub use description::{Setting, SettingKind};
pub(crate) use description::{check_whole, in_range};
pub(crate) use phrases::PhraseSettings;
pub use phrases::{Connectors, PhraseOptions, PhraseScore};
pub use strategy::{
    AdaGrad, BatchOptions, IncrementalOptions, MiniBatchOptions, Quality, ReplayStart, Strategy,
    StrategyName, Word2vecOptions,
};
pub use values::SettingValues;

use crate::corpus::TextOptions;
use crate::error::{Error, Result};
use crate::half_life::HalfLife;

/// How far a window reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowShape {
    /// A size drawn from 1 to `window` for each word.
    #[default]
    Shrinking,
    /// Always `window`.
    Fixed,
}

/// The settings of a model. [`Setting::ALL`] describes them with their limits; [`Config::check`] checks them.
///
/// ```
/// use skipstream::{Config, MiniBatchOptions, Strategy};
///
/// let once = MiniBatchOptions { replays: 0, ..MiniBatchOptions::default() };
/// let config = Config { dimensions: 50, strategy: Strategy::MiniBatch(once), ..Config::default() };
/// assert_eq!(config.check()?.learning_rate(), 0.2);
/// assert!(Config { window: 0, ..Config::default() }.check().is_err());
/// # Ok::<(), skipstream::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "SettingValues")]
pub struct Config {
    /// Length of a vector. Default 100.
    pub dimensions: usize,
    /// Maximum number of context words on each side of a word. Default 5.
    pub window: usize,
    /// Whether the size of each window is drawn at random. Default [`WindowShape::Shrinking`].
    pub window_shape: WindowShape,
    /// Noise words per pair. Default 5.
    pub negatives: usize,
    /// Noise words are drawn with probability ∝ count ^ `noise_exponent`, which is from −1 to 1. Default 0.75.
    pub noise_exponent: f64,
    /// Frequency, as a share of the text, above which a word is dropped at random; 0 keeps all. Default 1e-4.
    pub subsample: f64,
    /// AdaGrad's learning rate, or the first rate of `word2vec`. Default 0.26 / √(1 + `replays`), at most 0.2, for
    /// `mini-batch`. For the others, 0.2 with a rate per row, 0.1 with a rate per dimension, 0.025 for `word2vec`.
    pub learning_rate: Option<f32>,
    /// Maximum number of words; the rarest are evicted for new ones. Default 100,000.
    pub max_vocabulary: usize,
    /// How the text is split into sentences and tokens.
    pub text: TextOptions,
    /// How phrases are found in the text. Default not at all.
    pub phrases: PhraseOptions,
    /// Seed of every random number. Default 1.
    pub seed: u64,
    /// Training strategy. Default `mini-batch`.
    pub strategy: Strategy,
    /// Number of threads. Not a part of the model, which is the same for any number. Default all cores.
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
            max_vocabulary: 100_000,
            text: TextOptions::default(),
            phrases: PhraseOptions::default(),
            seed: 1,
            strategy: Strategy::default(),
            threads: None,
        }
    }
}

impl Config {
    pub(crate) fn half_life(&self) -> Option<HalfLife> {
        match self.strategy {
            Strategy::MiniBatch(options) => options.half_life,
            Strategy::Incremental(_) | Strategy::Batch(_) | Strategy::Word2vec(_) => None,
        }
    }

    /// Checks every setting against its limits and makes the choices that depend on others.
    pub fn check(self) -> Result<Settings> {
        check_whole("dimensions", self.dimensions)?;
        check_whole("window", self.window)?;
        check_whole("negatives", self.negatives)?;
        check_number("noise_exponent", self.noise_exponent)?;
        if self.strategy.name() == StrategyName::Incremental && self.noise_exponent < 0.0 {
            // The weight of a word in the adaptive table can only grow with its count.
            return Err(Error::setting(
                "noise_exponent",
                self.noise_exponent,
                "at least 0 with the strategy incremental",
            ));
        }
        check_number("subsample", self.subsample)?;
        check_whole("max_vocabulary", self.max_vocabulary)?;
        self.strategy.check(self.window)?;
        self.text.check()?;
        self.phrases.check(self.strategy.name(), self.half_life())?;
        if let Some(threads) = self.threads {
            check_whole("threads", threads)?;
        }
        let learning_rate = self.learning_rate.unwrap_or_else(|| self.strategy.default_learning_rate());
        // Plain steps diverge where AdaGrad's do not.
        let fastest = if self.strategy.adagrad().is_none() { 1.0 } else { 10.0 };
        in_range("learning_rate", learning_rate, &(1e-6..=fastest))?;
        let threads = self.threads.unwrap_or_else(available_threads);
        Ok(Settings { learning_rate, threads, config: self })
    }
}

/// Settings within their limits, complete.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    config: Config,
    learning_rate: f32,
    threads: usize,
}

impl Settings {
    /// Length of a vector.
    pub fn dimensions(&self) -> usize {
        self.config.dimensions
    }

    /// Maximum number of context words on each side of a word.
    pub fn window(&self) -> usize {
        self.config.window
    }

    /// Whether the size of each window is drawn at random.
    pub fn window_shape(&self) -> WindowShape {
        self.config.window_shape
    }

    /// Noise words per pair.
    pub fn negatives(&self) -> usize {
        self.config.negatives
    }

    /// Power of a word's count to which noise words are drawn in proportion.
    pub fn noise_exponent(&self) -> f64 {
        self.config.noise_exponent
    }

    /// Frequency, as a share of the text, above which a word is dropped at random.
    pub fn subsample(&self) -> f64 {
        self.config.subsample
    }

    /// AdaGrad's learning rate, or the first rate of `word2vec`.
    pub fn learning_rate(&self) -> f32 {
        self.learning_rate
    }

    /// Maximum number of words.
    pub fn max_vocabulary(&self) -> usize {
        self.config.max_vocabulary
    }

    /// How the text is split into sentences and tokens.
    pub fn text(&self) -> &TextOptions {
        &self.config.text
    }

    /// How phrases are found, if they are.
    pub(crate) fn phrases(&self) -> Option<PhraseSettings> {
        self.config.phrases.settings()
    }

    /// Seed of every random number.
    pub fn seed(&self) -> u64 {
        self.config.seed
    }

    /// Training strategy.
    pub fn strategy(&self) -> Strategy {
        self.config.strategy
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Number of new words that close a batch which begins after `tokens` tokens of the stream. It ends with the sentence
    /// that has the last of them. No batch is larger than the first, at 0 tokens.
    ///
    /// A warm-up is a batch. Otherwise, it is 1 for the strategies that learn sentence by sentence.
    pub fn new_words_per_batch(&self, tokens: u64) -> usize {
        match self.config.strategy {
            Strategy::MiniBatch(options) => options.batch_words.div_ceil(1 + options.replays as usize),
            Strategy::Incremental(options) => {
                (options.warm_up_words as u64).saturating_sub(tokens).max(1) as usize
            }
            Strategy::Batch(_) | Strategy::Word2vec(_) => 1,
        }
    }

    /// After how many words a token counts half, if old text is forgotten.
    pub fn half_life(&self) -> Option<HalfLife> {
        self.config.half_life()
    }

    /// The configuration with every choice spelled out but `threads`, which is not a part of the model.
    ///
    /// A model file holds it, so that other defaults do not change a model.
    pub fn resolved(&self) -> Config {
        Config {
            learning_rate: Some(self.learning_rate),
            phrases: self.config.phrases.resolved(),
            threads: None,
            ..self.config.clone()
        }
    }

    /// The options of `mini-batch`, for code that only this strategy runs.
    pub(crate) fn mini_batch(&self) -> MiniBatchOptions {
        match self.config.strategy {
            Strategy::MiniBatch(options) => options,
            strategy => unreachable!("the strategy is {}", strategy.name()),
        }
    }

    /// The configuration as it was given.
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }
}

pub(crate) fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
