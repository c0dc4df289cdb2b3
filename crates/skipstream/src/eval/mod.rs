//! Scores of vectors: how well they agree with people, and how well they solve analogies.

mod analogies;
mod correlation;
mod pairs;
mod predict;

pub use analogies::{Analogies, AnalogyScore, AnalogyScores, Relation, SectionScore};
pub use correlation::{pearson, spearman};
pub use pairs::{PairScore, WordPair, WordPairs};

use serde::{Deserialize, Serialize};

/// No line of a test set is longer than this, in bytes.
const MAX_LINE_BYTES: usize = 1 << 16;

/// What to do with capital letters of a test set, which the vocabulary may not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Case {
    /// Look words up as they are written.
    #[default]
    Keep,
    /// Look words up in lower case.
    Lower,
}

impl Case {
    fn apply(self, word: &str) -> String {
        match self {
            Case::Keep => word.to_owned(),
            Case::Lower => word.to_lowercase(),
        }
    }
}
