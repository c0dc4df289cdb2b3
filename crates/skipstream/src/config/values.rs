//! Settings by their flat names, as flags, TOML files, Python keywords, JSON and model files have them.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::description::Setting;
use super::{
    AdaGrad, Config, Connectors, MiniBatchOptions, PhraseOptions, PhraseScore, Quality, ReplayStart,
    Strategy, StrategyName, WindowShape, check_number,
};
use crate::corpus::{InvalidUtf8, TextKind, TextOptions, Tokenizer};
use crate::error::{Error, Result};
use crate::half_life::HalfLife;

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
    #[serde(deserialize_with = "finite_rate")]
    pub learning_rate: Option<f32>,
    pub adagrad: Option<AdaGrad>,
    pub max_vocabulary: Option<usize>,
    pub table_size: Option<usize>,
    pub warm_up_words: Option<usize>,
    pub batch_words: Option<usize>,
    pub blocks: Option<usize>,
    pub quality: Option<Quality>,
    pub replays: Option<u32>,
    pub replay_words: Option<usize>,
    pub replay_start: Option<ReplayStart>,
    pub half_life: Option<HalfLife>,
    pub phrases: Option<PhraseScore>,
    pub phrase_threshold: Option<f64>,
    pub phrase_min_count: Option<u64>,
    pub phrase_pairs: Option<usize>,
    pub phrase_connectors: Option<Connectors>,
    pub passes: Option<u32>,
    pub strategy: Option<StrategyName>,
    pub seed: Option<u64>,
    pub text: Option<TextKind>,
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
    /// Settings for sequences of items: the products of a session, the tracks of a playlist, the nodes of a walk.
    ///
    /// All items of a sequence are contexts of each other, and the noise prefers none. Small batches and few blocks suit the
    /// few items that most catalogs have: negatives come from one block.
    pub fn for_items() -> SettingValues {
        SettingValues {
            window: Some(100),
            window_shape: Some(WindowShape::Fixed),
            noise_exponent: Some(0.0),
            subsample: Some(1e-3),
            batch_words: Some(50_000),
            blocks: Some(4),
            ..SettingValues::default()
        }
    }

    /// The configuration with these values, and the defaults for the others.
    ///
    /// A value that the strategy has no use for is an error.
    pub fn config(&self) -> Result<Config> {
        let name = self.strategy.unwrap_or_default();
        for (field, value) in self.written() {
            let setting = Setting::named(&field);
            if !setting.applies_to(name) {
                let strategies: Vec<&str> = setting.strategies.iter().map(|name| name.as_str()).collect();
                let limit =
                    format!("left out with the strategy {name}: it is for {}", strategies.join(" and "));
                return Err(Error::setting(setting.name, shown(&value), limit));
            }
        }
        if name == StrategyName::MiniBatch && self.adagrad == Some(AdaGrad::Dimension) {
            return Err(Error::setting("adagrad", "dimension", "row for the strategy mini-batch"));
        }
        // JSON has no such numbers, so they would count as not given.
        let numbers = [
            ("noise_exponent", self.noise_exponent),
            ("subsample", self.subsample),
            ("learning_rate", self.learning_rate.map(f64::from)),
            ("phrase_threshold", self.phrase_threshold),
        ];
        for (field, number) in numbers {
            if let Some(number) = number.filter(|number| !number.is_finite()) {
                check_number(field, number)?;
            }
        }
        let text = match self.text.unwrap_or_default() {
            TextKind::Tokens => TextOptions::default(),
            TextKind::Prose => TextOptions::prose(),
        };
        let mut fields = flat(&Config { text, ..Config::default() });
        fields.extend(self.given());
        Ok(Flat::deserialize(Value::Object(fields)).expect("the values have the types of the fields"))
    }

    /// The values that were given, by name. `quality` is replaced by the settings that it sets, so a model has the
    /// same settings whether they were given by that name or one by one.
    pub fn given(&self) -> Map<String, Value> {
        let mut fields = self.written();
        if let Some(quality) = self.quality {
            fields.remove("quality");
            let MiniBatchOptions { replays, replay_words, replay_start, .. } = quality.options();
            let start = serde_json::to_value(replay_start).expect(WRITABLE);
            let options =
                [("replays", replays.into()), ("replay_words", replay_words.into()), ("replay_start", start)];
            for (name, value) in options {
                fields.entry(name).or_insert(value);
            }
        }
        fields
    }

    /// The values as they were given.
    ///
    /// The map is made from text, so that a float has the digits that a person would type.
    fn written(&self) -> Map<String, Value> {
        let text = serde_json::to_string(self).expect(WRITABLE);
        let mut fields: Map<String, Value> = serde_json::from_str(&text).expect("it was written just now");
        fields.retain(|_, value| !value.is_null());
        fields
    }
}

