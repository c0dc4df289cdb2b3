//! The one description of all settings. Flags, TOML keys, Python keywords and `docs/reference/settings.md` follow it.

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
    /// A number of words, which may have a unit, `20M`, or a time: `30d`.
    Age(RangeInclusive<u64>),
    /// A number.
    Number(RangeInclusive<f64>),
    /// One of these names.
    Choice(&'static [&'static str]),
    /// `true` or `false`.
    Bool,
}

use SettingKind::{Age, Bool, Choice, Number, Whole};

impl Setting {
    /// Every setting, in the order of the documentation.
    pub const ALL: &[Setting] = &[
        Setting::new("dimensions", "100", Whole(1..=10_000)).help("Length of a vector").peers([
            "`-size` 100",
            "`-dim` 100",
            "`vector_size` 100",
        ]),
        Setting::new("window", "5", Whole(1..=1_000))
            .help("Maximum number of context words on each side of a word")
            .peers(["`-window` 5", "`-ws` 5", "`window` 5"]),
        Setting::new("window_shape", "shrinking", Choice(&["shrinking", "fixed"]))
            .help("Whether the size of each window is drawn at random")
            .notes(
                "`shrinking` draws a size from 1 to `window` for each word, as word2vec does; `fixed` \
                 always takes `window`.",
            )
            .peers(["always shrinking", "always shrinking", "`shrink_windows` true"]),
        Setting::new("negatives", "5", Whole(1..=100))
            .help("Noise words per pair")
            .notes("`mini-batch` shares them between pairs.")
            .peers(["`-negative` 5", "`-neg` 5", "`negative` 5"]),
        Setting::new("noise_exponent", "0.75", Number(-1.0..=1.0))
            .help("Noise words are drawn in proportion to their count to this power")
            .notes(
                "α in the paper. Below 0, rare words are drawn more often than frequent ones, which can be better for sequences \
                 of items such as purchases; `incremental` needs at least 0.",
            )
            .peers(["0.75, fixed", "0.5, fixed", "`ns_exponent` 0.75"]),
        Setting::new("subsample", "1e-4", Number(0.0..=1.0))
            .help("Frequency, as a share of the text, above which a word is dropped at random; 0 keeps all")
            .peers(["`-sample` 1e-3", "`-t` 1e-4", "`sample` 1e-3"]),
        Setting::new("learning_rate", "by strategy", Number(1e-6..=10.0))
            .help("AdaGrad's learning rate, or the first rate of `word2vec`")
            .notes(
                "The default for `mini-batch` is 0.26 / √(1 + `replays`), or 0.335 / √(1 + `replays`) with `replay_start` late, \
                 and at most 0.2; 0.025 for `word2vec`, whose rate is at most 1; and otherwise 0.2 with a rate per row and 0.1 with a rate per dimension. The numbers of other \
                 programs are not comparable.",
            )
            .peers(["`-alpha` 0.025", "`-lr` 0.05", "`alpha` 0.025"]),
        Setting::new("adagrad", "row or dimension", Choice(&["row", "dimension"]))
            .help("Granularity of learning rates")
            .notes(
                "`mini-batch` has a rate per `row`. `incremental` and `batch` have one per \
                 `dimension` by default, as in the paper.",
            )
            .only(&[MiniBatch, Incremental, Batch]),
        Setting::new("max_vocabulary", "100000", Whole(2..=100_000_000))
            .help("Maximum number of words; the rarest are evicted for new ones")
            .notes("m in the paper. Replaces a minimum count.")
            .peers(["21 million, fixed", "22.5 million, fixed", "`max_vocab_size` none"]),
        Setting::new("table_size", "1000000", Whole(1_000..=1_000_000_000))
            .help("Slots of the noise table")
            .notes("τ in the paper. The other strategies draw from exact tables.")
            .only(&[Incremental])
            .peers(["100 million, fixed", "10 million, fixed", "–"]),
        Setting::new("warm_up_words", "0", Whole(0..=100_000_000))
            .help("Words at the start of the stream that are counted before any of them is trained")
            .notes(
                "0 is the paper's Algorithm 1: its first words are trained with the few noise words seen so far. If the \
                 text ends earlier, it is trained then. The first batch of `mini-batch` is a warm-up too.",
            )
            .only(&[Incremental]),
        Setting::new("batch_words", "400000", Whole(1..=100_000_000))
            .help("Words trained together, replayed words included")
            .notes(
                "At most 10⁹ / `window`. (gensim's `batch_words` is something else: the work unit of \
                 its threads.)",
            )
            .only(&[MiniBatch]),
        Setting::new("blocks", "16", Whole(1..=256))
            .help("Number of parts of the vocabulary that threads work on: a power of two")
            .notes("At most this many threads are used. The model depends on it.")
            .only(&[MiniBatch]),
        Setting::new("quality", "balanced", Choice(&["balanced", "best"]))
            .help("Balance of speed and quality; sets the defaults of the next three settings")
            .notes(
                "`best` stands for `replays` 4, `replay_words` 10000000 and `replay_start` late. At the end of the text, \
                 train what is left in the buffer (`--finish`, `finish()`).",
            )
            .only(&[MiniBatch]),
        Setting::new("replays", "2", Whole(0..=100))
            .help("Number of times each word is trained again later, from a buffer of past text")
            .notes("0 is the paper's Algorithm 2.")
            .only(&[MiniBatch]),
        Setting::new("replay_words", "2000000", Whole(1..=4_000_000_000))
            .help("Maximum number of words in the replay buffer")
            .notes("The buffer takes 4 bytes for each word and 4 for each sentence.")
            .only(&[MiniBatch]),
        Setting::new("replay_start", "early", Choice(&["early", "late"]))
            .help("When replays begin")
            .notes(
                "`early` lets at most a quarter of the text so far wait, so that the model is good at any time. `late` \
                 fills the buffer first: better vectors after `--finish` or `finish()`, but a text shorter than the \
                 buffer is not replayed before that.",
            )
            .only(&[MiniBatch]),
        // Sums of weights stay below 2⁶⁰, like counts.
        Setting::new("half_life", "none", Age(1..=100_000_000_000))
            .help("Number of words, or time, after which a token counts half; without it, nothing is forgotten")
            .notes(
                "Counts, noise, subsampling and the vocabulary follow the recent text, AdaGrad's steps do not keep \
                 shrinking, and old text is replayed less. A number of words, such as `20M`, or the time of the text, such \
                 as `30d` or `36h` (up to `3650d`), for text that has times: in `serve`, and messages of `train --source`. Leave it out unless the text changes.",
            )
            .only(&[MiniBatch]),
        Setting::new("phrases", "off", Choice(&["off", "npmi", "original"]))
            .help("Whether two words that belong together become one, as *new york* becomes `new_york`, and how they are scored")
            .notes(
                "Phrases are found while the text is read, and longer ones grow out of shorter ones. `npmi` is normalized \
                 pointwise mutual information, `original` the score of word2phrase. Changes take effect at the end of a \
                 batch. Not with `half_life`.",
            )
            .only(&[MiniBatch])
            .peers(["`word2phrase`", "–", "`Phrases`"]),
        Setting::new("phrase_threshold", "0.5 or 100", Number(1e-6..=1e9))
            .help("Score above which two words become a phrase")
            .notes(
                "The default is 0.5 for `npmi`, which is below 1, and 100 for `original`. A phrase is dissolved when its score \
                 falls below 0.8 of this.",
            )
            .only(&[MiniBatch])
            .peers(["`-threshold` 100", "–", "`threshold` 10"]),
        Setting::new("phrase_min_count", "10", Whole(1..=1_000_000_000))
            .help("Minimum number of times that the words of a phrase occur next to each other")
            .only(&[MiniBatch])
            .peers(["`-min-count` 5", "–", "`min_count` 5"]),
        Setting::new("phrase_pairs", "400000", Whole(100..=1_000_000_000))
            .help("Maximum number of word pairs that are counted at a time; the rarest leave for new ones")
            .notes("A pair takes about 50 bytes.")
            .only(&[MiniBatch])
            .peers(["500 million, fixed", "–", "`max_vocab_size` 40000000"]),
        Setting::new("phrase_connectors", "none", Choice(&["none", "english"]))
            .help("Words that a phrase may have inside, but not at its ends: *secretary of state*")
            .notes("`english` is gensim's list of articles, prepositions and conjunctions. A phrase has at most two in a row.")
            .only(&[MiniBatch])
            .peers(["–", "–", "`connector_words` none"]),
        Setting::new("passes", "1", Whole(1..=10_000))
            .help("Passes over the files")
            .notes("A stream is read once; `replays` trains its words again.")
            .only(&[Batch, Word2vec])
            .peers(["`-iter` 5", "`-epoch` 5", "`epochs` 5"]),
        Setting::new("strategy", "mini-batch", Choice(&["mini-batch", "incremental", "batch", "word2vec"]))
            .help("Training strategy")
            .notes(
                "`mini-batch` counts a batch of words and then trains it, on all threads. \
                 `incremental` does both word by word, on one thread. `batch` and `word2vec` read all \
                 files once to count and then in passes, as word2vec does; such a model cannot learn \
                 more text later.",
            ),
        Setting::new("seed", "1", Whole(0..=u64::MAX)).help("Random seed").peers([
            "–",
            "`-seed` 0",
            "`seed` 1",
        ]),
        Setting::new("text", "tokens", Choice(&["tokens", "prose"]))
            .help("Kind of text; sets the defaults of `tokenizer`, `lowercase` and `nfkc`")
            .notes(
                "`tokens` is prepared text, learned as it is. `prose` is ordinary text: words by Unicode's \
                 rules, in lower case and NFKC. Sentences end at their punctuation, all apostrophes are the \
                 same, and URLs, e-mail addresses, emoji and most numbers are left out and counted.",
            ),
        Setting::new("tokenizer", "whitespace", Choice(&["whitespace", "unicode"]))
            .help("How the text is split into words")
            .notes(
                "`whitespace` splits at white space. `unicode` finds words by Unicode's rules (UAX \
                 #29) and keeps those with a letter or a number: punctuation is left out, and scripts \
                 without spaces are split into characters.",
            )
            .peers(["white space", "white space", "–"]),
        Setting::new("lowercase", "false", Bool).help("Convert all words to lower case"),
        Setting::new("nfkc", "false", Bool).help("Convert the text to Unicode normalization form KC"),
        Setting::new("min_token_len", "1", Whole(1..=65_535))
            .help("Minimum number of characters of a word; shorter ones are left out and counted"),
        Setting::new("max_token_len", "none", Whole(1..=65_535))
            .help("Maximum number of characters of a word; longer ones are left out and counted"),
        Setting::new("max_sentence_words", "1000", Whole(2..=1_000_000))
            .help("Maximum number of words of a sentence; a longer line is split, and all of it is learned")
            .peers(["1,000, fixed", "1,024, fixed", "10,000, fixed"]),
        Setting::new("max_token_bytes", "128", Whole(1..=65_535))
            .help("Maximum number of bytes of a word; longer ones are left out and counted")
            .peers(["100, fixed", "–", "–"]),
        Setting::new("invalid_utf8", "replace", Choice(&["replace", "skip", "error"]))
            .help("What to do with a line that is not UTF-8")
            .notes(
                "`replace` puts U+FFFD in the place of bad bytes, `skip` leaves the line out, `error` \
                 stops.",
            ),
        Setting::new("threads", "all cores", Whole(1..=1_000))
            .help("Number of threads; the model is the same for any number")
            .notes(
                "Not a part of the model: it may differ from run to run. Only `mini-batch` uses more \
                 than one.",
            )
            .peers(["`-threads` 12", "`-thread` 12", "`workers` 3"]),
    ];

