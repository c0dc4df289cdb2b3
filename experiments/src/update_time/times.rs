//! The times of a run, asked by program: medians, and ratios within a round.

use std::path::Path;

use anyhow::{Result, ensure};

use super::programs::Program;
use super::{TIMES, TimeRow};
use crate::peers::setting::Setting;
use crate::record::read_rows;
use crate::statistics::median;

/// All times of a run.
pub struct Times {
    pub rows: Vec<TimeRow>,
}

/// What is timed of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The program, from its start to its end.
    Program,
    /// Learning alone, in a process that has the model in memory.
    Live,
}

/// A program with its threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timed {
    pub program: Program,
    pub threads: u32,
    pub clock: Clock,
}

/// n₂ in per cent of n₁, with a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    pub setting: Setting,
    pub percent: u32,
}

impl Times {
    pub fn read(folder: &Path) -> Result<Self> {
        let rows: Vec<TimeRow> = read_rows(&folder.join(TIMES))?;
        ensure!(!rows.is_empty(), "{} has no rows", folder.join(TIMES).display());
        Ok(Self { rows })
    }

    /// The median over rounds.
    pub fn seconds(&self, point: Point, timed: Timed) -> Option<f64> {
        let rounds: Vec<f64> = self.rounds().filter_map(|round| self.in_round(point, timed, round)).collect();
        median(&rounds)
    }

    /// How many times longer `again` takes than `update`: the median over the rounds in which both ran.
    pub fn ratio(&self, point: Point, again: Timed, update: Timed) -> Option<f64> {
        let ratio = |round| Some(self.in_round(point, again, round)? / self.in_round(point, update, round)?);
        median(&self.rounds().filter_map(ratio).collect::<Vec<_>>())
    }

    /// How many runs there are of a program at a point, in each round that has any.
    pub fn runs(&self, point: Point, timed: Timed) -> Vec<usize> {
        let n_runs = |round| {
            let of = |row: &&TimeRow| {
                (row.setting, row.percent, row.round) == (point.setting, point.percent, round)
                    && timed.seconds(row).is_some()
            };
            self.rows.iter().filter(of).count()
        };
        self.rounds().map(n_runs).filter(|&n| n > 0).collect()
    }

    /// What was timed at a point, in the order of tables.
    pub fn timed(&self, setting: Setting) -> Vec<Timed> {
        let mut all = Vec::new();
        for threads in [2, 1] {
            for program in Program::ALL {
                for clock in [Clock::Program, Clock::Live] {
                    let timed = Timed { program, threads, clock };
                    let of = |row: &TimeRow| row.setting == setting && timed.seconds(row).is_some();
                    if self.rows.iter().any(of) {
                        all.push(timed);
                    }
                }
            }
        }
        all
    }

    /// The shares that were measured with a setting.
    pub fn percents(&self, setting: Setting) -> Vec<u32> {
        let of_setting = self.rows.iter().filter(|row| row.setting == setting);
        let mut percents: Vec<u32> = of_setting.map(|row| row.percent).collect();
        percents.sort_unstable();
        percents.dedup();
        percents
    }

    /// n₁ and n₂ in words.
    pub fn words(&self, percent: u32) -> Option<(u64, u64)> {
        self.rows.iter().find(|row| row.percent == percent).map(|row| (row.n1_words, row.n2_words))
    }

    fn rounds(&self) -> impl Iterator<Item = u32> + use<> {
        1..=self.rows.iter().map(|row| row.round).max().unwrap_or(0)
    }

    /// The median of the trials of a round.
    fn in_round(&self, point: Point, timed: Timed, round: u32) -> Option<f64> {
        let of =
            |row: &&TimeRow| (row.setting, row.percent, row.round) == (point.setting, point.percent, round);
        median(&self.rows.iter().filter(of).filter_map(|row| timed.seconds(row)).collect::<Vec<_>>())
    }
}

impl Timed {
    /// As a program, with so many threads.
    pub fn program(program: Program, threads: u32) -> Self {
        Self { program, threads, clock: Clock::Program }
    }

    /// The time in a row, if it is a row of this.
    fn seconds(self, row: &TimeRow) -> Option<f64> {
        if (row.program, row.threads) != (self.program, self.threads) {
            return None;
        }
        match self.clock {
            Clock::Program => Some(row.seconds),
            Clock::Live => row.live_seconds,
        }
    }

    /// The name in tables and figures.
    pub fn name(self) -> String {
        let threads = if self.threads == 1 { "1 thread" } else { "2 threads" };
        match self.clock {
            Clock::Program => format!("{}, {threads}", self.program.name()),
            Clock::Live => format!("{}, live, {threads}", self.program.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(round: u32, trial: u32, program: Program, seconds: f64, live_seconds: Option<f64>) -> TimeRow {
        let (setting, n1_words, n2_words) = (Setting::Small, 100, 10);
        TimeRow {
            setting,
            threads: 2,
            percent: 10,
            round,
            trial,
            program,
            n1_words,
            n2_words,
            seconds,
            live_seconds,
        }
    }

    #[test]
    fn ratios_are_taken_within_a_round_and_medians_over_rounds() {
        let (update, again) = (Program::UpdateMiniBatch, Program::Word2vec);
        let times = Times {
            rows: vec![
                row(1, 1, update, 1.0, Some(0.5)),
                row(1, 2, update, 2.0, Some(0.5)),
                row(1, 3, update, 9.0, Some(0.5)),
                row(1, 1, again, 20.0, None),
                // Everything was slower in the second round.
                row(2, 1, update, 4.0, Some(1.0)),
                row(2, 1, again, 80.0, None),
                // Nothing to compare with in the third.
                row(3, 1, again, 1000.0, None),
            ],
        };
        let point = Point { setting: Setting::Small, percent: 10 };
        let (program, other) = (Timed::program(update, 2), Timed::program(again, 2));
        assert_eq!(times.seconds(point, program), Some(3.0));
        assert_eq!(times.ratio(point, other, program), Some(15.0));
        let live = Timed { clock: Clock::Live, ..program };
        assert_eq!(times.ratio(point, other, live), Some(60.0));
        assert_eq!(times.ratio(point, other, Timed { threads: 1, ..program }), None);
        assert_eq!(times.ratio(Point { percent: 20, ..point }, other, program), None);
        assert_eq!(times.timed(Setting::Small), [program, live, other]);
        assert_eq!((times.runs(point, program), times.runs(point, other)), (vec![3, 1], vec![1, 1, 1]));
        assert_eq!((times.percents(Setting::Small), times.words(10)), (vec![10], Some((100, 10))));
    }
}
