//! What is tried: settings of ours, and five passes of other programs at several rates.

use serde::Serialize;

use crate::data::Corpus;
use crate::peers::contender::{FAST_RATE, FASTTEXT_RATE, Program, RATE};
use crate::scores::N_FREQUENT;

/// Passes of the other programs: word2vec's default.
pub const PASSES: u32 = 5;

/// The rates at which the other programs are tried.
const RATES: [&str; 3] = [FASTTEXT_RATE, FAST_RATE, RATE];

/// The rate at which each of them is best.
const BEST_RATE: &str = FASTTEXT_RATE;

/// The defaults of the comparisons, so that a change of ours does not change what was measured.
const FIXED: &str = "dimensions=100 negatives=5 max_vocabulary=100000";

/// What was the default before this study, the default that came of it, and `quality` best.
const CHOICES: [&str; 3] = [
    "replays=1 learning_rate=0.2",
    "replays=2 learning_rate=0.15",
    "replays=4 learning_rate=0.15 replay_words=10000000 replay_start=late",
];

/// Around them: each differs from one of them in one thing.
const OTHERS: [&str; 8] = [
    "replays=0 learning_rate=0.2",
    "replays=0 learning_rate=0.26",
    "replays=2 learning_rate=0.1",
    "replays=4 learning_rate=0.15 replay_words=10000000",
    "replays=4 learning_rate=0.1 replay_words=10000000 replay_start=late",
    "replays=4 learning_rate=0.2 replay_words=10000000 replay_start=late",
    "replays=4 learning_rate=0.15 replay_words=10000000 replay_start=late subsample=3e-4",
    "replays=4 learning_rate=0.15 replay_words=10000000 replay_start=late window=3",
];

/// A text to learn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excerpt {
    pub corpus: Corpus,
    pub n_words: u64,
}

/// A program with its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learner {
    /// skipstream with these settings besides the defaults of the study: `name=value`, separated by spaces.
    Ours(&'static str),
    /// Another program at a learning rate.
    Peer(Program, &'static str),
}

/// Seeds 1 to `n_seeds` of a learner on a text.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    pub text: Excerpt,
    pub learner: Learner,
    pub n_seeds: u32,
}

/// The experiment. It is written into the manifest.
#[derive(Serialize)]
pub struct Plan {
    /// Settings of ours that are not varied.
    pub fixed: &'static str,
    passes: u32,
    pub n_seeds: u32,
    scored_words: usize,
    #[serde(skip)]
    is_quick: bool,
}

impl Plan {
    pub fn new(quick: bool) -> Self {
        let n_seeds = if quick { 1 } else { 3 };
        Self { fixed: FIXED, passes: PASSES, n_seeds, scored_words: N_FREQUENT, is_quick: quick }
    }

    /// Everything that is tried, in the order of tables.
    pub fn trials(&self) -> Vec<Trial> {
        let excerpt = |corpus, n_words: u64| {
            let n_words = if self.is_quick { n_words / 100 } else { n_words };
            Excerpt { corpus, n_words }
        };
        let shared = excerpt(Corpus::Wiki2006, 4_192_000);
        let whole = excerpt(Corpus::Wiki2006, 12_577_299);
        let trial = |text, learner, n_seeds| Trial { text, learner, n_seeds };
        let mut trials = Vec::new();
        for program in [Program::Word2vec, Program::Gensim, Program::Fasttext] {
            // Each rate on a part of the text, then the best on all of it: five passes take a quarter of an hour.
            trials.extend(RATES.map(|rate| trial(shared, Learner::Peer(program, rate), 1)));
            trials.push(trial(whole, Learner::Peer(program, BEST_RATE), self.n_seeds));
        }
        let choices = |text| CHOICES.map(|settings| trial(text, Learner::Ours(settings), self.n_seeds));
        trials.extend(choices(shared));
        trials.extend(choices(whole));
        trials.extend(OTHERS.map(|settings| trial(whole, Learner::Ours(settings), 1)));
        trials.extend(choices(excerpt(Corpus::WikiRecent, 10_000_000)));
        trials
    }
}

impl Learner {
    /// The flags of skipstream.
    pub fn flags(self) -> Vec<String> {
        let Self::Ours(settings) = self else { return Vec::new() };
        let flag = |setting: &str| {
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            [format!("--{}", name.replace('_', "-")), value.to_owned()]
        };
        settings.split_whitespace().flat_map(flag).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_tried_twice() {
        for quick in [false, true] {
            let trials = Plan::new(quick).trials();
            for (place, trial) in trials.iter().enumerate() {
                let before = &trials[..place];
                assert!(
                    !before.iter().any(|other| (other.text, other.learner) == (trial.text, trial.learner))
                );
            }
        }
    }

    #[test]
    fn settings_become_flags() {
        let flags = Learner::Ours("replays=4 learning_rate=0.1").flags();
        assert_eq!(flags, ["--replays", "4", "--learning-rate", "0.1"]);
        assert!(Learner::Ours("").flags().is_empty());
    }
}
