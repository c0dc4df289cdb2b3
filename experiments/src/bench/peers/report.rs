//! A summary of the runs: a Markdown table, and a CSV file with every run.

use std::fmt;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use statrs::statistics::{Data, OrderStatistics};

use crate::bench::mean_and_deviation;
use crate::peers::setting::Setting;
use crate::peers::timed::Measured;
use crate::scores::Set;

/// The test sets, with 3CosAdd for analogies.
pub const SETS: [Set; 5] = Set::ALL;

/// Over the most frequent words, in per cent, in the order of [`SETS`]; `None` if too few words are known.
pub type Scores = [Option<f64>; SETS.len()];

/// Only runs of the same group are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Group {
    pub setting: Setting,
    pub threads: u32,
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, threads: {}", self.setting.name(), self.threads)
    }
}

pub struct Run {
    pub group: Group,
    pub round: u32,
    pub seed: u32,
    pub program: String,
    pub is_ours: bool,
    pub measured: Measured,
    pub scores: Option<Scores>,
}

/// All runs so far.
pub struct Report {
    n_words: u64,
    runs: Vec<Run>,
    csv_path: PathBuf,
    csv: File,
}

impl Report {
    /// Starts a report on a text of `n_words` words.
    pub fn create(csv_path: &Path, n_words: u64) -> Result<Self> {
        let mut csv =
            File::create(csv_path).with_context(|| format!("could not write {}", csv_path.display()))?;
        writeln!(
            csv,
            "setting,threads,round,seed,program,seconds,words_per_second,peak_kilobytes,\
             ws353,men,simlex,msr,google"
        )?;
        Ok(Self { n_words, runs: Vec::new(), csv_path: csv_path.into(), csv })
    }

    /// The file with every run.
    pub fn csv_path(&self) -> &Path {
        &self.csv_path
    }

    /// Adds a run and writes it at once, so that an interrupted comparison keeps its runs.
    pub fn add(&mut self, run: Run) -> Result<()> {
        let seconds = run.measured.seconds;
        write!(
            self.csv,
            "{},{},{},{},{},{seconds:.3},{:.0},{}",
            run.group.setting.name(),
            run.group.threads,
            run.round,
            run.seed,
            run.program,
            self.n_words as f64 / seconds,
            optional(run.measured.peak_kilobytes.map(|peak| peak.to_string()), ""),
        )?;
        for score in run.scores.unwrap_or_default() {
            write!(self.csv, ",{}", optional(score.map(|score| format!("{score:.2}")), ""))?;
        }
        writeln!(self.csv)?;
        self.runs.push(run);
        Ok(())
    }

    /// The table of one group: time and memory are medians over the rounds, scores means over the seeds.
    pub fn table(&self, group: Group) -> String {
        let runs: Vec<&Run> = self.runs.iter().filter(|run| run.group == group).collect();
        let mut programs: Vec<(&str, bool)> = Vec::new();
        for run in &runs {
            if !programs.contains(&(&run.program, run.is_ours)) {
                programs.push((&run.program, run.is_ours));
            }
        }
        let ours: Vec<&str> =
            programs.iter().filter(|(_, is_ours)| *is_ours).map(|(name, _)| *name).collect();

        let mut head: Vec<String> = ["program", "seconds", "words/s"].map(Into::into).into();
        head.extend(ours.iter().map(|name| format!("time ÷ `{name}`")));
        head.extend(["peak MB", "WS353", "MEN", "SimLex", "MSR", "Google"].map(Into::into));
        let rule = "--:|".repeat(head.len() - 1);
        let mut table = format!("### {group}\n\n{}|---|{rule}\n", row(&head));
        for (name, _) in programs {
            let of_program: Vec<&Run> = runs.iter().copied().filter(|run| run.program == name).collect();
            let median = |value: &dyn Fn(&Run) -> Option<f64>| {
                let values: Vec<f64> = of_program.iter().filter_map(|run| value(run)).collect();
                (!values.is_empty()).then(|| Data::new(values).median())
            };
            let seconds = median(&|run| Some(run.measured.seconds));
            let speed = seconds.map(|seconds| self.n_words as f64 / seconds);
            let peak = median(&|run| run.measured.peak_kilobytes.map(|peak| peak as f64 / 1024.0));
            let mut cells = vec![name.to_owned(), number(seconds, 1), number(speed, 0)];
            cells.extend(ours.iter().map(|our_name| number(median(&|run| ratio(run, &runs, our_name)), 2)));
            cells.push(number(peak, 0));
            cells.extend((0..SETS.len()).map(|column| {
                let scores = of_program.iter().filter_map(|run| run.scores.unwrap_or_default()[column]);
                mean_and_deviation(&scores.collect::<Vec<_>>(), 1)
            }));
            table += &row(&cells);
        }
        table
    }
}

/// A row of a Markdown table.
fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// The time of a run divided by ours in the same round.
fn ratio(run: &Run, runs: &[&Run], our_name: &str) -> Option<f64> {
    let ours = runs.iter().find(|other| other.round == run.round && other.program == our_name)?;
    Some(run.measured.seconds / ours.measured.seconds)
}

fn number(value: Option<f64>, decimals: usize) -> String {
    optional(value.map(|value| format!("{value:.decimals$}")), "–")
}

fn optional(value: Option<String>, missing: &str) -> String {
    value.unwrap_or_else(|| missing.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUP: Group = Group { setting: Setting::Small, threads: 1 };

    fn run(program: &str, round: u32, seconds: f64) -> Run {
        Run {
            group: GROUP,
            round,
            seed: round,
            program: program.into(),
            is_ours: program == "skipstream",
            measured: Measured { seconds, cpu_seconds: None, peak_kilobytes: Some(2048) },
            scores: None,
        }
    }

    #[test]
    fn ratios_are_medians_over_rounds() {
        let folder = tempfile::tempdir().unwrap();
        let csv = folder.path().join("runs.csv");
        let mut report = Report::create(&csv, 1000).unwrap();
        // The machine was twice as slow in round 2: the ratio does not see it.
        let seconds = [(1, 1.0, 4.0), (2, 2.0, 8.0), (3, 1.0, 5.0)];
        for (round, ours, peer) in seconds {
            report.add(run("skipstream", round, ours)).unwrap();
            report.add(run("peer", round, peer)).unwrap();
        }
        let table = report.table(GROUP);
        let rows: Vec<_> = table.lines().skip(4).collect();
        assert_eq!(rows[0], "| skipstream | 1.0 | 1000 | 1.00 | 2 | – | – | – | – | – |");
        assert_eq!(rows[1], "| peer | 5.0 | 200 | 4.00 | 2 | – | – | – | – | – |");

        let written = std::fs::read_to_string(csv).unwrap();
        assert_eq!(written.lines().count(), 7);
        assert_eq!(written.lines().nth(1).unwrap(), "small,1,1,1,skipstream,1.000,1000,2048,,,,,");
    }
}
