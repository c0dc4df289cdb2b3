//! The one description of all settings. Flags, TOML keys, Python keywords and `docs/settings.md` follow it.

use std::fmt::Display;
use std::ops::RangeInclusive;

use super::StrategyName::{self, Batch, Incremental, MiniBatch, Word2vec};
use crate::error::{Error, Result};

/// A setting: its name, its meaning, its limits, and its name in other programs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Setting {
    /// The name: a field, a TOML or JSON key and a Python keyword; with hyphens, a flag.
    pub name: &'static str,
    /// What it is, in one line.
    pub help: &'static str,
    /// What else there is to know, or nothing.
    pub notes: &'static str,
    /// Which values it takes.
    pub kind: SettingKind,
    /// The default, as people write it.
    pub default: &'static str,
    /// The strategies that it applies to.
    pub strategies: &'static [StrategyName],
    /// What word2vec.c, fastText and gensim have instead.
    pub peers: [&'static str; 3],
}

/// Which values a setting takes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SettingKind {
    /// A whole number.
    Whole(RangeInclusive<u64>),
    /// A number.
    Number(RangeInclusive<f64>),
    /// One of these names.
    Choice(&'static [&'static str]),
    /// `true` or `false`.
    Bool,
}

use SettingKind::{Bool, Choice, Number, Whole};

const ALL: &[StrategyName] = &[MiniBatch, Incremental, Batch, Word2vec];
const NO_PEER: [&str; 3] = ["–", "–", "–"];

