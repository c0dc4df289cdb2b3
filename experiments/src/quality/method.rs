//! The methods that are compared.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::peers::contender::{Contender, Variant};
use crate::peers::python::Python;

/// A way to learn vectors. In rows it is known by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Method {
    #[serde(rename = "incremental")]
    Incremental,
    #[serde(rename = "incremental, all words")]
    IncrementalAll,
    #[serde(rename = "incremental, 60 % vocabulary")]
    Incremental60,
    #[serde(rename = "incremental, 40 % vocabulary")]
    Incremental40,
    #[serde(rename = "mini-batch")]
    MiniBatch,
    #[serde(rename = "mini-batch with replay")]
    MiniBatchReplay,
    #[serde(rename = "batch")]
    Batch,
    #[serde(rename = "word2vec (ours)")]
    OurWord2vec,
    #[serde(rename = "word2vec.c, 1 pass")]
    Word2vec,
    #[serde(rename = "word2vec.c, 1 pass at 0.1")]
    Word2vecFast,
    #[serde(rename = "word2vec.c, 5 passes")]
    Word2vecFive,
    #[serde(rename = "gensim, 1 pass")]
    Gensim,
    #[serde(rename = "gensim, 1 pass at 0.1")]
    GensimFast,
    #[serde(rename = "gensim, 5 passes")]
    GensimFive,
    #[serde(rename = "fastText, 1 pass")]
    Fasttext,
    #[serde(rename = "fastText, 5 passes")]
    FasttextFive,
}

/// The learning rate that word2vec.c and gensim take by default, and one that is better for a single pass.
const RATE: &str = "0.025";
const FAST_RATE: &str = "0.1";

impl Method {
    /// In the order of tables and figures.
    pub const ALL: [Method; 16] = [
        Method::Incremental,
        Method::IncrementalAll,
        Method::Incremental60,
        Method::Incremental40,
        Method::MiniBatch,
        Method::MiniBatchReplay,
        Method::Batch,
        Method::OurWord2vec,
        Method::Word2vec,
        Method::Word2vecFast,
        Method::Word2vecFive,
        Method::Gensim,
        Method::GensimFast,
        Method::GensimFive,
        Method::Fasttext,
        Method::FasttextFive,
    ];

    /// The name in tables, figures and rows.
    pub fn name(self) -> &'static str {
        match self {
            Self::Incremental => "incremental",
            Self::IncrementalAll => "incremental, all words",
            Self::Incremental60 => "incremental, 60 % vocabulary",
            Self::Incremental40 => "incremental, 40 % vocabulary",
            Self::MiniBatch => "mini-batch",
            Self::MiniBatchReplay => "mini-batch with replay",
            Self::Batch => "batch",
            Self::OurWord2vec => "word2vec (ours)",
            Self::Word2vec => "word2vec.c, 1 pass",
            Self::Word2vecFast => "word2vec.c, 1 pass at 0.1",
            Self::Word2vecFive => "word2vec.c, 5 passes",
            Self::Gensim => "gensim, 1 pass",
            Self::GensimFast => "gensim, 1 pass at 0.1",
            Self::GensimFive => "gensim, 5 passes",
            Self::Fasttext => "fastText, 1 pass",
            Self::FasttextFive => "fastText, 5 passes",
        }
    }

    /// Whether skipstream learns it.
    pub fn is_ours(self) -> bool {
        self.variant().is_some()
    }

    /// How often it goes over the text.
    pub fn passes(self) -> u32 {
        match self {
            Self::Word2vecFive | Self::GensimFive | Self::FasttextFive => 5,
            _ => 1,
        }
    }

    /// The bound on the vocabulary, for a text with so many words in all, and so many that are as frequent as the others'
    /// threshold asks.
    pub fn max_vocabulary(self, n_distinct: u32, n_frequent: u32) -> Option<u32> {
        let share = |share: f64| (share * f64::from(n_frequent)).round() as u32;
        let bound = match self {
            Self::IncrementalAll => n_distinct,
            Self::Incremental60 => share(0.6),
            Self::Incremental40 => share(0.4),
            _ => n_frequent,
        };
        self.is_ours().then_some(bound)
    }

    fn variant(self) -> Option<Variant> {
        Some(match self {
            Self::Incremental | Self::IncrementalAll | Self::Incremental60 | Self::Incremental40 => {
                Variant::Incremental
            }
            Self::MiniBatch => Variant::NoReplays,
            // The text ends here, so what waits for its replay must not be left out.
            Self::MiniBatchReplay => Variant::Finish,
            Self::Batch => Variant::Batch,
            Self::OurWord2vec => Variant::Word2vec,
            _ => return None,
        })
    }
}

