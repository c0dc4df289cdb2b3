//! Which of a model's vectors to use, and where vectors came from.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Which vectors of a trained model to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Vectors {
    /// The vectors of words as targets, word2vec's usual output.
    Target,
    /// The vectors of words as contexts.
    Context,
    /// Target plus context, which the paper evaluates.
    #[default]
    Sum,
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

impl fmt::Display for Vectors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Vectors::Target => "target",
            Vectors::Context => "context",
            Vectors::Sum => "sum",
        })
    }
}

impl FromStr for Vectors {
    type Err = Error;

    fn from_str(name: &str) -> Result<Vectors> {
        match name {
            "target" => Ok(Vectors::Target),
            "context" => Ok(Vectors::Context),
            "sum" => Ok(Vectors::Sum),
            _ => Err(Error::setting("vectors", format!("`{name}`"), "target, context or sum")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_the_same_as_text_and_as_json() {
        for vectors in [Vectors::Target, Vectors::Context, Vectors::Sum] {
            let name = vectors.to_string();
            assert_eq!(name.parse::<Vectors>().unwrap(), vectors);
            assert_eq!(serde_json::to_string(&vectors).unwrap(), format!("\"{name}\""));
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_possible_ones() {
        let message = "both".parse::<Vectors>().unwrap_err().to_string();
        assert_eq!(message, "vectors is `both`; it must be target, context or sum");
    }
}