    const fn new(name: &'static str, default: &'static str, kind: SettingKind) -> Setting {
        let strategies = &[MiniBatch, Incremental, Batch, Word2vec];
        Setting { name, help: "", notes: "", kind, default, strategies, peers: ["–", "–", "–"] }
    }

    const fn help(self, help: &'static str) -> Setting {
        Setting { help, ..self }
    }

    const fn notes(self, notes: &'static str) -> Setting {
        Setting { notes, ..self }
    }

    const fn only(self, strategies: &'static [StrategyName]) -> Setting {
        Setting { strategies, ..self }
    }

    const fn peers(self, peers: [&'static str; 3]) -> Setting {
        Setting { peers, ..self }
    }

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
            Whole(range) | Age(range) => *range.start() as usize..=*range.end() as usize,
            kind => unreachable!("{name} is {kind:?}"),
        }
    }
}

pub(crate) fn check_whole(name: &'static str, value: impl TryInto<usize>) -> Result<()> {
    in_range(name, value.try_into().unwrap_or(usize::MAX), &Setting::limits(name))
}

pub(super) fn check_number(name: &'static str, value: f64) -> Result<()> {
    match &Setting::named(name).kind {
        Number(range) => in_range(name, value, range),
        kind => unreachable!("{name} is {kind:?}"),
    }
}

