//! Where vectors came from.

use serde::{Deserialize, Serialize};

use super::Vectors;

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
