//! Where vectors came from.

use serde::{Deserialize, Serialize};

use super::Vectors;

/// Where vectors came from. It is saved with them, so that one can tell years later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The name of the file, without its folder.
    pub source: String,
    /// The file's format: `skipstream`, `word2vec-text` and so on.
    pub format: String,
    /// Which of a model's vectors were taken, where the file had several kinds.
    pub vectors: Option<Vectors>,
}
