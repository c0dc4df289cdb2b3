//! Section 5.3 of the paper: how long an update with new text takes.
//!
//! skipstream updates a model of n₁ words with n₂ more; the others learn all n₁ + n₂ words again. Whole programs are timed:
//! an update loads the model from disk, learns, and saves it, synced. A service keeps the model in memory, so learning
//! alone is timed as well.

mod plan;
mod programs;

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use serde::{Deserialize, Serialize};
use skipstream::corpus::Lines;
use skipstream::{Trainer, Vectors, formats};

use self::plan::{Plan, Run};
use self::programs::{PROGRAMS, Program};
use crate::data::{Corpus, Data};
use crate::options::Options;
use crate::peers::contender::{Contender, Job, RATE, option};
use crate::peers::installed::Installed;
use crate::peers::setting::Setting;
use crate::peers::timed;
use crate::portions::LinedText;
use crate::record::{self, Rows, work_folder};
use crate::scores::{Set, SetScore, score};

const SEED: u32 = 1;
const MAX_VOCABULARY: u32 = 100_000;

/// The times of a run.
#[derive(Serialize)]
struct Times {
    n1_words: u64,
    n2_words: u64,
    /// Time of the whole program.
    seconds: f64,
    /// Time of learning alone, for updates.
    live_seconds: Option<f64>,
}

/// A model that is scored.
#[derive(Serialize, Deserialize, Clone, PartialEq)]
struct Model {
    setting: Setting,
    percent: u32,
    program: String,
}

/// `target`, or the `sum` of target and context.
#[derive(Serialize)]
struct Kind {
    vectors: Vectors,
}

/// Times all runs of the plan that have no rows yet.
pub fn measure(options: &Options) -> Result<()> {
    let plan = Plan::new(options.quick);
    let data = Data::new(options)?;
    let eval = data.test_sets()?;
    let text = data.plain_text(Corpus::Wiki2006, plan.n_words)?;
    let record = record::open(options, "update-time", &plan, vec![text.source])?;
    let programs = PROGRAMS.map(|program| program.program);
    let installed = Installed::prepare(options.program.clone(), &programs, &work_folder()?)?;
    let folder = work_folder()?.join("update-time");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let bench = Bench { text: LinedText::read(&text.path)?, eval, n_scored: plan.n_scored, folder };
    let mut times: Rows<Run> = Rows::open(record.join("times.csv"))?;
    let mut scores: Rows<Model> = Rows::open(record.join("scores.csv"))?;
    for (run, program) in plan.runs() {
        let is_timed = times.contains(&run);
        let model = Model { setting: run.setting, percent: run.percent, program: run.program.clone() };
        let wants_scores = plan.is_scored(&run, program) && !scores.contains(&model);
        if is_timed && !wants_scores {
            continue;
        }
        let Some(path) = installed.path(program.program) else { continue };
        let contender = Contender { program: program.program, path, rate: RATE, passes: program.passes };
        match bench.run(&run, program, &contender) {
            Ok(found) => {
                let live = found.live_seconds.map(|seconds| format!(", live {seconds:.2} s"));
                eprintln!("{run}: {:.2} s{}", found.seconds, live.unwrap_or_default());
                if !is_timed {
                    times.push(run.clone(), [(run.clone(), found)])?;
                }
                if wants_scores {
                    match bench.scores(program) {
                        Ok((kind, found)) => {
                            let row = |score| (model.clone(), &kind, score);
                            scores.push(model.clone(), found.into_iter().map(row))?;
                        }
                        Err(error) => eprintln!("{run} was not scored: {error:#}"),
                    }
                }
            }
            Err(error) => eprintln!("{run} failed: {error:#}"),
        }
    }
    Ok(fs::remove_dir_all(&bench.folder)?)
}

/// Where programs run.
struct Bench {
    text: LinedText,
    eval: PathBuf,
    n_scored: usize,
    folder: PathBuf,
}

impl Bench {
    /// Times one run. The model stays where [`Bench::scores`] finds it.
    fn run(&self, run: &Run, program: &Program, contender: &Contender) -> Result<Times> {
        let (n_first, n_all) = plan::lines(self.text.all().end, run.percent);
        let (first, new, all) = (0..n_first, n_first..n_all, 0..n_all);
        let model = self.folder.join("run.model");
        let log = self.folder.join("log");
        let mut live_seconds = None;
        let seconds = if program.is_update {
            let base = self.base(run, contender, n_first)?;
            let text = self.write(&format!("new-{}.txt", run.percent), self.text.lines(&new))?;
            fs::copy(&base, &model)?;
            // Otherwise later writes would wait for this one.
            File::open(&model)?.sync_all()?;
            let mut update = Command::new(contender.path);
            update.arg("train").arg("--model").arg(&model);
            option(&mut update, "--threads", run.threads);
            let seconds = timed::run(update.arg("--quiet").arg(&text), &log)?.seconds;
            live_seconds = Some(self.live(&base, &text, run.threads)?);
            seconds
        } else {
            let text = self.write(&format!("all-{}.txt", run.percent), self.text.lines(&all))?;
            // An existing model would be continued.
            if model.exists() {
                fs::remove_file(&model)?;
            }
            timed::run(&contender.train(&job(run, run.threads, &text, &model)), &log)?.seconds
        };
        let (n1_words, n2_words) = (self.text.n_words(&first), self.text.n_words(&new));
        Ok(Times { n1_words, n2_words, seconds, live_seconds })
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
    fn base(&self, run: &Run, contender: &Contender, n_first: usize) -> Result<PathBuf> {
        let name = format!("{} {}", run.setting.name(), contender.name());
        let path = self.folder.join(name.replace(' ', "-") + ".base");
        if !path.exists() {
            let text = self.write("first.txt", self.text.lines(&(0..n_first)))?;
            let partial = path.with_extension("partial");
            // Threads do not change the model.
            timed::run(&contender.train(&job(run, 2, &text, &partial)), &self.folder.join("log"))?;
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
    fn scores(&self, program: &Program) -> Result<(Kind, Vec<SetScore>)> {
        let vectors = if program.program.is_ours() { Vectors::Sum } else { Vectors::Target };
        // The default is the sum. The files of the others have only one kind of vectors.
        let embeddings = formats::load(self.folder.join("run.model"), Vectors::default())?;
        Ok((Kind { vectors }, score(self.n_scored, &embeddings, &self.eval, &Set::ALL)?))
    }
}

fn job<'a>(run: &Run, threads: u32, text: &'a Path, output: &'a Path) -> Job<'a> {
    Job {
        text,
        output,
        setting: run.setting,
        threads,
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
