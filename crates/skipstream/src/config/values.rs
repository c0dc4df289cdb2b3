//! Settings by their flat names, as flags, TOML files, Python keywords, JSON and model files have them.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use super::description::Setting;
use super::{
    AdaGrad, BatchOptions, Config, IncrementalOptions, MiniBatchOptions, Strategy, StrategyName, WindowShape,
    Word2vecOptions,
};
use crate::corpus::{InvalidUtf8, TextOptions, Tokenizer};
use crate::error::{Error, Result};

/// Values of settings by their flat names; `None` where no value was given.
///
/// ```
/// use skipstream::SettingValues;
///
/// let values: SettingValues = serde_json::from_str(r#"{"dimensions": 50, "replays": 0}"#)?;
/// assert_eq!(values.config()?.dimensions, 50);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(missing_docs, reason = "`Setting` describes each of them")]
pub struct SettingValues {
    pub dimensions: Option<usize>,
    pub window: Option<usize>,
    pub window_shape: Option<WindowShape>,
    pub negatives: Option<usize>,
    pub noise_exponent: Option<f64>,
    pub subsample: Option<f64>,
    pub learning_rate: Option<f32>,
    pub adagrad: Option<AdaGrad>,
    pub max_vocabulary: Option<usize>,
    pub table_size: Option<usize>,
    pub batch_words: Option<usize>,
    pub blocks: Option<usize>,
    pub replays: Option<u32>,
    pub replay_words: Option<usize>,
    pub passes: Option<u32>,
    pub strategy: Option<StrategyName>,
    pub seed: Option<u64>,
    pub tokenizer: Option<Tokenizer>,
    pub lowercase: Option<bool>,
    pub nfkc: Option<bool>,
    pub min_token_len: Option<usize>,
    pub max_token_len: Option<usize>,
    pub max_sentence_words: Option<usize>,
    pub max_token_bytes: Option<usize>,
    pub invalid_utf8: Option<InvalidUtf8>,
    pub threads: Option<usize>,
}

impl SettingValues {
    /// The configuration with these values, and the defaults for the others.
    ///
    /// A value that the strategy has no use for is an error.
    pub fn config(&self) -> Result<Config> {
        let name = self.strategy.unwrap_or_default();
        for (field, value) in self.given() {
            let setting = Setting::named(&field);
            if !setting.applies_to(name) {
                let strategies: Vec<&str> = setting.strategies.iter().map(|name| name.as_str()).collect();
                let limit =
                    format!("left out with the strategy {name}: it is for {}", strategies.join(" and "));
                return Err(setting.error(shown(&value), limit));
            }
        }
        if name == StrategyName::MiniBatch && self.adagrad == Some(AdaGrad::Dimension) {
            return Err(Setting::named("adagrad").error("dimension", "row for the strategy mini-batch"));
        }
        let default = Config::default();
        let text = TextOptions::default();
        Ok(Config {
            dimensions: self.dimensions.unwrap_or(default.dimensions),
            window: self.window.unwrap_or(default.window),
            window_shape: self.window_shape.unwrap_or(default.window_shape),
            negatives: self.negatives.unwrap_or(default.negatives),
            noise_exponent: self.noise_exponent.unwrap_or(default.noise_exponent),
            subsample: self.subsample.unwrap_or(default.subsample),
            learning_rate: self.learning_rate,
            max_vocabulary: self.max_vocabulary.unwrap_or(default.max_vocabulary),
            text: TextOptions {
                tokenizer: self.tokenizer.unwrap_or(text.tokenizer),
                lowercase: self.lowercase.unwrap_or(text.lowercase),
                nfkc: self.nfkc.unwrap_or(text.nfkc),
                min_token_len: self.min_token_len.unwrap_or(text.min_token_len),
                max_token_len: self.max_token_len,
                max_sentence_words: self.max_sentence_words.unwrap_or(text.max_sentence_words),
                max_token_bytes: self.max_token_bytes.unwrap_or(text.max_token_bytes),
                invalid_utf8: self.invalid_utf8.unwrap_or(text.invalid_utf8),
            },
            seed: self.seed.unwrap_or(default.seed),
            strategy: self.options_of(name),
            threads: self.threads,
        })
    }

