//! The plan of the experiment.

use std::fmt;

use serde::Serialize;

use super::programs::Program;
use crate::peers::setting::Setting;
use crate::scores::N_FREQUENT;

/// The size of the experiment.
#[derive(Serialize)]
pub struct Plan {
    /// Words of the text, n₁ plus the largest n₂; `None` for all.
    pub n_words: Option<u64>,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub setting: Setting,
    pub threads: u32,
    pub percent: u32,
    pub round: u32,
    pub trial: u32,
    pub program: Program,
}

impl Plan {
    pub fn new(quick: bool) -> Self {
        let full = Self {
            n_words: Some(9_000_000),
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
            n_words: Some(1_500_000),
            percents: &[10, 30, 50],
            has_paper_setting: false,
            n_scored: 10_000,
            rounds: 1,
            trials: 1,
            ..full
        }
    }

    /// All runs. The first round comes first, so that an interrupted experiment has all points once.
    pub fn runs(&self) -> Vec<Run> {
        let mut runs = Vec::new();
        for &percent in self.percents {
            runs.extend(self.point(Setting::Small, percent, 1));
        }
        if self.has_paper_setting {
            runs.extend(self.point(Setting::Paper, self.main_percent, 1));
        }
        for round in 2..=self.rounds {
            runs.extend(self.point(Setting::Small, self.main_percent, round));
        }
        runs
    }

    /// The runs of one point, one after the other: ratios are taken among them.
    fn point(&self, setting: Setting, percent: u32, round: u32) -> impl Iterator<Item = Run> {
        let is_small = setting == Setting::Small;
        let is_main = is_small && percent == self.main_percent;
        let wanted = move |threads: u32, program: Program| match program {
            Program::Word2vecFive => is_main && threads == 2 && round == 1,
            // With the paper's settings, these would take as long as all others together.
            program if program.is_serial() => is_small && threads == 1,
            _ => threads == 2 || is_main,
        };
        let programs = [2, 1].into_iter().flat_map(|threads| Program::ALL.map(|program| (threads, program)));
        programs.filter(move |&(threads, program)| wanted(threads, program)).flat_map(
            move |(threads, program)| {
                let trials = if program.is_update() && !program.is_serial() { self.trials } else { 1 };
                (1..=trials).map(move |trial| Run { setting, threads, percent, round, trial, program })
            },
        )
    }

    /// Whether the model of a run is scored: once per program, because threads do not change our models.
    pub fn is_scored(&self, run: &Run) -> bool {
        let threads = if run.program.is_serial() { 1 } else { 2 };
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
        write!(
            f,
            "{}, {percent} %, {threads} threads, round {round}.{trial}: {}",
            setting.name(),
            program.name()
        )
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
            assert!(runs.iter().enumerate().all(|(place, run)| !runs[..place].contains(run)));
            for &percent in plan.percents {
                for program in [Program::UpdateNoReplays, Program::Word2vec, Program::Gensim] {
                    let of = |run: &&Run| {
                        (run.percent, run.threads, run.program) == (percent, 2, program)
                            && run.setting == Setting::Small
                    };
                    let trials = if program.is_update() { plan.trials } else { 1 };
                    let rounds = if percent == plan.main_percent { plan.rounds } else { 1 };
                    assert_eq!(runs.iter().filter(of).count() as u32, rounds * trials);
                }
            }
            let scored = runs.iter().filter(|run| plan.is_scored(run)).count();
            assert_eq!(scored, plan.scored_percents.len() * (Program::ALL.len() - 1) + 1);
        }
    }
}
