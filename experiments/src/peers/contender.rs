//! The compared programs and their command lines.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};
use clap::ValueEnum;
use serde_json::json;
use skipstream::Vectors;

use super::python;
use super::setting::Setting;
use super::yskip;
use crate::options::name_of;
use xtask::command::run_logged;

/// Minimum count, for the programs that count words before training.
pub const MIN_COUNT: u64 = 5;

/// The default learning rate of word2vec.c and gensim, that of fastText, and one that is better for a single pass.
pub const RATE: &str = "0.025";
pub const FASTTEXT_RATE: &str = "0.05";
pub const FAST_RATE: &str = "0.1";

/// A compared program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Program {
    /// Our command.
    #[value(skip)]
    Skipstream(Variant),
    /// Our Python package.
    #[value(skip)]
    Package(Way),
    /// Mikolov's C program, from the Python package `word2vec`, which compiles it
    Word2vec,
    /// The Python package `gensim`, which reads the file itself: its fastest way
    Gensim,
    /// The Python package `fasttext` or `fasttext-wheel`, without subwords: the same model as the others
    Fasttext,
    /// Intel's pWord2Vec, with shared negatives, at the path in SKIPSTREAM_PEER_PWORD2VEC
    Pword2vec,
    /// The paper's own program, at the path in SKIPSTREAM_PEER_YSKIP
    Yskip,
}

/// A variant of our command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Variant {
    /// The default: mini-batches, each word replayed twice
    #[default]
    Default,
    /// The default, and at the end the remaining replays
    Finish,
    /// `--quality best`, with all replays; scored by joined vectors
    Best,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Way {
    /// A generator of lists of words, split by Python: the common case
    Lists,
    /// A generator of lines, split by the engine
    Lines,
    /// The name of a file
    File,
}

/// A program that is ready to run.
#[derive(Clone, Copy)]
pub struct Contender<'a> {
    pub program: Program,
    /// The path of the program, or of the Python that runs it.
    pub path: &'a Path,
    /// Learning rate of word2vec.c, gensim and fastText.
    pub rate: &'a str,
    pub passes: u32,
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

impl Program {
    /// Whether this is skipstream.
    pub fn is_ours(self) -> bool {
        matches!(self, Self::Skipstream(_) | Self::Package(_))
    }

    /// Whether it takes a seed. word2vec.c, pWord2Vec and fastText do not.
    pub fn takes_seed(self) -> bool {
        self.is_ours() || matches!(self, Self::Gensim | Self::Yskip)
    }

    /// Whether it can make several passes.
    pub fn makes_passes(self) -> bool {
        !self.is_ours() && self != Self::Yskip
    }

    /// Whether it takes a learning rate that means the same as word2vec.c's.
    pub fn takes_rate(self) -> bool {
        matches!(self, Self::Word2vec | Self::Gensim | Self::Fasttext)
    }

    /// The vectors that its users get. The default of ours is the sum, which the paper evaluates.
    pub fn published(self) -> Vectors {
        match self {
            Self::Skipstream(Variant::Best) => Vectors::Joined,
            Self::Skipstream(_) | Self::Package(_) | Self::Yskip => Vectors::Sum,
            Self::Word2vec | Self::Gensim | Self::Fasttext | Self::Pword2vec => Vectors::Target,
        }
    }

    /// Whether target plus context vectors, which the paper evaluates, are available.
    pub fn has_contexts(self) -> bool {
        !matches!(self, Self::Word2vec | Self::Pword2vec)
    }
}

