//! Which of a model's vectors to use, and where vectors came from.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Which vectors of a trained model to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Vectors {
    /// The vectors of words as targets, word2vec's usual output.
    Target,
    /// The vectors of words as contexts.
    Context,
    /// Target plus context, which the paper evaluates.
    Sum,
    /// Target and context, one after the other, each minus three quarters of the mean of its kind over all words: twice
    /// the dimensions. The sum loses what distinguishes the two, which analogies need.
    Joined,
}

impl Vectors {
    /// The kind that is used unless another is asked for.
    pub const DEFAULT: Vectors = Vectors::Sum;

    /// All kinds.
    pub const ALL: [Vectors; 4] = [Vectors::Sum, Vectors::Joined, Vectors::Target, Vectors::Context];

    /// The names of all kinds.
    pub const NAMES: [&str; 4] = {
        let mut names = [""; 4];
        let mut place = 0;
        while place < names.len() {
            names[place] = Vectors::ALL[place].name();
            place += 1;
        }
        names
    };

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Vectors::Target => "target",
            Vectors::Context => "context",
            Vectors::Sum => "sum",
            Vectors::Joined => "joined",
        }
    }

    /// Whether a share of the mean over all words is subtracted from every vector.
    pub(crate) const fn is_centered(self) -> bool {
        matches!(self, Vectors::Joined)
    }

    /// The length of a vector of this kind, in a model with these dimensions.
    pub const fn dimensions(self, of_model: usize) -> usize {
        match self {
            Vectors::Target | Vectors::Context | Vectors::Sum => of_model,
            Vectors::Joined => 2 * of_model,
        }
    }
}

/// Where vectors came from. It is saved with them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The name of the file, without its folder.
    pub source: String,
    /// The file's format: `skipstream`, `word2vec-text` and so on.
    pub format: String,
    /// Which of a model's vectors these are, if the file had several kinds.
    pub vectors: Option<Vectors>,
}

impl Default for Vectors {
    fn default() -> Vectors {
        Vectors::DEFAULT
    }
}

impl fmt::Display for Vectors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Vectors {
    type Err = Error;

    fn from_str(name: &str) -> Result<Vectors> {
        let found = Vectors::ALL.into_iter().find(|vectors| vectors.name() == name);
        found.ok_or_else(|| Error::setting("vectors", format!("`{name}`"), "sum, joined, target or context"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_the_same_as_text_and_as_json() {
        for (vectors, listed) in Vectors::ALL.into_iter().zip(Vectors::NAMES) {
            let name = vectors.to_string();
            assert_eq!(name, listed);
            assert_eq!(name.parse::<Vectors>().unwrap(), vectors);
            assert_eq!(serde_json::to_string(&vectors).unwrap(), format!("\"{name}\""));
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_possible_ones() {
        let message = "both".parse::<Vectors>().unwrap_err().to_string();
        assert_eq!(message, "vectors is `both`; it must be sum, joined, target or context");
    }
}
