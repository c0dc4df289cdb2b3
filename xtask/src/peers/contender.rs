//! The programs that take part, and what one types to run each of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::python::{FASTTEXT, GENSIM, Python};
use super::setting::Setting;
use super::yskip;
use crate::command::run_quietly;

/// Words that occur less often are left out, by the programs that know the count beforehand.
const MIN_COUNT: &str = "5";

/// The bound on the vocabulary, for the programs that learn in one pass.
const MAX_VOCABULARY: &str = "100000";

/// A program of the comparison, ready to run.
pub enum Contender {
    /// Ours, with its default replays or a stated number of them.
    Skipstream { program: PathBuf, replays: Option<u32> },
    /// Mikolov's program. Its default rate, 0.025, is far from its best for a single pass.
    Word2vec { program: PathBuf, rate: String },
    /// Intel's version of it, with shared negatives.
    Pword2vec { program: PathBuf },
    /// The program of the paper.
    Yskip { program: PathBuf },
    /// gensim, reading the file itself: its fastest way.
    Gensim(Python),
    /// fastText without subwords: the same model as the others.
    Fasttext(Python),
}

/// One run to do.
pub struct Job<'a> {
    /// What to learn, in plain text.
    pub text: &'a Path,
    /// Where to save the model.
    pub output: &'a Path,
    pub setting: Setting,
    pub threads: u32,
    /// How often the programs that need the whole text go over it.
    pub passes: u32,
    pub seed: u32,
}

impl Contender {
    /// The name in tables and files.
    pub fn name(&self) -> String {
        match self {
            Self::Skipstream { replays: None, .. } => "skipstream".into(),
            Self::Skipstream { replays: Some(n), .. } => format!("skipstream --replays {n}"),
            Self::Word2vec { rate, .. } => format!("word2vec.c rate {rate}"),
            Self::Pword2vec { .. } => "pWord2Vec".into(),
            Self::Yskip { .. } => "yskip".into(),
            Self::Gensim(_) => "gensim".into(),
            Self::Fasttext(_) => "fastText".into(),
        }
    }

    /// Whether this is skipstream.
    pub fn is_ours(&self) -> bool {
        matches!(self, Self::Skipstream { .. })
    }

    /// The command that learns from the text and saves a model.
    pub fn train(&self, job: &Job) -> Command {
        match self {
            Self::Skipstream { program, replays } => skipstream(program, *replays, job),
            Self::Word2vec { program, rate } => {
                let mut command = word2vec(program, job);
                command.args(["-cbow", "0", "-hs", "0", "-alpha", rate]);
                command
            }
            Self::Pword2vec { program } => {
                let mut command = word2vec(program, job);
                // Its authors' advice: as many inputs as a full window has.
                option(&mut command, "-batch-size", 2 * job.setting.window() + 1);
                command
            }
            Self::Yskip { program } => yskip_command(program, job),
            Self::Gensim(python) => python.train(GENSIM, job),
            Self::Fasttext(python) => python.train(FASTTEXT, job),
        }
    }

    /// The vectors of the model that a run has saved, in one of word2vec's formats.
    pub fn vectors(&self, job: &Job) -> Result<PathBuf> {
        let vectors = job.output.with_extension("vectors");
        match self {
            Self::Skipstream { program, .. } => {
                let mut command = Command::new(program);
                command.arg("export").arg("--model").arg(job.output);
                command.args(["--to", "word2vec-binary"]).arg(&vectors);
                run_quietly(&mut command)?;
            }
            Self::Yskip { .. } => yskip::convert(job.output, &vectors)?,
            Self::Fasttext(python) => {
                run_quietly(&mut python.export(FASTTEXT, job.output, &vectors))?;
            }
            Self::Word2vec { .. } | Self::Pword2vec { .. } | Self::Gensim(_) => {
                fs::rename(job.output, &vectors)?;
            }
        }
        Ok(vectors)
    }
}

fn skipstream(program: &Path, replays: Option<u32>, job: &Job) -> Command {
    let mut command = Command::new(program);
    command.arg("train").arg("--model").arg(job.output);
    option(&mut command, "--dimensions", job.setting.dimensions());
    option(&mut command, "--window", job.setting.window());
    option(&mut command, "--negatives", job.setting.negatives());
    option(&mut command, "--subsample", job.setting.subsample());
    option(&mut command, "--max-vocabulary", MAX_VOCABULARY);
    option(&mut command, "--threads", job.threads);
    option(&mut command, "--seed", job.seed);
    if let Some(replays) = replays {
        option(&mut command, "--replays", replays);
    }
    command.arg("--quiet").arg(job.text);
    command
}

/// What word2vec and its relatives have in common.
fn word2vec(program: &Path, job: &Job) -> Command {
    let mut command = Command::new(program);
    command.arg("-train").arg(job.text);
    command.arg("-output").arg(job.output);
    option(&mut command, "-binary", 1);
    option(&mut command, "-size", job.setting.dimensions());
    option(&mut command, "-window", job.setting.window());
    option(&mut command, "-negative", job.setting.negatives());
    option(&mut command, "-sample", job.setting.subsample());
    option(&mut command, "-min-count", MIN_COUNT);
    option(&mut command, "-iter", job.passes);
    option(&mut command, "-threads", job.threads);
    command
}

fn yskip_command(program: &Path, job: &Job) -> Command {
    let mut command = Command::new(program);
    option(&mut command, "-d", job.setting.dimensions());
    option(&mut command, "-w", job.setting.window());
    option(&mut command, "-n", job.setting.negatives());
    option(&mut command, "-s", job.setting.subsample());
    option(&mut command, "-m", MAX_VOCABULARY);
    option(&mut command, "-t", job.threads);
    option(&mut command, "-r", job.seed);
    command.arg("-q").arg(job.text).arg(job.output);
    command
}

/// Appends a flag and its value.
pub fn option(command: &mut Command, flag: &str, value: impl ToString) {
    command.arg(flag).arg(value.to_string());
}
