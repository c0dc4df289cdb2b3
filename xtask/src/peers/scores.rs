//! How good a program's vectors are.

use std::path::Path;

use anyhow::{Result, bail};

/// Scores over the 30,000 most frequent words, in per cent.
#[derive(Clone, Copy)]
pub struct Scores {
    /// Spearman's correlation with WS353.
    pub ws353: f64,
    /// Spearman's correlation with MEN.
    pub men: f64,
    /// Spearman's correlation with SimLex-999.
    pub simlex: f64,
    /// Accuracy on Google's analogies, by 3CosAdd.
    pub google: f64,
}

/// Scores `vectors`, a file in word2vec's text or binary format with the most frequent word
/// first, with the word pairs and analogies in the folder `eval`.
pub fn score(vectors: &Path, eval: &Path) -> Result<Scores> {
    bail!("scoring {} with {} waits for the library's evaluation", vectors.display(), eval.display())
}