    fn options_of(&self, name: StrategyName) -> Strategy {
        match name {
            StrategyName::MiniBatch => {
                let default = MiniBatchOptions::default();
                Strategy::MiniBatch(MiniBatchOptions {
                    batch_words: self.batch_words.unwrap_or(default.batch_words),
                    blocks: self.blocks.unwrap_or(default.blocks),
                    replays: self.replays.unwrap_or(default.replays),
                    replay_words: self.replay_words.unwrap_or(default.replay_words),
                })
            }
            StrategyName::Incremental => {
                let default = IncrementalOptions::default();
                Strategy::Incremental(IncrementalOptions {
                    table_size: self.table_size.unwrap_or(default.table_size),
                    adagrad: self.adagrad.unwrap_or(default.adagrad),
                })
            }
            StrategyName::Batch => {
                let default = BatchOptions::default();
                Strategy::Batch(BatchOptions {
                    passes: self.passes.unwrap_or(default.passes),
                    adagrad: self.adagrad.unwrap_or(default.adagrad),
                })
            }
            StrategyName::Word2vec => {
                let default = Word2vecOptions::default();
                Strategy::Word2vec(Word2vecOptions { passes: self.passes.unwrap_or(default.passes) })
            }
        }
    }

    /// The values that were given, by name.
    ///
    /// The map is made from text, so that a float has the digits that a person would type.
    pub fn given(&self) -> Map<String, Value> {
        let text = serde_json::to_string(self).expect("settings are numbers and names");
        let mut fields: Map<String, Value> = serde_json::from_str(&text).expect("it was written just now");
        fields.retain(|_, value| !value.is_null());
        fields
    }
}

/// All settings but `threads`, which is not a part of the model.
impl From<Config> for SettingValues {
    fn from(config: Config) -> SettingValues {
        let strategy = config.strategy;
        let mut values = SettingValues {
            dimensions: Some(config.dimensions),
            window: Some(config.window),
            window_shape: Some(config.window_shape),
            negatives: Some(config.negatives),
            noise_exponent: Some(config.noise_exponent),
            subsample: Some(config.subsample),
            learning_rate: config.learning_rate,
            max_vocabulary: Some(config.max_vocabulary),
            passes: strategy.passes(),
            strategy: Some(strategy.name()),
            seed: Some(config.seed),
            tokenizer: Some(config.text.tokenizer),
            lowercase: Some(config.text.lowercase),
            nfkc: Some(config.text.nfkc),
            min_token_len: Some(config.text.min_token_len),
            max_token_len: config.text.max_token_len,
            max_sentence_words: Some(config.text.max_sentence_words),
            max_token_bytes: Some(config.text.max_token_bytes),
            invalid_utf8: Some(config.text.invalid_utf8),
            ..SettingValues::default()
        };
        match strategy {
            Strategy::MiniBatch(options) => {
                values.batch_words = Some(options.batch_words);
                values.blocks = Some(options.blocks);
                values.replays = Some(options.replays);
                values.replay_words = Some(options.replay_words);
            }
            Strategy::Incremental(options) => values.table_size = Some(options.table_size),
            Strategy::Batch(_) | Strategy::Word2vec(_) => {}
        }
        values.adagrad = strategy.adagrad();
        values
    }
}

/// Flat, without `threads` and without what the strategy has no use for.
impl Serialize for Config {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        SettingValues::from(self.clone()).given().serialize(serializer)
    }
}

impl TryFrom<SettingValues> for Config {
    type Error = Error;

    fn try_from(values: SettingValues) -> Result<Config> {
        values.config()
    }
}

/// A value as it is typed.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
