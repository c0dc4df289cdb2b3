//! Assembles the programs to compare.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};
use clap::ValueEnum;

use super::contender::{Contender, Variant, Way};
use super::python::Python;

/// gensim's default.
const GENSIM_RATE: &str = "0.025";

/// A program to compare with.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Peer {
    /// Mikolov's C program, from the Python package `word2vec`, which compiles it
    Word2vec,
    /// The Python package `gensim`
    Gensim,
    /// The Python package `fasttext` or `fasttext-wheel`
    Fasttext,
    /// Intel's pWord2Vec, at the path in SKIPSTREAM_PEER_PWORD2VEC
    Pword2vec,
    /// The paper's own program, at the path in SKIPSTREAM_PEER_YSKIP
    Yskip,
}

/// The programs that are available, and a line for each missing one.
pub struct Roster {
    pub contenders: Vec<Contender>,
    pub missing: Vec<String>,
}

/// The requested programs.
pub struct Wanted<'a> {
    pub ours: &'a [Variant],
    pub in_python: &'a [Way],
    pub peers: &'a [Peer],
    pub passes: &'a [u32],
    pub word2vec_rates: &'a [String],
}

impl Roster {
    /// Our variants, the requested peers, and manually built ones whose variable is set. Peers from
    /// a registry are installed in `folder`.
    pub fn assemble(skipstream: &Path, wanted: &Wanted, folder: &Path) -> Self {
        let program = || skipstream.to_owned();
        let ours = wanted.ours.iter().map(|&variant| Contender::Skipstream { program: program(), variant });
        let mut roster = Self { contenders: ours.collect(), missing: Vec::new() };
        if !wanted.in_python.is_empty() {
            match Python::with_skipstream(folder) {
                Ok(python) => {
                    let package = |&way| Contender::Package { python: python.clone(), way };
                    roster.contenders.extend(wanted.in_python.iter().map(package));
                }
                Err(error) => roster.missing.push(format!("skipstream in Python: {error:#}")),
            }
        }
        let by_hand = [Peer::Pword2vec, Peer::Yskip]
            .into_iter()
            .filter(|peer| !wanted.peers.contains(peer) && env::var_os(peer.variable()).is_some());
        for peer in wanted.peers.iter().copied().chain(by_hand) {
            match peer.prepare(wanted, folder) {
                Ok(contenders) => roster.contenders.extend(contenders),
                Err(error) => roster.missing.push(format!("{}: {error:#}", peer.name())),
            }
        }
        roster
    }
}

impl Peer {
    fn prepare(self, wanted: &Wanted, folder: &Path) -> Result<Vec<Contender>> {
        let passes = wanted.passes.iter().copied();
        Ok(match self {
            Self::Word2vec => {
                let program = Python::word2vec(folder)?;
                let mut contenders = Vec::new();
                for passes in passes {
                    for rate in wanted.word2vec_rates {
                        let (program, rate) = (program.clone(), rate.clone());
                        contenders.push(Contender::Word2vec { program, rate, passes });
                    }
                }
                contenders
            }
            Self::Gensim => {
                let python = Python::with_gensim(folder)?;
                let gensim =
                    |passes| Contender::Gensim { python: python.clone(), rate: GENSIM_RATE.into(), passes };
                passes.map(gensim).collect()
            }
            Self::Fasttext => {
                let python = Python::with_fasttext(folder)?;
                passes.map(|passes| Contender::Fasttext { python: python.clone(), passes }).collect()
            }
            Self::Pword2vec => {
                let program = built_by_hand(&self.variable())?;
                passes.map(|passes| Contender::Pword2vec { program: program.clone(), passes }).collect()
            }
            Self::Yskip => {
                let program = built_by_hand(&self.variable())?;
                vec![Contender::Yskip { program }]
            }
        })
    }

    /// The environment variable with the path of a manually built program.
    fn variable(self) -> String {
        format!("SKIPSTREAM_PEER_{}", self.name().to_uppercase())
    }

    fn name(self) -> &'static str {
        match self {
            Self::Word2vec => "word2vec",
            Self::Gensim => "gensim",
            Self::Fasttext => "fasttext",
            Self::Pword2vec => "pword2vec",
            Self::Yskip => "yskip",
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
