//! The Python environment of the peers from PyPI.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};
use skipstream::Vectors;

use super::contender::{Job, option};
use xtask::command::root;
use xtask::python::Environment;

/// Driver scripts. A script named like a package would import itself.
pub const GENSIM: &str = "with_gensim.py";
pub const FASTTEXT: &str = "with_fasttext.py";
pub const SKIPSTREAM: &str = "with_skipstream.py";
pub const EVALUATE: &str = "evaluate_with_gensim.py";
pub const OPEN: &str = "open_with_gensim.py";
const DRIVERS: [(&str, &str); 5] = [
    (GENSIM, include_str!("with_gensim.py")),
    (FASTTEXT, include_str!("with_fasttext.py")),
    (SKIPSTREAM, include_str!("with_skipstream.py")),
    (EVALUATE, include_str!("evaluate_with_gensim.py")),
    (OPEN, include_str!("open_with_gensim.py")),
];

/// The packages whose versions are reported.
const PACKAGES: [&str; 4] = ["fasttext", "gensim", "numpy", "word2vec"];

/// A virtual environment with our driver scripts beside it.
#[derive(Clone)]
pub struct Python {
    environment: Environment,
    drivers: PathBuf,
}

impl Python {
    /// Creates the environment in `folder`, or reuses an existing one.
    pub fn prepare(folder: &Path) -> Result<Self> {
        let python = Self::within(folder);
        Environment::prepare(folder.join("python"))?;
        fs::create_dir_all(&python.drivers)?;
        for (name, script) in DRIVERS {
            fs::write(python.drivers.join(name), script)?;
        }
        Ok(python)
    }

    /// The environment in `folder`, if it exists.
    pub fn found(folder: &Path) -> Option<Self> {
        Some(Self::within(folder)).filter(|python| python.environment.exists())
    }

    /// Mikolov's program, installed in a folder.
    pub fn word2vec(folder: &Path) -> Result<PathBuf> {
        let python = Self::prepare(folder)?;
        python.install("word2vec")?;
        python.installed("word2vec")
    }

    pub fn with_gensim(folder: &Path) -> Result<Self> {
        let python = Self::prepare(folder)?;
        python.install("gensim")?;
        Ok(python)
    }

    pub fn with_fasttext(folder: &Path) -> Result<Self> {
        let python = Self::prepare(folder)?;
        // The second is precompiled, for machines where compiling fails.
        python.install("fasttext").or_else(|_| python.install("fasttext-wheel"))?;
        Ok(python)
    }

    /// An environment with a fresh build of our own package.
    pub fn with_skipstream(folder: &Path) -> Result<Self> {
        let python = Self::prepare(folder)?;
        python.environment.install_folder(&root().join("bindings/python"))?;
        Ok(python)
    }

    pub fn install(&self, package: &str) -> Result<()> {
        self.environment.install(package)
    }

    /// The path of a program that a package has installed.
    pub fn installed(&self, name: &str) -> Result<PathBuf> {
        let program = self.environment.program(name);
        ensure!(program.exists(), "{} does not exist", program.display());
        Ok(program)
    }

    /// The installed versions of [`PACKAGES`], in the format of pip.
    pub fn versions(&self) -> Result<String> {
        let output = self.environment.pip("freeze").output()?;
        let all = String::from_utf8_lossy(&output.stdout);
        let ours = |line: &&str| PACKAGES.iter().any(|package| line.starts_with(package));
        Ok(all.lines().filter(ours).collect::<Vec<_>>().join(" "))
    }

    /// The command that trains with one of the driver scripts.
    pub fn train(&self, driver: &str, passes: u32, job: &Job) -> Command {
        let mut command = self.driver(driver);
        command.arg("train").arg(job.text).arg(job.output);
        option(&mut command, "--dimensions", job.setting.dimensions());
        option(&mut command, "--window", job.setting.window());
        option(&mut command, "--negatives", job.setting.negatives());
        option(&mut command, "--subsample", job.setting.subsample());
        option(&mut command, "--passes", passes);
        option(&mut command, "--threads", job.threads);
        option(&mut command, "--seed", job.seed);
        command
    }

    /// The command that exports the vectors of a saved model.
    pub fn export(&self, driver: &str, model: &Path, output: &Path, vectors: Vectors) -> Command {
        let mut command = self.driver(driver);
        command.arg("export").arg(model).arg(output).arg("--vectors").arg(vectors.to_string());
        command
    }

    fn within(folder: &Path) -> Self {
        let folder = folder.join("python");
        Self { drivers: folder.join("drivers"), environment: Environment::at(folder) }
    }

    /// The command that runs one of the driver scripts.
    pub fn driver(&self, name: &str) -> Command {
        let mut command = Command::new(self.environment.program("python"));
        command.arg(self.drivers.join(name));
        command
    }
}
