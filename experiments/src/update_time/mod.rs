//! Section 5.3 of the paper: how long an update with new text takes.
//!
//! skipstream updates a model of n₁ words with n₂ more; the others learn all n₁ + n₂ words again. Whole programs are timed:
//! an update loads the model from disk, learns, and saves it, synced. A service keeps the model in memory, so learning
//! alone is timed as well.

mod plan;
mod programs;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use serde::{Deserialize, Serialize};
use skipstream::corpus::Lines;
use skipstream::{Trainer, Vectors, formats};

use self::plan::{Plan, Run};
use self::programs::{Program, copy};
use crate::data::{Corpus, Data};
use crate::options::Options;
use crate::peers::contender::{Contender, Job, option};
use crate::peers::installed::Installed;
use crate::peers::setting::Setting;
use crate::peers::timed;
use crate::portions::LinedText;
use crate::record::{Record, Rows, work_folder};
use crate::scores::{Measure, Set, SetScore, score_among};
use xtask::command::build_skipstream;

/// The name of the experiment and of its folder.
pub const NAME: &str = "update-time";

const TIMES: &str = "times.csv";
const SCORES: &str = "scores.csv";

const SEED: u32 = 1;
const MAX_VOCABULARY: u32 = 100_000;

/// One timed run.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
struct TimeRow {
    setting: Setting,
    threads: u32,
    /// n₂ in per cent of n₁.
    percent: u32,
    round: u32,
    /// Updates are short, so a round has several of them.
    trial: u32,
    program: Program,
    n1_words: u64,
    n2_words: u64,
    /// Time of the whole program.
    seconds: f64,
    /// Time of learning alone, for updates.
    live_seconds: Option<f64>,
}

/// A score of the model of a run.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
struct ScoreRow {
    setting: Setting,
    percent: u32,
    program: Program,
    /// `target`, or the `sum` of target and context.
    vectors: Vectors,
    set: Set,
    measure: Measure,
    score: Option<f64>,
    used: usize,
    total: usize,
}

/// Times all runs of the plan that have no rows yet.
pub fn measure(options: &Options) -> Result<()> {
    let plan = Plan::new(options.quick);
    let data = Data::new(options)?;
    let eval = data.test_sets()?;
    let text = data.plain_text(Corpus::Wiki2006, plan.n_words)?;
    let record = Record::open(options, NAME, &plan, vec![text.source])?;
    let installed = Installed::prepare(build_skipstream()?, &work_folder()?);
    let folder = work_folder()?.join(NAME);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let bench =
        Bench { text: LinedText::read(&text.path)?, installed, eval, n_scored: plan.n_scored, folder };
    let mut times: Rows<TimeRow> = record.rows(TIMES)?;
    let mut scores: Rows<ScoreRow> = record.rows(SCORES)?;
    for run in plan.runs() {
        let is_timed = times.rows().iter().any(|row| row.run() == run);
        let wants_scores = plan.is_scored(&run)
            && !scores.rows().iter().any(|row| {
                (row.setting, row.percent, row.program) == (run.setting, run.percent, run.program)
            });
        if is_timed && !wants_scores {
            continue;
        }
        match bench.run(&run) {
            Ok(Some(row)) => {
                let live =
                    row.live_seconds.map(|seconds| format!(", live {seconds:.2} s")).unwrap_or_default();
                eprintln!("{run}: {:.2} s{live}", row.seconds);
                if !is_timed {
                    times.push(row)?;
                }
                if wants_scores {
                    match bench.scores(&run) {
                        Ok(found) => scores.extend(found)?,
                        Err(error) => eprintln!("{run} was not scored: {error:#}"),
                    }
                }
            }
            Ok(None) => {}
            Err(error) => eprintln!("{run} failed: {error:#}"),
        }
    }
    Ok(fs::remove_dir_all(&bench.folder)?)
}

impl TimeRow {
    fn run(&self) -> Run {
        let TimeRow { setting, threads, percent, round, trial, program, .. } = *self;
        Run { setting, threads, percent, round, trial, program }
    }
}

/// Everything that a run needs.
struct Bench {
    text: LinedText,
    installed: Installed,
    eval: PathBuf,
    n_scored: usize,
    folder: PathBuf,
}

