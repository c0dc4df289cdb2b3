//! The compared methods.

use serde::{Deserialize, Serialize};

use crate::peers::contender::{Contender, Variant};
use crate::peers::installed::{FAST_RATE, Installed, RATE};
use crate::record::name_of;

/// A method of learning vectors.
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

    /// The name in rows and tables.
    pub fn name(self) -> String {
        name_of(&self)
    }

    /// Whether it is a method of skipstream.
    pub fn is_ours(self) -> bool {
        self.variant().is_some()
    }

    /// Number of passes over the text.
    pub fn passes(self) -> u32 {
        match self {
            Self::Word2vecFive | Self::GensimFive | Self::FasttextFive => 5,
            _ => 1,
        }
    }

    /// The vocabulary bound, for a text with `n_distinct` words, of which `n_frequent` are above the minimum count.
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
            // The text ends here, so the remaining words must be replayed.
            Self::MiniBatchReplay => Variant::Finish,
            Self::Batch => Variant::Batch,
            Self::OurWord2vec => Variant::Word2vec,
            _ => return None,
        })
    }

    /// The program of the method, if it is installed.
    pub fn contender(self, installed: &Installed) -> Option<Contender> {
        if let Some(variant) = self.variant() {
            return Some(installed.skipstream(variant));
        }
        let passes = self.passes();
        match self {
            Self::Word2vec | Self::Word2vecFive => installed.word2vec(RATE, passes),
            Self::Word2vecFast => installed.word2vec(FAST_RATE, passes),
            Self::Gensim | Self::GensimFive => installed.gensim(RATE, passes),
            Self::GensimFast => installed.gensim(FAST_RATE, passes),
            _ => installed.fasttext(passes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ours_have_a_bound_and_it_can_be_lowered() {
        let bound = |method: Method| method.max_vocabulary(5000, 1000);
        assert_eq!(bound(Method::Incremental), Some(1000));
        assert_eq!(bound(Method::IncrementalAll), Some(5000));
        assert_eq!(bound(Method::Incremental60), Some(600));
        assert_eq!(bound(Method::Incremental40), Some(400));
        assert_eq!(bound(Method::Gensim), None);
    }
}
