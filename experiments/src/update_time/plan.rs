//! The plan of the experiment.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::programs::{PROGRAMS, Program};
use crate::peers::setting::Setting;
use crate::scores::N_FREQUENT;

/// The size of the experiment.
#[derive(Serialize)]
pub struct Plan {
    /// Words of the text, n₁ plus the largest n₂.
    pub n_words: u64,
    /// n₂ in per cent of n₁.
    percents: &'static [u32],
    /// The point that the paper reports. Only it is timed in all rounds, on one thread too, with word2vec.c's default of
    /// five passes, and with the paper's settings.
    main_percent: u32,
    has_paper_setting: bool,
    /// Where models are scored.
    scored_percents: &'static [u32],
    /// Number of scored words, the most frequent ones, which all programs know.
    pub n_scored: usize,
    rounds: u32,
    /// Updates per round, for the strategies that take only seconds.
    trials: u32,
    seed: u32,
    max_vocabulary: u32,
}

/// The largest n₂, in per cent of n₁.
const LARGEST_PERCENT: u32 = 50;

/// What is timed once.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub setting: Setting,
    pub threads: u32,
    /// n₂ in per cent of n₁.
    pub percent: u32,
    pub round: u32,
    /// Updates are short, so a round has several of them.
    pub trial: u32,
    pub program: String,
}

impl Plan {
    pub fn new(quick: bool) -> Self {
        let full = Self {
            n_words: 9_000_000,
            percents: &[10, 20, 30, 40, 50],
            main_percent: 10,
            has_paper_setting: true,
            scored_percents: &[10, 50],
            n_scored: N_FREQUENT,
            rounds: 2,
            trials: 3,
            seed: super::SEED,
            max_vocabulary: super::MAX_VOCABULARY,
        };
        if !quick {
            return full;
        }
        Self {
            n_words: 1_500_000,
            percents: &[10, 30, 50],
            has_paper_setting: false,
            n_scored: 10_000,
            rounds: 1,
            trials: 1,
            ..full
        }
    }

    /// All runs. The first round comes first, so that an interrupted experiment has all points once.
    pub fn runs(&self) -> Vec<(Run, &'static Program)> {
        let mut points: Vec<_> = self.percents.iter().map(|&percent| (Setting::Small, percent, 1)).collect();
        if self.has_paper_setting {
            points.push((Setting::Paper, self.main_percent, 1));
        }
        points.extend((2..=self.rounds).map(|round| (Setting::Small, self.main_percent, round)));
        let mut runs = Vec::new();
        for (setting, percent, round) in points {
            for threads in [2, 1] {
                for program in &PROGRAMS {
                    let n_trials = self.n_trials(setting, percent, round, threads, program);
                    let name = program.name.to_owned();
                    let run = Run { setting, threads, percent, round, trial: 1, program: name };
                    runs.extend((1..=n_trials).map(|trial| (Run { trial, ..run.clone() }, program)));
                }
            }
        }
        runs
    }

    /// How often a program is timed at one point. All runs of a point follow one another: ratios are taken among them.
    fn n_trials(&self, setting: Setting, percent: u32, round: u32, threads: u32, program: &Program) -> u32 {
        let is_small = setting == Setting::Small;
        let is_main = is_small && percent == self.main_percent;
        let is_wanted = if program.passes > 1 {
            is_main && threads == 2 && round == 1
        } else if program.is_serial {
            // With the paper's settings, these would take as long as all others together.
            is_small && threads == 1
        } else {
            threads == 2 || is_main
        };
        match is_wanted {
            true if program.is_update && !program.is_serial => self.trials,
            wanted => u32::from(wanted),
        }
    }

    /// Whether the model of a run is scored: once per program, because threads do not change our models.
    pub fn is_scored(&self, run: &Run, program: &Program) -> bool {
        let threads = if program.is_serial { 1 } else { 2 };
        (run.round, run.trial, run.threads) == (1, 1, threads)
            && run.setting == Setting::Small
            && self.scored_percents.contains(&run.percent)
    }
}

/// The lines of n₁ and of n₁ + n₂, in a text that has exactly the largest n₂.
pub fn lines(n_lines: usize, percent: u32) -> (usize, usize) {
    let first = n_lines * 100 / (100 + LARGEST_PERCENT as usize);
    (first, first + first * percent as usize / 100)
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Run { setting, threads, percent, round, trial, program } = self;
        let setting = setting.name();
        write!(f, "{setting}, {percent} %, {threads} threads, round {round}.{trial}: {program}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_update_is_the_rest_of_the_text() {
        assert_eq!(lines(150, 50), (100, 150));
        assert_eq!(lines(150, 10), (100, 110));
        let (_, all) = lines(12_578, 50);
        assert!(all <= 12_578);
    }

    #[test]
    fn no_run_is_planned_twice_and_every_point_has_an_update_and_its_rivals() {
        for quick in [true, false] {
            let plan = Plan::new(quick);
            let runs = plan.runs();
            let is_new =
                |(place, (run, _)): (usize, &(Run, _))| runs[..place].iter().all(|(other, _)| other != run);
            assert!(runs.iter().enumerate().all(is_new));
            for &percent in plan.percents {
                for name in ["update, mini-batch without replay", "again, word2vec.c", "again, gensim"] {
                    let of = |(run, _): &&(Run, _)| {
                        (run.percent, run.threads, &*run.program) == (percent, 2, name)
                            && run.setting == Setting::Small
                    };
                    let trials = if name.starts_with("update") { plan.trials } else { 1 };
                    let rounds = if percent == plan.main_percent { plan.rounds } else { 1 };
                    assert_eq!(runs.iter().filter(of).count() as u32, rounds * trials);
                }
            }
            let scored = runs.iter().filter(|(run, program)| plan.is_scored(run, program)).count();
            assert_eq!(scored, plan.scored_percents.len() * (PROGRAMS.len() - 1) + 1);
        }
    }
}
