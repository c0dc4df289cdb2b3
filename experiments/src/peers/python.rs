//! The Python environment of the peers from PyPI.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use xtask::command::root;
use xtask::python::Environment;

/// The packages whose versions are reported.
const PACKAGES: [&str; 4] = ["fasttext", "gensim", "numpy", "word2vec"];

/// The environment in a folder, whether or not it exists.
pub fn environment(folder: &Path) -> Environment {
    Environment::at(folder.join("python"))
}

/// Creates the environment in a folder, if it is missing, and installs gensim.
pub fn with_gensim(folder: &Path) -> Result<Environment> {
    let python = Environment::prepare(folder.join("python"))?;
    python.install("gensim")?;
    Ok(python)
}

/// The command that runs one of the scripts in this folder with a Python.
pub fn script(python: &Path, name: &str) -> Command {
    let mut command = Command::new(python);
    command.arg(root().join("experiments/src/peers").join(name));
    command
}

/// The installed versions of [`PACKAGES`], in the format of pip.
pub fn versions(python: &Environment) -> Result<String> {
    let output = python.pip("freeze").output()?;
    let all = String::from_utf8_lossy(&output.stdout);
    let ours = |line: &&str| PACKAGES.iter().any(|package| line.starts_with(package));
    Ok(all.lines().filter(ours).collect::<Vec<_>>().join(" "))
}
