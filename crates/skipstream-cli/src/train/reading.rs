//! The text of a training, which ends or does not.

use std::path::{Path, PathBuf};

use skipstream::Result;
use skipstream::corpus::{FilesProgress, Follow, Ledger, Sentence, Source, TextReport};

use super::shared::Shared;

/// The text of a training.
pub enum Reading {
    /// Text that ends.
    ToTheEnd(Shared),
    /// Text that is followed.
    Followed(Box<Follow>),
}

impl Reading {
    /// Writes down how far it was read.
    pub fn settle(&mut self, ledger: &mut Ledger) -> Result<()> {
        match self {
            Reading::ToTheEnd(files) => files.files().settle(ledger),
            Reading::Followed(follow) => follow.settle(ledger),
        }
    }

    /// What was met in it.
    pub fn report(&self) -> TextReport {
        match self {
            Reading::ToTheEnd(files) => files.files().report(),
            Reading::Followed(follow) => follow.report(),
        }
    }

    /// Files that were learned before, and are not read.
    pub fn skipped(&self) -> Vec<PathBuf> {
        match self {
            Reading::ToTheEnd(files) => files.files().skipped().to_vec(),
            Reading::Followed(_) => Vec::new(),
        }
    }

    /// Files that were read to their end and hold no words.
    pub fn without_words(&self) -> Vec<PathBuf> {
        match self {
            Reading::ToTheEnd(files) => files.files().without_words().map(Path::to_owned).collect(),
            Reading::Followed(_) => Vec::new(),
        }
    }

    /// How far it was read.
    pub fn progress(&self) -> FilesProgress {
        match self {
            Reading::ToTheEnd(files) => files.files().progress().clone(),
            Reading::Followed(follow) => follow.progress().clone(),
        }
    }
}

impl Source for Reading {
    fn read(&mut self, sentence: &mut Sentence) -> Result<bool> {
        match self {
            Reading::ToTheEnd(files) => files.read(sentence),
            Reading::Followed(follow) => follow.read(sentence),
        }
    }
}