pub(crate) fn in_range<T: PartialOrd + Display>(
    name: &'static str,
    value: T,
    range: &RangeInclusive<T>,
) -> Result<()> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(Error::setting(name, value, format!("from {} to {}", range.start(), range.end())))
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

    /// The table of `docs/reference/settings.md`.
    fn table() -> String {
        let mut table = "| setting | default | values | word2vec.c | fastText | gensim | what it is |\n\
                         |---|---|---|---|---|---|---|\n"
            .to_owned();
        for setting in Setting::ALL {
            let Setting { name, help, notes, default, peers: [word2vec, fasttext, gensim], .. } = setting;
            let values = match &setting.kind {
                Whole(range) if *range.end() == u64::MAX => "any".to_owned(),
                Whole(range) | Age(range) => format!("{} to {}", range.start(), range.end()),
                Number(range) => format!("{} to {}", range.start(), range.end()),
                Choice(names) => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
                Bool => "`true`, `false`".to_owned(),
            };
            let only = match setting.strategies {
                [_, _, _, _] => String::new(),
                some => {
                    let names: Vec<String> = some.iter().map(|name| format!("`{name}`")).collect();
                    format!(" Only {}.", names.join(", "))
                }
            };
            let notes = if notes.is_empty() { String::new() } else { format!(" {notes}") };
            table += &format!(
                "| `{name}` | {default} | {values} | {word2vec} | {fasttext} | {gensim} | {help}.{only}{notes} |\n"
            );
        }
        table
    }

    #[test]
    fn the_documentation_has_this_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/settings.md");
        let page = std::fs::read_to_string(path).unwrap();
        let start = page.find("| setting |").unwrap();
        let end = start + page[start..].find("\n\n").unwrap() + 1;
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, format!("{}{}{}", &page[..start], table(), &page[end..])).unwrap();
        } else {
            assert!(
                page[start..end] == table(),
                "docs/reference/settings.md is out of date; run this test with UPDATE_DOCS=1 to write the table"
            );
        }
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
