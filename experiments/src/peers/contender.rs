//! The compared programs and their command lines.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};
use clap::ValueEnum;
use skipstream::Vectors;

use super::python::{FASTTEXT, GENSIM, Python, SKIPSTREAM};
use super::setting::Setting;
use super::yskip;
use xtask::command::run_logged;

/// Minimum count, for the programs that count words before training.
pub const MIN_COUNT: u64 = 5;

/// A program that is ready to run.
pub enum Contender {
    /// Our command.
    Skipstream { program: PathBuf, variant: Variant },
    /// Our Python package.
    Package { python: Python, way: Way },
    /// Mikolov's program. Its default rate, 0.025, is far from its best for a single pass.
    Word2vec { program: PathBuf, rate: String, passes: u32 },
    /// Intel's version of word2vec, with shared negatives.
    Pword2vec { program: PathBuf, passes: u32 },
    /// The paper's own program.
    Yskip { program: PathBuf },
    /// gensim, reading the file itself, which is its fastest way.
    Gensim { python: Python, rate: String, passes: u32 },
    /// fastText without subwords, which is the same model as the others.
    Fasttext { python: Python, passes: u32 },
}

/// A variant of our command.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Variant {
    /// The default: mini-batches, each word replayed once
    Default,
    /// The default, and at the end the remaining replays
    Finish,
    /// Mini-batches, each word trained once
    NoReplays,
    /// Pair by pair, on one thread, as in Algorithm 1 of the paper
    Incremental,
    /// Counts of the whole text first, then pair by pair with AdaGrad, on one thread
    Batch,
    /// The same with a linearly falling rate, as in word2vec.c
    Word2vec,
}

/// A way to feed text to our Python package.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Way {
    /// A generator of lists of words, split by Python: the common case
    Lists,
    /// A generator of lines, split by the engine
    Lines,
    /// The name of a file
    File,
}

/// One training run.
pub struct Job<'a> {
    /// The text, uncompressed.
    pub text: &'a Path,
    /// Where to save the model.
    pub output: &'a Path,
    pub setting: Setting,
    pub threads: u32,
    pub seed: u32,
    /// Vocabulary bound, for the programs that have one.
    pub max_vocabulary: u32,
    /// Whether to save context vectors, for the programs that discard them otherwise.
    pub keeps_contexts: bool,
}

impl Contender {
    /// The name in tables and files.
    pub fn name(&self) -> String {
        let (name, passes) = match self {
            Self::Skipstream { variant, .. } => (variant.name().into(), 1),
            Self::Package { way, .. } => (format!("skipstream in Python, {}", way.name()), 1),
            Self::Word2vec { rate, passes, .. } => (format!("word2vec.c rate {rate}"), *passes),
            Self::Pword2vec { passes, .. } => ("pWord2Vec".into(), *passes),
            Self::Yskip { .. } => ("yskip".into(), 1),
            Self::Gensim { rate, passes, .. } => (format!("gensim rate {rate}"), *passes),
            Self::Fasttext { passes, .. } => ("fastText".into(), *passes),
        };
        if passes == 1 { name } else { format!("{name} passes {passes}") }
    }

    /// Whether this is skipstream.
    pub fn is_ours(&self) -> bool {
        matches!(self, Self::Skipstream { .. } | Self::Package { .. })
    }

    /// The command that learns from the text and saves a model.
    pub fn train(&self, job: &Job) -> Command {
        match self {
            Self::Skipstream { program, variant } => skipstream(program, *variant, job),
            Self::Package { python, way } => {
                let mut command = python.train(SKIPSTREAM, 1, job);
                option(&mut command, "--way", way.name());
                option(&mut command, "--max-vocabulary", job.max_vocabulary);
                command
            }
            Self::Word2vec { program, rate, passes } => {
                let mut command = word2vec(program, *passes, job);
                command.args(["-cbow", "0", "-hs", "0", "-alpha", rate]);
                command
            }
            Self::Pword2vec { program, passes } => {
                let mut command = word2vec(program, *passes, job);
                // Its authors recommend as many inputs as a full window has.
                option(&mut command, "-batch-size", 2 * job.setting.window() + 1);
                command
            }
            Self::Yskip { program } => yskip_command(program, job),
            Self::Gensim { python, rate, passes } => {
                let mut command = python.train(GENSIM, *passes, job);
                option(&mut command, "--rate", rate);
                if job.keeps_contexts {
                    option(&mut command, "--sum", with_contexts(job).display());
                }
                command
            }
            Self::Fasttext { python, passes } => python.train(FASTTEXT, *passes, job),
        }
    }

    /// Whether it takes a seed. word2vec.c, pWord2Vec and fastText do not.
    pub fn takes_seed(&self) -> bool {
        self.is_ours() || matches!(self, Self::Gensim { .. } | Self::Yskip { .. })
    }

