//! Finds or installs the programs to compare.

use std::env;
use std::mem::discriminant;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};

use super::contender::Program;
use super::python;
use crate::options::name_of;
use xtask::command::{build_skipstream, root};
use xtask::python::Environment;

/// The programs that are available, and a line for each missing one.
pub struct Installed {
    /// Without a path if it could not be installed.
    paths: Vec<(Program, Option<PathBuf>)>,
    pub missing: Vec<String>,
}

impl Installed {
    /// Builds skipstream, unless its path is given, and installs programs from registries in `folder`.
    pub fn prepare(skipstream: Option<PathBuf>, programs: &[Program], folder: &Path) -> Result<Self> {
        let mut installed = Self { paths: Vec::new(), missing: Vec::new() };
        for &program in programs {
            if installed.paths.iter().any(|(other, _)| other.is_same(program)) {
                continue;
            }
            let path = match (program, &skipstream) {
                (Program::Skipstream(_), Some(path)) => Some(path.clone()),
                (Program::Skipstream(_), None) => Some(build_skipstream()?),
                _ => program
                    .install(folder)
                    .inspect_err(|error| {
                        let line = format!("{}: {error:#}", program.family());
                        eprintln!("missing: {line}");
                        installed.missing.push(line);
                    })
                    .ok(),
            };
            installed.paths.push((program, path));
        }
        Ok(installed)
    }

    /// The path of a program, or of the Python that runs it.
    pub fn path(&self, program: Program) -> Option<&Path> {
        self.paths.iter().find(|(other, _)| other.is_same(program))?.1.as_deref()
    }
}

impl Program {
    fn install(self, folder: &Path) -> Result<PathBuf> {
        if let Some(variable) = self.variable() {
            return built_by_hand(&variable);
        }
        let python = Environment::prepare(folder.join("python"))?;
        match self {
            Self::Word2vec => python.install("word2vec")?,
            Self::Gensim => drop(python::with_gensim(folder)?),
            // The second is precompiled, for machines where compiling fails.
            Self::Fasttext => python.install("fasttext").or_else(|_| python.install("fasttext-wheel"))?,
            _ => python.install_folder(&root().join("bindings/python"))?,
        }
        let program = python.program(if self == Self::Word2vec { "word2vec" } else { "python" });
        ensure!(program.exists(), "{} does not exist", program.display());
        Ok(program)
    }

    /// The environment variable with the path of a manually built program.
    pub fn variable(self) -> Option<String> {
        matches!(self, Self::Pword2vec | Self::Yskip)
            .then(|| format!("SKIPSTREAM_PEER_{}", self.family().to_uppercase()))
    }

    /// Whether it is the same program, in whatever variant.
    fn is_same(&self, other: Self) -> bool {
        discriminant(self) == discriminant(&other)
    }

    /// The name without variants.
    fn family(self) -> String {
        match self {
            Self::Package(_) => "skipstream in Python".into(),
            _ => name_of(&self),
        }
    }
}

/// The program at the path in an environment variable.
fn built_by_hand(variable: &str) -> Result<PathBuf> {
    let Some(path) = env::var_os(variable).map(PathBuf::from) else {
        bail!("{variable} is not set to the path of the program");
    };
    ensure!(path.is_file(), "{variable} is {}, which is not a file", path.display());
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said() {
        let error = built_by_hand("SKIPSTREAM_PEER_NOBODY").unwrap_err();
        assert!(error.to_string().contains("SKIPSTREAM_PEER_NOBODY is not set"));
        // Cargo sets this one, to a folder.
        let error = built_by_hand("CARGO_MANIFEST_DIR").unwrap_err();
        assert!(error.to_string().contains("not a file"));
    }
}