impl Contender<'_> {
    /// The name in tables and files.
    pub fn name(&self) -> String {
        let name = match self.program {
            Program::Skipstream(Variant::Default) => "skipstream".into(),
            Program::Skipstream(variant) => format!("skipstream {}", name_of(&variant)),
            Program::Package(way) => format!("skipstream in Python, {}", name_of(&way)),
            Program::Word2vec => format!("word2vec.c rate {}", self.rate),
            Program::Gensim => format!("gensim rate {}", self.rate),
            Program::Fasttext => format!("fastText rate {}", self.rate),
            Program::Pword2vec => "pWord2Vec".into(),
            Program::Yskip => "yskip".into(),
        };
        if self.passes == 1 { name } else { format!("{name} passes {}", self.passes) }
    }

    /// The command that learns from the text and saves a model.
    pub fn train(&self, job: &Job) -> Command {
        let mut command = Command::new(self.path);
        let values = job.setting.hyperparameters();
        match self.program {
            Program::Skipstream(variant) => {
                command.arg("train").arg("--model").arg(job.output);
                let names = ["--dimensions", "--window", "--negatives", "--subsample", "--threads"];
                with_settings(&mut command, names, job);
                option(&mut command, "--max-vocabulary", job.max_vocabulary);
                option(&mut command, "--seed", job.seed);
                command.args(variant.flags()).arg("--quiet").arg(job.text);
            }
            Program::Word2vec | Program::Pword2vec => {
                command.arg("-train").arg(job.text).arg("-output").arg(job.output).args(["-binary", "1"]);
                with_settings(&mut command, ["-size", "-window", "-negative", "-sample", "-threads"], job);
                option(&mut command, "-min-count", MIN_COUNT);
                option(&mut command, "-iter", self.passes);
                if self.program == Program::Word2vec {
                    command.args(["-cbow", "0", "-hs", "0", "-alpha", self.rate]);
                } else {
                    // Its authors recommend as many inputs as a full window has.
                    option(&mut command, "-batch-size", 2 * values.window + 1);
                }
            }
            Program::Yskip => {
                with_settings(&mut command, ["-d", "-w", "-n", "-s", "-t"], job);
                option(&mut command, "-m", job.max_vocabulary);
                option(&mut command, "-r", job.seed);
                command.arg("-q").arg(job.text).arg(job.output);
            }
            Program::Package(_) | Program::Gensim | Program::Fasttext => {
                let settings = json!({
                    "dimensions": values.dimensions,
                    "window": values.window,
                    "negatives": values.negatives,
                    "subsample": values.subsample,
                    "rate": self.rate,
                    "passes": self.passes,
                    "threads": job.threads,
                    "seed": job.seed,
                    "max_vocabulary": job.max_vocabulary,
                    "min_count": MIN_COUNT,
                });
                command = self.script("train");
                command.arg(job.text).arg(job.output).arg(settings.to_string());
                command.args(match self.program {
                    Program::Package(way) => Some(name_of(&way).into()),
                    Program::Gensim => job.keeps_contexts.then(|| with_contexts(job)),
                    _ => None,
                });
            }
        }
        command
    }

    /// A command of the script that drives a Python package. A script named like its package would import itself.
    fn script(&self, verb: &str) -> Command {
        let script = match self.program {
            Program::Gensim => "with_gensim.py",
            Program::Fasttext => "with_fasttext.py",
            _ => "with_skipstream.py",
        };
        let mut command = python::script(self.path, script);
        command.arg(verb);
        command
    }

    /// Writes the vectors of a saved model to a file.
    pub fn vectors(&self, job: &Job, vectors: Vectors) -> Result<PathBuf> {
        let path = job.output.with_extension("vectors");
        let mut command = match (self.program, vectors) {
            (Program::Skipstream(_), _) => {
                let mut command = Command::new(self.path);
                command.arg("export").arg("--model").arg(job.output);
                command
                    .args(["--to", "word2vec-binary", "--force", "--vectors", &vectors.to_string()])
                    .arg(&path);
                command
            }
            (Program::Package(_), _) | (Program::Fasttext, Vectors::Target | Vectors::Sum) => {
                let mut command = self.script("export");
                command.arg(job.output).arg(&path).arg(vectors.to_string());
                command
            }
            (Program::Yskip, Vectors::Sum) => {
                yskip::convert(job.output, &path)?;
                return Ok(path);
            }
            (Program::Word2vec | Program::Pword2vec | Program::Gensim, Vectors::Target) => {
                return Ok(job.output.into());
            }
            (Program::Gensim, Vectors::Sum) if job.keeps_contexts => return Ok(with_contexts(job)),
            _ => bail!("{} has no {} vectors", self.name(), vectors),
        };
        run_logged(&mut command, &job.output.with_extension("vectors-log"))?;
        Ok(path)
    }
}

/// The file for gensim's sums of target and context.
fn with_contexts(job: &Job) -> PathBuf {
    job.output.with_extension("sum")
}

impl Variant {
    fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Default => &[],
            Self::Finish => &["--finish"],
            Self::Best => &["--quality", "best", "--finish"],
            Self::NoReplays => &["--replays", "0"],
            Self::Incremental => &["--strategy", "incremental"],
            Self::Batch => &["--strategy", "batch"],
            Self::Word2vec => &["--strategy", "word2vec"],
        }
    }
}

/// Appends the hyperparameters and the number of threads, with a program's names for them.
fn with_settings(command: &mut Command, [size, window, negatives, subsample, threads]: [&str; 5], job: &Job) {
    let values = job.setting.hyperparameters();
    option(command, size, values.dimensions);
    option(command, window, values.window);
    option(command, negatives, values.negatives);
    option(command, subsample, values.subsample);
    option(command, threads, job.threads);
}

/// Appends a flag and its value.
pub fn option(command: &mut Command, flag: &str, value: impl ToString) {
    command.arg(flag).arg(value.to_string());
}
