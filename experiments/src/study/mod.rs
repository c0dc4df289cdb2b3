//! Which settings give the best vectors for the time, and how do they compare with five passes of other programs?
//!
//! A cell is one program with its settings, one text and one seed. It runs on one thread, next to whatever else runs, so
//! the time that counts is that on the processor. Every kind of vectors that a program has is scored.

mod plan;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use skipstream::{Vectors, formats};

use self::plan::{Learner, PASSES, Plan, Trial};
use crate::data::{Data, Text};
use crate::options::Options;
use crate::peers::contender::{Contender, Job, Program, Variant, option};
use crate::peers::installed::Installed;
use crate::peers::setting::Setting;
use crate::peers::timed;
use crate::record::{self, Rows, work_folder};
use crate::scores::{Measure, N_FREQUENT, Set, SetScore, score};

/// The kinds of vectors: what every program has, what those with context vectors have, and what only ours has.
const KINDS: [Vectors; 3] = [Vectors::Target, Vectors::Sum, Vectors::Joined];

/// A program with its settings, a text and a seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Cell {
    text: String,
    program: String,
    settings: String,
    seed: u32,
}

/// Scored vectors of a cell.
#[derive(Clone, Copy, Serialize)]
struct Scored {
    cpu_seconds: Option<f64>,
    /// Number of words known in the end.
    vocabulary: usize,
    vectors: Vectors,
}

/// Trains and scores every missing cell.
pub fn measure(options: &Options) -> Result<()> {
    let plan = Plan::new(options.quick);
    let data = Data::new(options)?;
    let eval = data.test_sets()?;
    let trials = plan.trials();
    let mut texts: Vec<(plan::Excerpt, Text)> = Vec::new();
    for trial in &trials {
        if !texts.iter().any(|(excerpt, _)| *excerpt == trial.text) {
            texts.push((trial.text, data.plain_text(trial.text.corpus, trial.text.n_words)?));
        }
    }
    let sources = texts.iter().map(|(_, text)| text.source.clone()).collect();
    let record = record::open(options, "study", &plan, sources)?;
    let mut rows: Rows<Cell> = Rows::open(record.join("scores.csv"))?;
    let mut cells = Vec::new();
    for trial in &trials {
        let Some((_, text)) = texts.iter().find(|(excerpt, _)| *excerpt == trial.text) else { continue };
        cells.extend((1..=trial.n_seeds).map(|seed| (trial, text, trial.cell(text, seed))));
    }
    cells.retain(|(.., cell)| !rows.contains(cell));
    // Quick cells first, and one seed of everything, so that an interrupted run has something to show.
    cells.sort_by_key(|(trial, _, cell)| (!trial.program().is_ours(), cell.seed));
    let programs: Vec<Program> = cells.iter().map(|(trial, ..)| trial.program()).collect();
    let installed = Installed::prepare(options.program.clone(), &programs, &work_folder()?)?;
    let bench = Bench { eval, folder: work_folder()?.join("study"), n_seeds: plan.n_seeds };
    for (number, (trial, text, cell)) in cells.iter().enumerate() {
        let Some(path) = installed.path(trial.program()) else { continue };
        let scored = match bench.score(&plan, trial, text, cell.seed, path) {
            Ok(scored) => scored,
            // The other cells are still worth having.
            Err(error) => {
                eprintln!("{} {} failed: {error:#}", cell.program, cell.settings);
                continue;
            }
        };
        let Cell { text, program, settings, seed } = cell;
        eprintln!("{} of {}: {text}: {program} {settings}, seed {seed}", number + 1, cells.len());
        eprintln!("{}", summary(&scored));
        let scored = scored.into_iter().map(|(scored, score)| (cell.clone(), scored, score));
        rows.push(cell.clone(), scored)?;
    }
    Ok(())
}

impl Trial {
    fn program(&self) -> Program {
        match self.learner {
            Learner::Ours(_) => Program::Skipstream(Variant::Finish),
            Learner::Peer(program, _) => program,
        }
    }

    fn cell(&self, text: &Text, seed: u32) -> Cell {
        let (program, settings) = match self.learner {
            Learner::Ours(settings) => ("skipstream".to_owned(), settings.to_owned()),
            Learner::Peer(program, rate) => {
                (crate::options::name_of(&program), format!("rate={rate} passes={PASSES}"))
            }
        };
        Cell { text: text.source.name.clone(), program, settings, seed }
    }
}

/// Where cells are trained and scored.
struct Bench {
    eval: PathBuf,
    folder: PathBuf,
    n_seeds: u32,
}

impl Bench {
    fn score(
        &self,
        plan: &Plan,
        trial: &Trial,
        text: &Text,
        seed: u32,
        path: &std::path::Path,
    ) -> Result<Vec<(Scored, SetScore)>> {
        // An existing model would be continued.
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder)?;
        }
        fs::create_dir_all(&self.folder)?;
        let program = trial.program();
        let rotated =
            if program.takes_seed() { text.path.clone() } else { text.rotated(seed, self.n_seeds)? };
        let output = self.folder.join("trained.model");
        let job = Job {
            text: &rotated,
            output: &output,
            setting: Setting::Small,
            threads: 1,
            seed,
            max_vocabulary: 0,
            keeps_contexts: true,
        };
        let rate = match trial.learner {
            Learner::Ours(_) => "",
            Learner::Peer(_, rate) => rate,
        };
        let contender = Contender { program, path, rate, passes: PASSES };
        let command = match trial.learner {
            Learner::Ours(_) => {
                let mut command = Command::new(path);
                command.arg("train").arg("--model").arg(&output);
                command.args(["--quiet", "--finish", "--threads", "1"]);
                command.args(Learner::Ours(plan.fixed).flags()).args(trial.learner.flags());
                option(&mut command, "--seed", seed);
                command.arg(&rotated);
                command
            }
            Learner::Peer(..) => contender.train(&job),
        };
        let measured = timed::run_here(command, &self.folder.join("log"))?;
        let kinds: &[Vectors] = match (program.is_ours(), program.has_contexts()) {
            (true, _) => &KINDS,
            (_, true) => &KINDS[..2],
            (_, false) => &KINDS[..1],
        };
        let mut rows = Vec::new();
        for &vectors in kinds {
            // A model of ours has every kind; the files of the others have one.
            let (path, of_file) = match trial.learner {
                Learner::Ours(_) => (output.clone(), vectors),
                Learner::Peer(..) => (contender.vectors(&job, vectors)?, Vectors::default()),
            };
            let embeddings = formats::load(path, of_file)
                .with_context(|| format!("the vectors of {}", contender.name()))?;
            let scored = Scored { cpu_seconds: measured.cpu_seconds, vocabulary: embeddings.len(), vectors };
            let scores = score(N_FREQUENT, &embeddings, &self.eval, &Set::ALL)?;
            rows.extend(scores.into_iter().map(|score| (scored, score)));
        }
        Ok(rows)
    }
}

/// The scores of a cell, analogies by 3CosAdd.
fn summary(rows: &[(Scored, SetScore)]) -> String {
    let mut lines = Vec::new();
    for vectors in KINDS {
        let scores = rows.iter().filter(|(scored, _)| scored.vectors == vectors);
        let shown: Vec<String> = scores
            .filter(|(_, score)| score.measure != Measure::CosMul)
            .map(|(_, SetScore { set, score, .. })| format!("{set:?} {:.1}", score.unwrap_or(f64::NAN)))
            .collect();
        if !shown.is_empty() {
            lines.push(format!("  {vectors}: {}", shown.join(", ")));
        }
    }
    lines.join("\n")
}