/// A learning rate that an `f32` can hold. 1e39 would become infinite, which JSON cannot hold: where settings are merged, it
/// would count as not given.
fn finite_rate<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<f32>, D::Error> {
    let Some(rate) = Option::<f64>::deserialize(deserializer)? else { return Ok(None) };
    if (rate as f32).is_infinite() {
        check_number("learning_rate", rate).map_err(serde::de::Error::custom)?;
    }
    Ok(Some(rate as f32))
}

/// A configuration as one flat object.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Config")]
struct Flat {
    dimensions: usize,
    window: usize,
    window_shape: WindowShape,
    negatives: usize,
    noise_exponent: f64,
    subsample: f64,
    learning_rate: Option<f32>,
    max_vocabulary: usize,
    #[serde(flatten)]
    text: TextOptions,
    #[serde(flatten)]
    phrases: PhraseOptions,
    seed: u64,
    #[serde(flatten)]
    strategy: Strategy,
    threads: Option<usize>,
}

fn flat(config: &Config) -> Map<String, Value> {
    let mut json = Vec::new();
    Flat::serialize(config, &mut serde_json::Serializer::new(&mut json)).expect(WRITABLE);
    serde_json::from_slice(&json).expect("it was written just now")
}

const WRITABLE: &str = "settings are numbers and names";

/// All settings but `threads`, which is not a part of the model.
impl From<Config> for SettingValues {
    fn from(config: Config) -> SettingValues {
        let fields = Value::Object(flat(&config));
        let values: SettingValues =
            serde_json::from_value(fields).expect("fields and values have the same types");
        // A setting that can be given as `off`.
        let phrases =
            Some(config.phrases.score).filter(|_| config.strategy.name() == StrategyName::MiniBatch);
        SettingValues { adagrad: config.strategy.adagrad(), phrases, threads: None, ..values }
    }
}

/// Flat, without `threads` and without what has no use: for the strategy, or without phrases.
impl Serialize for Config {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let values = SettingValues::from(self.clone());
        let phrases = values.phrases.filter(|&score| score != PhraseScore::Off);
        SettingValues { phrases, ..values }.given().serialize(serializer)
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn values(fields: Value) -> SettingValues {
        serde_json::from_value(fields).unwrap()
    }

    #[test]
    fn quality_stands_for_other_settings_which_can_still_be_given() {
        let best = values(json!({ "quality": "best" }));
        let one_by_one = values(json!({ "replays": 4, "replay_words": 10_000_000, "replay_start": "late" }));
        assert_eq!(best.given(), one_by_one.given());
        assert_eq!(best.config().unwrap(), one_by_one.config().unwrap());
        assert_eq!(best.config().unwrap().strategy, Strategy::MiniBatch(MiniBatchOptions::best()));
        let fewer = values(json!({ "quality": "best", "replays": 3 })).given();
        assert_eq!((&fewer["replays"], &fewer["replay_words"]), (&json!(3), &json!(10_000_000)));
        // A flag can take back what a file says.
        assert_eq!(values(json!({ "quality": "balanced" })).config().unwrap(), Config::default());
    }

    #[test]
    fn a_learning_rate_that_only_an_f64_can_hold_is_refused_and_not_forgotten() {
        for rate in [1e39, -1e39, f64::MAX] {
            let error =
                serde_json::from_value::<SettingValues>(json!({ "learning_rate": rate })).unwrap_err();
            assert!(error.to_string().ends_with("it must be from 0.000001 to 10"), "{error}");
        }
        assert_eq!(values(json!({ "learning_rate": 0.1 })).learning_rate, Some(0.1));
        assert_eq!(values(json!({ "learning_rate": null })), SettingValues::default());
    }

    #[test]
    fn quality_is_for_mini_batch() {
        let error = values(json!({ "quality": "best", "strategy": "batch" })).config().unwrap_err();
        assert!(error.to_string().starts_with("quality is best; it must be left out"), "{error}");
    }
}