impl Bench {
    /// Times one run, if its program is available. The model stays where [`Bench::scores`] finds it.
    fn run(&self, run: &Run) -> Result<Option<TimeRow>> {
        let Some(contender) = run.program.contender(&self.installed) else { return Ok(None) };
        let (n_first, n_all) = plan::lines(self.text.all().end, run.percent);
        let (first, new, all) = (0..n_first, n_first..n_all, 0..n_all);
        let model = self.folder.join("run.model");
        let log = self.folder.join("log");
        let mut live_seconds = None;
        let seconds = if run.program.is_update() {
            let base = self.base(run, &contender)?;
            let text = self.write(&format!("new-{}.txt", run.percent), self.text.lines(&new))?;
            copy(&base, &model)?;
            let seconds = timed::run(&self.update(&model, &text, run.threads), &log)?.seconds;
            live_seconds = Some(self.live(&base, &text, run.threads)?);
            seconds
        } else {
            let text = self.write(&format!("all-{}.txt", run.percent), self.text.lines(&all))?;
            // An existing model would be continued.
            if model.exists() {
                fs::remove_file(&model)?;
            }
            timed::run(&contender.train(&job(run, &text, &model)), &log)?.seconds
        };
        Ok(Some(TimeRow {
            setting: run.setting,
            threads: run.threads,
            percent: run.percent,
            round: run.round,
            trial: run.trial,
            program: run.program,
            n1_words: self.text.n_words(&first),
            n2_words: self.text.n_words(&new),
            seconds,
            live_seconds,
        }))
    }

    fn update(&self, model: &Path, text: &Path, threads: u32) -> Command {
        let mut command = Command::new(&self.installed.skipstream);
        command.arg("train").arg("--model").arg(model);
        option(&mut command, "--threads", threads);
        command.arg("--quiet").arg(text);
        command
    }

    /// The time of learning alone, with model and text in memory. This starts our own program in a session like that of
    /// the other programs.
    fn live(&self, model: &Path, text: &Path, threads: u32) -> Result<f64> {
        let mut command = Command::new(env::current_exe()?);
        command.arg("live").arg(model).arg(text).arg(threads.to_string());
        let log = self.folder.join("live-log");
        timed::run(&command, &log)?;
        let printed = fs::read_to_string(&log)?;
        printed.trim().parse().with_context(|| format!("expected a time, not `{}`", printed.trim()))
    }

    /// The model of the first n₁ words, trained when it is first needed.
    fn base(&self, run: &Run, contender: &Contender) -> Result<PathBuf> {
        let name = format!("{} {}", run.setting.name(), contender.name());
        let path = self.folder.join(name.replace(' ', "-") + ".base");
        if !path.exists() {
            let (n_first, _) = plan::lines(self.text.all().end, run.percent);
            let text = self.write("first.txt", self.text.lines(&(0..n_first)))?;
            let partial = path.with_extension("partial");
            // Threads do not change the model.
            let job = job(&Run { threads: 2, ..*run }, &text, &partial);
            timed::run(&contender.train(&job), &self.folder.join("log"))?;
            fs::rename(&partial, &path)?;
        }
        Ok(path)
    }

    fn write(&self, name: &str, text: &[u8]) -> Result<PathBuf> {
        let path = self.folder.join(name);
        if !path.exists() {
            fs::write(&path, text).with_context(|| format!("could not write {}", path.display()))?;
        }
        Ok(path)
    }

    /// The scores of the model of the last run: target plus context for ours, as in the paper, and whatever the others
    /// save.
    fn scores(&self, run: &Run) -> Result<Vec<ScoreRow>> {
        let path = self.folder.join("run.model");
        let (vectors, embeddings) = match run.program.variant() {
            Some(_) => (Vectors::Sum, formats::load(path, Vectors::Sum)?),
            // These files have only one kind of vectors.
            None => (Vectors::Target, formats::load(path, Vectors::default())?),
        };
        let row = |found: SetScore| ScoreRow {
            setting: run.setting,
            percent: run.percent,
            program: run.program,
            vectors,
            set: found.set,
            measure: found.measure,
            score: found.score,
            used: found.used,
            total: found.total,
        };
        let scores = score_among(self.n_scored, &embeddings, &self.eval, &Set::ALL)?;
        Ok(scores.into_iter().map(row).collect())
    }
}

fn job<'a>(run: &Run, text: &'a Path, output: &'a Path) -> Job<'a> {
    Job {
        text,
        output,
        setting: run.setting,
        threads: run.threads,
        seed: SEED,
        max_vocabulary: MAX_VOCABULARY,
        keeps_contexts: false,
    }
}

/// Updates a model in memory with a text in memory, and prints the seconds.
pub fn print_live_seconds(update: &LiveUpdate) -> Result<()> {
    let mut trainer = Trainer::load(&update.model, Some(update.threads))?;
    let text = fs::read(&update.text).with_context(|| format!("could not read {}", update.text.display()))?;
    let options = trainer.settings().text().clone();
    let start = Instant::now();
    trainer.train_source(&mut Lines::new(&text[..], "new text", &options)?)?;
    println!("{}", start.elapsed().as_secs_f64());
    Ok(())
}

/// Arguments of a live update.
#[derive(Args)]
pub struct LiveUpdate {
    model: PathBuf,
    text: PathBuf,
    threads: usize,
}