impl Setting {
    /// Every setting, in the order of the documentation.
    pub const ALL: &[Setting] = &[
        Setting {
            name: "dimensions",
            help: "Length of a vector",
            notes: "",
            kind: Whole(1..=10_000),
            default: "100",
            strategies: ALL,
            peers: ["`-size` 100", "`-dim` 100", "`vector_size` 100"],
        },
        Setting {
            name: "window",
            help: "Maximum number of context words on each side of a word",
            notes: "",
            kind: Whole(1..=1_000),
            default: "5",
            strategies: ALL,
            peers: ["`-window` 5", "`-ws` 5", "`window` 5"],
        },
        Setting {
            name: "window_shape",
            help: "Whether the size of each window is drawn at random",
            notes: "`shrinking` draws a size from 1 to `window` for each word, as word2vec does; `fixed` always takes \
                    `window`.",
            kind: Choice(&["shrinking", "fixed"]),
            default: "shrinking",
            strategies: ALL,
            peers: ["always shrinking", "always shrinking", "`shrink_windows` true"],
        },
        Setting {
            name: "negatives",
            help: "Noise words per pair",
            notes: "`mini-batch` shares them between pairs.",
            kind: Whole(1..=100),
            default: "5",
            strategies: ALL,
            peers: ["`-negative` 5", "`-neg` 5", "`negative` 5"],
        },
        Setting {
            name: "noise_exponent",
            help: "Power of a word's count to which noise words are drawn in proportion",
            notes: "α in the paper.",
            kind: Number(0.0..=1.0),
            default: "0.75",
            strategies: ALL,
            peers: ["0.75, fixed", "0.5, fixed", "`ns_exponent` 0.75"],
        },
        Setting {
            name: "subsample",
            help: "Share of the text above which a word is dropped at random; 0 keeps all",
            notes: "",
            kind: Number(0.0..=1.0),
            default: "1e-4",
            strategies: ALL,
            peers: ["`-sample` 1e-3", "`-t` 1e-4", "`sample` 1e-3"],
        },
        Setting {
            name: "learning_rate",
            help: "AdaGrad's learning rate, or the first rate of `word2vec`",
            notes: "The default is 0.2 with a rate per row, 0.1 with a rate per dimension, and 0.025 for `word2vec`, \
                    whose rate is at most 1. The numbers of other programs are not comparable.",
            kind: Number(1e-6..=10.0),
            default: "0.2, 0.1 or 0.025",
            strategies: ALL,
            peers: ["`-alpha` 0.025", "`-lr` 0.05", "`alpha` 0.025"],
        },
        Setting {
            name: "adagrad",
            help: "What has a learning rate of its own",
            notes: "`mini-batch` has a rate per `row`. `incremental` and `batch` have one per `dimension` by default, \
                    as in the paper.",
            kind: Choice(&["row", "dimension"]),
            default: "row or dimension",
            strategies: &[MiniBatch, Incremental, Batch],
            peers: NO_PEER,
        },
        Setting {
            name: "max_vocabulary",
            help: "Maximum number of words; the rarest are evicted for new ones",
            notes: "m in the paper. Replaces a minimum count.",
            kind: Whole(2..=100_000_000),
            default: "100000",
            strategies: ALL,
            peers: ["21 million, fixed", "22.5 million, fixed", "`max_vocab_size` none"],
        },
        Setting {
            name: "table_size",
            help: "Slots of the noise table",
            notes: "τ in the paper. The other strategies draw from exact tables.",
            kind: Whole(1_000..=1_000_000_000),
            default: "1000000",
            strategies: &[Incremental],
            peers: ["100 million, fixed", "10 million, fixed", "–"],
        },
        Setting {
            name: "batch_words",
            help: "Words trained together, replayed words included",
            notes: "At most 10⁹ / `window`. (gensim's `batch_words` is something else: the work unit of its threads.)",
            kind: Whole(1..=100_000_000),
            default: "400000",
            strategies: &[MiniBatch],
            peers: NO_PEER,
        },
        Setting {
            name: "blocks",
            help: "Parts of the vocabulary that threads share out: a power of two, at least the threads",
            notes: "No more threads than blocks work; twice as many blocks as threads keep all of them busy. The model \
                    depends on it.",
            kind: Whole(1..=256),
            default: "4",
            strategies: &[MiniBatch],
            peers: NO_PEER,
        },
        Setting {
            name: "replays",
            help: "How often each word is trained again later, from a buffer of past text",
            notes: "0 is the paper's Algorithm 2.",
            kind: Whole(0..=100),
            default: "1",
            strategies: &[MiniBatch],
            peers: NO_PEER,
        },
        Setting {
            name: "replay_words",
            help: "Maximum number of words in the replay buffer",
            notes: "4 bytes for each word, and 4 for each sentence.",
            kind: Whole(1..=4_000_000_000),
            default: "2000000",
            strategies: &[MiniBatch],
            peers: NO_PEER,
        },
        Setting {
            name: "passes",
            help: "Passes over the files",
            notes: "A stream is read once; `replays` trains its words again.",
            kind: Whole(1..=10_000),
            default: "1",
            strategies: &[Batch, Word2vec],
            peers: ["`-iter` 5", "`-epoch` 5", "`epochs` 5"],
        },
        Setting {
            name: "strategy",
            help: "How the text becomes updates",
            notes: "`mini-batch` counts a batch of words and then trains it, on all threads. `incremental` does both word \
                    by word, on one thread. `batch` and `word2vec` read all files once to count and then in passes, as \
                    word2vec does; such a model cannot learn more text later.",
            kind: Choice(&["mini-batch", "incremental", "batch", "word2vec"]),
            default: "mini-batch",
            strategies: ALL,
            peers: NO_PEER,
        },
        Setting {
            name: "seed",
            help: "Seed of every random number",
            notes: "",
            kind: Whole(0..=u64::MAX),
            default: "1",
            strategies: ALL,
            peers: ["–", "`-seed` 0", "`seed` 1"],
        },
        Setting {
            name: "tokenizer",
            help: "How the text is split into words",
            notes: "`whitespace` splits at white space. `unicode` finds words by Unicode's rules (UAX #29) and keeps \
                    those with a letter or a number: punctuation is left out, and scripts without spaces are split \
                    into characters.",
            kind: Choice(&["whitespace", "unicode"]),
            default: "whitespace",
            strategies: ALL,
            peers: ["white space", "white space", "–"],
        },
        Setting {
            name: "lowercase",
            help: "Convert all words to lower case",
            notes: "",
            kind: Bool,
            default: "false",
            strategies: ALL,
            peers: NO_PEER,
        },
        Setting {
            name: "nfkc",
            help: "Convert the text to Unicode's normal form KC first",
            notes: "",
            kind: Bool,
            default: "false",
            strategies: ALL,
            peers: NO_PEER,
        },
        Setting {
            name: "min_token_len",
            help: "Minimum number of characters of a word; shorter ones are left out and counted",
            notes: "",
            kind: Whole(1..=65_535),
            default: "1",
            strategies: ALL,
            peers: NO_PEER,
        },
        Setting {
            name: "max_token_len",
            help: "Maximum number of characters of a word; longer ones are left out and counted",
            notes: "",
            kind: Whole(1..=65_535),
            default: "none",
            strategies: ALL,
            peers: NO_PEER,
        },
        Setting {
            name: "max_sentence_words",
            help: "Maximum number of words of a sentence; a longer line is split, and all of it is learned",
            notes: "",
            kind: Whole(2..=1_000_000),
            default: "1000",
            strategies: ALL,
            peers: ["1,000, fixed", "1,024, fixed", "10,000, fixed"],
        },
        Setting {
            name: "max_token_bytes",
            help: "Maximum number of bytes of a word; longer ones are left out and counted",
            notes: "",
            kind: Whole(1..=65_535),
            default: "128",
            strategies: ALL,
            peers: ["100, fixed", "–", "–"],
        },
        Setting {
            name: "invalid_utf8",
            help: "What to do with a line that is not UTF-8",
            notes: "`replace` puts U+FFFD in the place of bad bytes, `skip` leaves the line out, `error` stops.",
            kind: Choice(&["replace", "skip", "error"]),
            default: "replace",
            strategies: ALL,
            peers: NO_PEER,
        },
        Setting {
            name: "threads",
            help: "Number of threads; the model is the same for any number",
            notes: "Not a part of the model: it may differ from run to run. Only `mini-batch` uses more than one.",
            kind: Whole(1..=1_000),
            default: "all cores",
            strategies: ALL,
            peers: ["`-threads` 12", "`-thread` 12", "`workers` 3"],
        },
    ];

