//! What is timed: updates by ours, and training again by ours and by others.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::peers::contender::{Contender, Variant, option};
use crate::peers::python::Python;

/// What word2vec.c and gensim take by default.
const RATE: &str = "0.025";

/// A way to come to a model of all text. In rows it is known by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Program {
    #[serde(rename = "update, mini-batch")]
    UpdateMiniBatch,
    #[serde(rename = "update, mini-batch without replay")]
    UpdateNoReplays,
    #[serde(rename = "update, incremental")]
    UpdateIncremental,
    #[serde(rename = "again, mini-batch")]
    MiniBatch,
    #[serde(rename = "again, batch")]
    Batch,
    #[serde(rename = "again, word2vec.c")]
    Word2vec,
    #[serde(rename = "again, word2vec.c, 5 passes")]
    Word2vecFive,
    #[serde(rename = "again, gensim")]
    Gensim,
}

impl Program {
    /// In the order of tables and figures.
    pub const ALL: [Program; 8] = [
        Program::UpdateMiniBatch,
        Program::UpdateNoReplays,
        Program::UpdateIncremental,
        Program::MiniBatch,
        Program::Batch,
        Program::Word2vec,
        Program::Word2vecFive,
        Program::Gensim,
    ];

    /// The name in tables, figures and rows.
    pub fn name(self) -> &'static str {
        match self {
            Self::UpdateMiniBatch => "update, mini-batch",
            Self::UpdateNoReplays => "update, mini-batch without replay",
            Self::UpdateIncremental => "update, incremental",
            Self::MiniBatch => "again, mini-batch",
            Self::Batch => "again, batch",
            Self::Word2vec => "again, word2vec.c",
            Self::Word2vecFive => "again, word2vec.c, 5 passes",
            Self::Gensim => "again, gensim",
        }
    }

    /// Whether it learns the new text only.
    pub fn is_update(self) -> bool {
        matches!(self, Self::UpdateMiniBatch | Self::UpdateNoReplays | Self::UpdateIncremental)
    }

    /// Whether it has one thread only, pair after pair.
    pub fn is_serial(self) -> bool {
        matches!(self, Self::UpdateIncremental | Self::Batch)
    }

    /// The variant of ours.
    pub fn variant(self) -> Option<Variant> {
        Some(match self {
            Self::UpdateMiniBatch | Self::MiniBatch => Variant::Default,
            Self::UpdateNoReplays => Variant::NoReplays,
            Self::UpdateIncremental => Variant::Incremental,
            Self::Batch => Variant::Batch,
            Self::Word2vec | Self::Word2vecFive | Self::Gensim => return None,
        })
    }
}

/// The programs that are there.
pub struct Programs {
    pub skipstream: PathBuf,
    word2vec: Result<PathBuf>,
    gensim: Result<Python>,
}

impl Programs {
    /// Installs the peers in a folder; one that cannot be had is said and left out.
    pub fn prepare(skipstream: PathBuf, folder: &Path) -> Self {
        let word2vec = Python::word2vec(folder);
        let gensim = Python::with_gensim(folder);
        for (name, error) in [("word2vec.c", word2vec.as_ref().err()), ("gensim", gensim.as_ref().err())] {
            if let Some(error) = error {
                eprintln!("without {name}: {error:#}");
            }
        }
        Self { skipstream, word2vec, gensim }
    }

    /// What trains from scratch, if it is there.
    pub fn contender(&self, program: Program) -> Option<Contender> {
        if let Some(variant) = program.variant() {
            return Some(Contender::Skipstream { program: self.skipstream.clone(), variant });
        }
        let word2vec = |passes| {
            let program = self.word2vec.as_ref().ok()?.clone();
            Some(Contender::Word2vec { program, rate: RATE.into(), passes })
        };
        match program {
            Program::Word2vecFive => word2vec(5),
            Program::Gensim => {
                let python = self.gensim.as_ref().ok()?.clone();
                Some(Contender::Gensim { python, rate: RATE.into(), passes: 1 })
            }
            _ => word2vec(1),
        }
    }

    /// What a person types to teach a model more text.
    pub fn update(&self, model: &Path, text: &Path, threads: u32) -> Command {
        let mut command = Command::new(&self.skipstream);
        command.arg("train").arg("--model").arg(model);
        option(&mut command, "--threads", threads);
        command.arg("--quiet").arg(text);
        command
    }
}

/// Copies a model, on disk when it comes back: what is written later must not wait for it.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to)?;
    Ok(File::open(to)?.sync_all()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_written_by_its_name() {
        for program in Program::ALL {
            assert_eq!(serde_json::to_value(program).unwrap(), program.name());
        }
    }
}
