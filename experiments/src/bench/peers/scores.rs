//! How good a program's vectors are.

use std::path::Path;

use crate::scores::{Measure, Set, score as score_sets};
use anyhow::{Context, Result};
use skipstream::{Vectors, formats};

/// Scores over the most frequent words, in per cent.
#[derive(Clone, Copy, Debug, PartialEq)]
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

/// Scores vectors, the most frequent word first, with the word pairs and analogies in the folder `eval`.
pub fn score(vectors: &Path, eval: &Path) -> Result<Scores> {
    let embeddings = formats::load(vectors, Vectors::default())?;
    let scores = score_sets(&embeddings, eval, &[Set::Ws353, Set::Men, Set::SimLex, Set::Google])?;
    let percent = |set: Set, measure: Measure| {
        let found = scores.iter().find(|score| score.set == set && score.measure == measure);
        found
            .and_then(|score| score.score)
            .with_context(|| format!("too few words of {} are known", set.name()))
    };
    Ok(Scores {
        ws353: percent(Set::Ws353, Measure::Spearman)?,
        men: percent(Set::Men, Measure::Spearman)?,
        simlex: percent(Set::SimLex, Measure::Spearman)?,
        google: percent(Set::Google, Measure::CosAdd)?,
    })
}
