//! The options of phrases.

use serde::{Deserialize, Serialize};

use super::{StrategyName, check_number, check_whole};
use crate::error::{Error, Result};
use crate::half_life::HalfLife;

/// Whether phrases are found in the text, and how two words are scored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhraseScore {
    /// No phrases are found.
    #[default]
    Off,
    /// Normalized pointwise mutual information, from −1 to 1: ln(n·f(ab) / (f(a)·f(b))) / ln(n / f(ab)), where n is the
    /// number of words of the text.
    Npmi,
    /// The score of Mikolov and others (2013), as word2phrase has it: n·(f(ab) − `min_count`) / (f(a)·f(b)).
    Original,
}

/// Words that a phrase may have inside, but not at its ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Connectors {
    /// None.
    #[default]
    None,
    /// English articles, prepositions and conjunctions: the list of gensim.
    English,
}

/// How phrases are found. `None` is the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PhraseOptions {
    /// How pairs are scored. Default off.
    #[serde(rename = "phrases", skip_serializing_if = "is_off")]
    pub score: PhraseScore,
    /// The score above which a pair becomes a phrase. Default 0.5 for `npmi` and 100 for `original`.
    #[serde(rename = "phrase_threshold", skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// Occurrences below which a pair is not a phrase. Default 10.
    #[serde(rename = "phrase_min_count", skip_serializing_if = "Option::is_none")]
    pub min_count: Option<u64>,
    /// Pairs that are counted at a time, at most. Default 400,000.
    #[serde(rename = "phrase_pairs", skip_serializing_if = "Option::is_none")]
    pub pairs: Option<usize>,
    /// Words that a phrase may have inside. Default none.
    #[serde(rename = "phrase_connectors", skip_serializing_if = "Option::is_none")]
    pub connectors: Option<Connectors>,
}

fn is_off(score: &PhraseScore) -> bool {
    *score == PhraseScore::Off
}

impl PhraseScore {
    /// As it is typed.
    pub fn as_str(self) -> &'static str {
        match self {
            PhraseScore::Off => "off",
            PhraseScore::Npmi => "npmi",
            PhraseScore::Original => "original",
        }
    }

    fn default_threshold(self) -> f64 {
        match self {
            PhraseScore::Off | PhraseScore::Npmi => 0.5,
            PhraseScore::Original => 100.0,
        }
    }
}

impl Connectors {
    /// The words.
    pub(crate) fn words(self) -> &'static [&'static str] {
        match self {
            Connectors::None => &[],
            Connectors::English => &[
                "a", "an", "the", "for", "of", "with", "without", "at", "from", "to", "in", "on", "by",
                "and", "or",
            ],
        }
    }
}

/// The options of phrases, complete.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PhraseSettings {
    pub score: PhraseScore,
    pub threshold: f64,
    pub min_count: u64,
    pub pairs: usize,
    pub connectors: Connectors,
}

impl PhraseOptions {
    /// The options with their defaults; none if phrases are off.
    pub(crate) fn settings(self) -> Option<PhraseSettings> {
        let PhraseOptions { score, threshold, min_count, pairs, connectors } = self;
        (score != PhraseScore::Off).then(|| PhraseSettings {
            score,
            threshold: threshold.unwrap_or_else(|| score.default_threshold()),
            min_count: min_count.unwrap_or(10),
            pairs: pairs.unwrap_or(400_000),
            connectors: connectors.unwrap_or_default(),
        })
    }

    /// The options with every choice spelled out.
    pub(super) fn resolved(self) -> PhraseOptions {
        let Some(PhraseSettings { score, threshold, min_count, pairs, connectors }) = self.settings() else {
            return self;
        };
        PhraseOptions {
            score,
            threshold: Some(threshold),
            min_count: Some(min_count),
            pairs: Some(pairs),
            connectors: Some(connectors),
        }
    }