/// The programs that are there.
pub struct Programs {
    skipstream: PathBuf,
    word2vec: Result<PathBuf>,
    gensim: Result<Python>,
    fasttext: Result<Python>,
}

impl Programs {
    /// Installs the peers in a folder; one that cannot be had is left out.
    pub fn prepare(skipstream: PathBuf, folder: &Path) -> Self {
        Self {
            skipstream,
            word2vec: Python::word2vec(folder),
            gensim: Python::with_gensim(folder),
            fasttext: Python::with_fasttext(folder),
        }
    }

    /// A line for each program that could not be had.
    pub fn missing(&self) -> impl Iterator<Item = String> {
        let reasons = [
            ("word2vec.c", self.word2vec.as_ref().err()),
            ("gensim", self.gensim.as_ref().err()),
            ("fastText", self.fasttext.as_ref().err()),
        ];
        reasons.into_iter().filter_map(|(name, error)| error.map(|error| format!("{name}: {error:#}")))
    }

    /// The program of a method, if it is there.
    pub fn contender(&self, method: Method) -> Option<Contender> {
        if let Some(variant) = method.variant() {
            return Some(Contender::Skipstream { program: self.skipstream.clone(), variant });
        }
        let passes = method.passes();
        let word2vec = |rate: &str| {
            let program = self.word2vec.as_ref().ok()?.clone();
            Some(Contender::Word2vec { program, rate: rate.into(), passes })
        };
        let gensim = |rate: &str| {
            let python = self.gensim.as_ref().ok()?.clone();
            Some(Contender::Gensim { python, rate: rate.into(), passes })
        };
        match method {
            Method::Word2vec | Method::Word2vecFive => word2vec(RATE),
            Method::Word2vecFast => word2vec(FAST_RATE),
            Method::Gensim | Method::GensimFive => gensim(RATE),
            Method::GensimFast => gensim(FAST_RATE),
            Method::Fasttext | Method::FasttextFive => {
                let python = self.fasttext.as_ref().ok()?.clone();
                Some(Contender::Fasttext { python, passes })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_is_written_by_its_name() {
        for method in Method::ALL {
            assert_eq!(serde_json::to_value(method).unwrap(), method.name());
        }
    }

    #[test]
    fn only_ours_have_a_bound_and_it_can_be_lowered() {
        let bound = |method: Method| method.max_vocabulary(5000, 1000);
        assert_eq!(bound(Method::Incremental), Some(1000));
        assert_eq!(bound(Method::IncrementalAll), Some(5000));
        assert_eq!(bound(Method::Incremental60), Some(600));
        assert_eq!(bound(Method::Incremental40), Some(400));
        assert_eq!(bound(Method::Gensim), None);
    }

    #[test]
    fn a_program_that_is_missing_is_said_and_its_methods_left_out() {
        let programs = Programs {
            skipstream: "skipstream".into(),
            word2vec: Err(anyhow::anyhow!("no compiler")),
            gensim: Err(anyhow::anyhow!("no network")),
            fasttext: Err(anyhow::anyhow!("no network")),
        };
        assert_eq!(programs.missing().next().unwrap(), "word2vec.c: no compiler");
        let there: Vec<Method> =
            Method::ALL.into_iter().filter(|&method| programs.contender(method).is_some()).collect();
        assert!(there.iter().all(|method| method.is_ours()) && there.len() == 8);
    }
}
