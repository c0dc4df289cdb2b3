//! Scores of a program's vectors.

use std::path::Path;

use anyhow::Result;
use skipstream::{Vectors, formats};

use crate::scores::{Measure, Set, score as score_sets};

/// Over the most frequent words, in per cent, in the order of [`SETS`]; `None` if too few words are known.
pub type Scores = [Option<f64>; SETS.len()];

/// The test sets, with 3CosAdd for analogies.
pub const SETS: [Set; 4] = [Set::Ws353, Set::Men, Set::SimLex, Set::Google];

/// Scores a file of vectors on the test sets in the folder `eval`.
pub fn score(vectors: &Path, eval: &Path) -> Result<Scores> {
    let embeddings = formats::load(vectors, Vectors::default())?;
    let scores = score_sets(&embeddings, eval, &SETS)?;
    Ok(SETS.map(|set| {
        let found = scores.iter().find(|score| score.set == set && score.measure != Measure::CosMul);
        found.and_then(|score| score.score)
    }))
}
