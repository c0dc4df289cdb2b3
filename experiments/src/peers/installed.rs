//! The programs that the experiments compare skipstream with, installed.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::contender::{Contender, Variant};
use super::python::Python;

/// The default learning rate of word2vec.c and gensim, and one that is better for a single pass.
pub const RATE: &str = "0.025";
pub const FAST_RATE: &str = "0.1";

/// Our command, and the peers that could be installed.
pub struct Installed {
    pub skipstream: PathBuf,
    word2vec: Option<PathBuf>,
    gensim: Option<Python>,
    fasttext: Option<Python>,
}

impl Installed {
    /// Installs the peers in a folder. One that cannot be installed is reported and skipped.
    pub fn prepare(skipstream: PathBuf, folder: &Path) -> Self {
        Self {
            skipstream,
            word2vec: reported("word2vec.c", Python::word2vec(folder)),
            gensim: reported("gensim", Python::with_gensim(folder)),
            fasttext: reported("fastText", Python::with_fasttext(folder)),
        }
    }

    pub fn skipstream(&self, variant: Variant) -> Contender {
        Contender::Skipstream { program: self.skipstream.clone(), variant }
    }

    pub fn word2vec(&self, rate: &str, passes: u32) -> Option<Contender> {
        let program = self.word2vec.clone()?;
        Some(Contender::Word2vec { program, rate: rate.into(), passes })
    }

    pub fn gensim(&self, rate: &str, passes: u32) -> Option<Contender> {
        let python = self.gensim.clone()?;
        Some(Contender::Gensim { python, rate: rate.into(), passes })
    }

    pub fn fasttext(&self, passes: u32) -> Option<Contender> {
        Some(Contender::Fasttext { python: self.fasttext.clone()?, passes })
    }
}

fn reported<T>(name: &str, installed: Result<T>) -> Option<T> {
    installed.inspect_err(|error| eprintln!("missing: {name}: {error:#}")).ok()
}