    /// The setting of this name, which must exist.
    pub(crate) fn named(name: &str) -> &'static Setting {
        let setting = Setting::ALL.iter().find(|setting| setting.name == name);
        setting.unwrap_or_else(|| panic!("{name} has no description"))
    }

    /// Whether the strategy has a use for it.
    pub fn applies_to(&self, strategy: StrategyName) -> bool {
        self.strategies.contains(&strategy)
    }

    /// The limits of a setting that is a whole number.
    pub(crate) fn limits(name: &str) -> RangeInclusive<usize> {
        match &Setting::named(name).kind {
            Whole(range) => *range.start() as usize..=*range.end() as usize,
            kind => unreachable!("{name} is {kind:?}"),
        }
    }

    /// The error for a value outside its limits.
    pub(crate) fn error(&self, value: impl Display, limit: impl Into<String>) -> Error {
        Error::Setting { field: self.name, value: value.to_string(), limit: limit.into() }
    }
}

/// Checks a whole number against the limits of its setting.
pub(crate) fn check_whole(name: &'static str, value: impl TryInto<u64> + Display + Copy) -> Result<()> {
    match &Setting::named(name).kind {
        Whole(range) => in_range(name, value.try_into().unwrap_or(u64::MAX), range),
        kind => unreachable!("{name} is {kind:?}"),
    }
}

/// Checks a number against the limits of its setting.
pub(super) fn check_number(name: &'static str, value: f64) -> Result<()> {
    match &Setting::named(name).kind {
        Number(range) => in_range(name, value, range),
        kind => unreachable!("{name} is {kind:?}"),
    }
}

pub(crate) fn in_range<T: PartialOrd + Display>(
    name: &str,
    value: T,
    range: &RangeInclusive<T>,
) -> Result<()> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(Setting::named(name).error(value, format!("from {} to {}", range.start(), range.end())))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::{Config, SettingValues};

    #[test]
    fn every_value_has_a_description_and_the_other_way_round() {
        let values = serde_json::to_value(SettingValues::default()).unwrap();
        let mut names: Vec<&str> = values.as_object().unwrap().keys().map(String::as_str).collect();
        let mut described: Vec<&str> = Setting::ALL.iter().map(|setting| setting.name).collect();
        names.sort_unstable();
        described.sort_unstable();
        assert_eq!(names, described);
    }

    #[test]
    fn defaults_are_those_of_the_configuration() {
        for strategy in [MiniBatch, Incremental, Batch, Word2vec] {
            let values = SettingValues { strategy: Some(strategy), ..SettingValues::default() };
            let values = SettingValues::from(values.config().unwrap()).given();
            for (name, value) in values
                .iter()
                .filter(|(name, _)| !["strategy", "adagrad", "learning_rate"].contains(&name.as_str()))
            {
                let default = Setting::named(name).default;
                match value {
                    Value::Number(number) => {
                        assert_eq!(number.as_f64().unwrap(), default.parse::<f64>().unwrap(), "{name}")
                    }
                    other => assert_eq!(other.to_string().trim_matches('"'), default, "{name}"),
                }
            }
        }
        assert_eq!(Config::default().strategy.name().as_str(), Setting::named("strategy").default);
    }

    #[test]
    fn choices_are_those_of_the_library() {
        for setting in Setting::ALL {
            let Choice(names) = setting.kind else { continue };
            for name in names {
                let json = serde_json::json!({ setting.name: name });
                let _: SettingValues = serde_json::from_value(json).unwrap();
            }
            let json = serde_json::json!({ setting.name: "no such choice" });
            let error = serde_json::from_value::<SettingValues>(json).unwrap_err().to_string();
            let listed = error.split('`').skip(3).step_by(2).count();
            assert_eq!(listed, names.len(), "{error}");
        }
    }
}