    /// Whether target plus context vectors, which the paper evaluates, are available.
    pub fn has_contexts(&self) -> bool {
        !matches!(self, Self::Word2vec { .. } | Self::Pword2vec { .. })
    }

    /// Writes the vectors of a saved model to a file.
    pub fn vectors(&self, job: &Job, vectors: Vectors) -> Result<PathBuf> {
        let path = job.output.with_extension("vectors");
        let log = job.output.with_extension("vectors-log");
        match (self, vectors) {
            (Self::Skipstream { program, .. }, _) => {
                let mut command = Command::new(program);
                command.arg("export").arg("--model").arg(job.output);
                command.args(["--to", "word2vec-binary", "--vectors", &vectors.to_string()]).arg(&path);
                run_logged(&mut command, &log)?;
            }
            (Self::Yskip { .. }, Vectors::Sum) => yskip::convert(job.output, &path)?,
            (Self::Package { python, .. }, _) => {
                run_logged(&mut python.export(SKIPSTREAM, job.output, &path, vectors), &log)?;
            }
            (Self::Fasttext { python, .. }, Vectors::Target | Vectors::Sum) => {
                run_logged(&mut python.export(FASTTEXT, job.output, &path, vectors), &log)?;
            }
            (Self::Word2vec { .. } | Self::Pword2vec { .. } | Self::Gensim { .. }, Vectors::Target) => {
                return Ok(job.output.into());
            }
            (Self::Gensim { .. }, Vectors::Sum) if job.keeps_contexts => return Ok(with_contexts(job)),
            _ => bail!("{} has no {} vectors", self.name(), vectors),
        }
        Ok(path)
    }
}

/// The file for gensim's sums of target and context.
fn with_contexts(job: &Job) -> PathBuf {
    job.output.with_extension("sum")
}

impl Variant {
    fn name(self) -> &'static str {
        match self {
            Self::Default => "skipstream",
            Self::Finish => "skipstream finish",
            Self::NoReplays => "skipstream no-replays",
            Self::Incremental => "skipstream incremental",
            Self::Batch => "skipstream batch",
            Self::Word2vec => "skipstream word2vec",
        }
    }

    /// Its flags.
    fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Default => &[],
            Self::Finish => &["--finish"],
            Self::NoReplays => &["--replays", "0"],
            Self::Incremental => &["--strategy", "incremental"],
            Self::Batch => &["--strategy", "batch"],
            Self::Word2vec => &["--strategy", "word2vec"],
        }
    }
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Lists => "lists",
            Self::Lines => "lines",
            Self::File => "file",
        }
    }
}

fn skipstream(program: &Path, variant: Variant, job: &Job) -> Command {
    let mut command = Command::new(program);
    command.arg("train").arg("--model").arg(job.output);
    option(&mut command, "--dimensions", job.setting.dimensions());
    option(&mut command, "--window", job.setting.window());
    option(&mut command, "--negatives", job.setting.negatives());
    option(&mut command, "--subsample", job.setting.subsample());
    option(&mut command, "--max-vocabulary", job.max_vocabulary);
    option(&mut command, "--threads", job.threads);
    option(&mut command, "--seed", job.seed);
    command.args(variant.flags()).arg("--quiet").arg(job.text);
    command
}

/// Arguments common to word2vec and its relatives.
fn word2vec(program: &Path, passes: u32, job: &Job) -> Command {
    let mut command = Command::new(program);
    command.arg("-train").arg(job.text);
    command.arg("-output").arg(job.output);
    option(&mut command, "-binary", 1);
    option(&mut command, "-size", job.setting.dimensions());
    option(&mut command, "-window", job.setting.window());
    option(&mut command, "-negative", job.setting.negatives());
    option(&mut command, "-sample", job.setting.subsample());
    option(&mut command, "-min-count", MIN_COUNT);
    option(&mut command, "-iter", passes);
    option(&mut command, "-threads", job.threads);
    command
}

fn yskip_command(program: &Path, job: &Job) -> Command {
    let mut command = Command::new(program);
    option(&mut command, "-d", job.setting.dimensions());
    option(&mut command, "-w", job.setting.window());
    option(&mut command, "-n", job.setting.negatives());
    option(&mut command, "-s", job.setting.subsample());
    option(&mut command, "-m", job.max_vocabulary);
    option(&mut command, "-t", job.threads);
    option(&mut command, "-r", job.seed);
    command.arg("-q").arg(job.text).arg(job.output);
    command
}

/// Appends a flag and its value.
pub fn option(command: &mut Command, flag: &str, value: impl ToString) {
    command.arg(flag).arg(value.to_string());
}
