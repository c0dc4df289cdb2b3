//! The timed programs: updates, and training again.

use std::fs::{self, File};
use std::path::Path;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::peers::contender::{Contender, Variant};
use crate::peers::installed::{Installed, RATE};
use crate::record::name_of;

/// A way to get a model of all text.
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

    /// The name in rows and tables.
    pub fn name(self) -> String {
        name_of(&self)
    }

    /// Whether it learns only the new text.
    pub fn is_update(self) -> bool {
        matches!(self, Self::UpdateMiniBatch | Self::UpdateNoReplays | Self::UpdateIncremental)
    }

    /// Whether it has only one thread.
    pub fn is_serial(self) -> bool {
        matches!(self, Self::UpdateIncremental | Self::Batch)
    }

    /// The variant of our command.
    pub fn variant(self) -> Option<Variant> {
        Some(match self {
            Self::UpdateMiniBatch | Self::MiniBatch => Variant::Default,
            Self::UpdateNoReplays => Variant::NoReplays,
            Self::UpdateIncremental => Variant::Incremental,
            Self::Batch => Variant::Batch,
            Self::Word2vec | Self::Word2vecFive | Self::Gensim => return None,
        })
    }

    /// The program that trains from scratch, if it is installed.
    pub fn contender(self, installed: &Installed) -> Option<Contender> {
        match self {
            Self::Word2vec => installed.word2vec(RATE, 1),
            Self::Word2vecFive => installed.word2vec(RATE, 5),
            Self::Gensim => installed.gensim(RATE, 1),
            _ => self.variant().map(|variant| installed.skipstream(variant)),
        }
    }
}

/// Copies a model and syncs it, so that later writes do not wait for it.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to)?;
    Ok(File::open(to)?.sync_all()?)
}