    pub(super) fn check(self, strategy: StrategyName, half_life: Option<HalfLife>) -> Result<()> {
        let Some(settings) = self.settings() else {
            let given = [
                ("phrase_threshold", self.threshold.map(|value| value.to_string())),
                ("phrase_min_count", self.min_count.map(|value| value.to_string())),
                ("phrase_pairs", self.pairs.map(|value| value.to_string())),
                ("phrase_connectors", self.connectors.map(|value| format!("{value:?}").to_lowercase())),
            ];
            let given = given.into_iter().find_map(|(name, value)| Some((name, value?)));
            return given.map_or(Ok(()), |(name, value)| {
                Err(Error::setting(name, value, "left out where phrases is off"))
            });
        };
        let name = settings.score.as_str();
        if strategy != StrategyName::MiniBatch {
            return Err(Error::setting("phrases", name, format!("off with the strategy {strategy}")));
        }
        if let Some(half_life) = half_life {
            return Err(Error::setting("phrases", name, format!("off where half_life is {half_life}")));
        }
        check_number("phrase_threshold", settings.threshold)?;
        if settings.score == PhraseScore::Npmi && settings.threshold >= 1.0 {
            let limit = "below 1 where phrases is npmi, whose scores are at most 1";
            return Err(Error::setting("phrase_threshold", settings.threshold, limit));
        }
        check_whole("phrase_min_count", settings.min_count)?;
        check_whole("phrase_pairs", settings.pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, MiniBatchOptions, SettingValues, Strategy};

    fn config(json: &str) -> Result<crate::Settings> {
        serde_json::from_str::<SettingValues>(json).unwrap().config()?.check()
    }

    fn message(json: &str) -> String {
        config(json).unwrap_err().to_string()
    }

    #[test]
    fn options_are_complete_in_a_model_and_absent_without_phrases() {
        let resolved = config(r#"{"phrases": "original", "phrase_min_count": 7}"#).unwrap().resolved();
        let json = serde_json::to_value(&resolved).unwrap();
        let names = ["phrases", "phrase_threshold", "phrase_min_count", "phrase_pairs", "phrase_connectors"];
        let values = names.map(|name| json[name].to_string());
        assert_eq!(values, [r#""original""#, "100.0", "7", "400000", r#""none""#]);
        assert_eq!(serde_json::from_value::<Config>(json).unwrap(), resolved);
        for off in ["{}", r#"{"phrases": "off"}"#, r#"{"strategy": "incremental"}"#] {
            let json = serde_json::to_value(config(off).unwrap().resolved()).unwrap();
            assert!(json.as_object().unwrap().keys().all(|name| !name.starts_with("phrase")), "{json}");
        }
    }

    #[test]
    fn an_option_without_phrases_is_refused() {
        for (name, value, shown) in [
            ("phrase_threshold", "0.4", "0.4"),
            ("phrase_min_count", "3", "3"),
            ("phrase_pairs", "1000", "1000"),
            ("phrase_connectors", r#""english""#, "english"),
        ] {
            let message = message(&format!(r#"{{"{name}": {value}}}"#));
            assert_eq!(message, format!("{name} is {shown}; it must be left out where phrases is off"));
        }
    }

    #[test]
    fn phrases_are_for_mini_batch() {
        let message = message(r#"{"phrases": "npmi", "strategy": "incremental"}"#);
        assert!(message.starts_with("phrases is npmi; it must be left out with the strategy"), "{message}");
        let phrases = PhraseOptions { score: PhraseScore::Npmi, ..Default::default() };
        let config = Config { phrases, strategy: Strategy::incremental(), ..Config::default() };
        let message = config.check().unwrap_err().to_string();
        assert_eq!(message, "phrases is npmi; it must be off with the strategy incremental");
    }

    #[test]
    fn phrases_and_a_half_life_are_refused() {
        let message = message(r#"{"phrases": "npmi", "half_life": 1000}"#);
        assert_eq!(message, "phrases is npmi; it must be off where half_life is 1000");
        let options = MiniBatchOptions { half_life: Some(HalfLife::Words(1000)), ..Default::default() };
        assert!(Config { strategy: Strategy::MiniBatch(options), ..Config::default() }.check().is_ok());
    }

    #[test]
    fn options_outside_their_limits_are_refused() {
        for (options, expected) in [
            (r#""phrase_threshold": 0"#, "phrase_threshold is 0; it must be from 0.000001 to 1000000000"),
            (
                r#""phrase_threshold": 1.0"#,
                "phrase_threshold is 1; it must be below 1 where phrases is npmi, whose scores are at most 1",
            ),
            (r#""phrase_min_count": 0"#, "phrase_min_count is 0; it must be from 1 to 1000000000"),
            (r#""phrase_pairs": 99"#, "phrase_pairs is 99; it must be from 100 to 1000000000"),
        ] {
            assert_eq!(message(&format!(r#"{{"phrases": "npmi", {options}}}"#)), expected);
        }
    }
}
