//! Scores of vectors on the five test sets of the paper.

use std::path::Path;

use anyhow::Result;
use serde::Serialize;
use skipstream::Embeddings;
use skipstream::eval::{EvalOptions, Evaluator, Score, TestSet};

/// Number of most frequent words that are scored, because programs differ in the rare words that they know.
pub const N_FREQUENT: usize = 30_000;

/// A test set of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Set {
    #[serde(rename = "WS353")]
    Ws353,
    #[serde(rename = "MEN")]
    Men,
    #[serde(rename = "SimLex-999")]
    SimLex,
    #[serde(rename = "MSR")]
    Msr,
    Google,
}

/// How a score is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Measure {
    /// Spearman's correlation with human judgment.
    Spearman,
    /// Share of analogies where the word nearest to b − a + c is correct.
    #[serde(rename = "3CosAdd")]
    CosAdd,
    /// The same with Levy and Goldberg's product, which the paper uses.
    #[serde(rename = "3CosMul")]
    CosMul,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SetScore {
    pub set: Set,
    pub measure: Measure,
    /// In per cent; `None` if too few questions were used.
    pub score: Option<f64>,
    /// The number of questions whose words are all known.
    pub used: usize,
    pub total: usize,
}

impl Set {
    pub const ALL: [Set; 5] = [Set::Ws353, Set::Men, Set::SimLex, Set::Msr, Set::Google];

    /// The name of the file in a folder of test sets.
    pub fn file(self) -> &'static str {
        match self {
            Self::Ws353 => "ws353.tsv",
            Self::Men => "men.tsv",
            Self::SimLex => "simlex999.tsv",
            Self::Msr => "msr.txt",
            Self::Google => "google.txt",
        }
    }

    /// The measure that the paper reports.
    pub fn measure(self) -> Measure {
        match self {
            Self::Ws353 | Self::Men | Self::SimLex => Measure::Spearman,
            Self::Msr | Self::Google => Measure::CosMul,
        }
    }
}

/// Scores the `n_words` most frequent words on sets in the folder `eval`, by every measure that applies.
pub fn score(n_words: usize, embeddings: &Embeddings, eval: &Path, sets: &[Set]) -> Result<Vec<SetScore>> {
    let options = EvalOptions { restrict: Some(n_words), ..EvalOptions::default() };
    let evaluator = Evaluator::new(embeddings, options)?;
    let mut scores = Vec::new();
    for &set in sets {
        let questions = TestSet::open(eval.join(set.file()))?;
        let mut push = |measure, share: Option<f64>, used, total| {
            scores.push(SetScore { set, measure, score: share.map(|share| 100.0 * share), used, total });
        };
        match evaluator.score(&questions, &|_| ()) {
            Score::WordPairs(score) => push(Measure::Spearman, score.spearman, score.used, score.total),
            Score::Analogies(scores) => {
                let total = scores.total;
                push(Measure::CosMul, total.multiply_accuracy(), total.used, total.total);
                push(Measure::CosAdd, total.add_accuracy(), total.used, total.total);
            }
        }
    }
    Ok(scores)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use skipstream::{Vectors, formats};

    use super::*;

    #[test]
    fn perfect_vectors_have_perfect_scores() {
        let folder = tempfile::tempdir().unwrap();
        let pairs = "Paris\tRome\t9\nParis\tFrance\t5\nParis\tItaly\t1\nParis\tAtlantis\t1\n";
        fs::write(folder.path().join("men.tsv"), pairs).unwrap();
        fs::write(folder.path().join("google.txt"), ": capital\nParis France Rome Italy\n").unwrap();
        let path = folder.path().join("vectors.txt");
        let text = "4 3\nparis 1 0.2 0\nfrance 1 1.2 0\nrome 1 0.2 0.4\nitaly 1 1.2 0.4\n";
        fs::write(&path, text).unwrap();
        let embeddings = formats::load(&path, Vectors::default()).unwrap();
        let scores = score(N_FREQUENT, &embeddings, folder.path(), &[Set::Men, Set::Google]).unwrap();
        let score = |set, measure, used, total| SetScore { set, measure, score: Some(100.0), used, total };
        assert_eq!(
            scores,
            [
                score(Set::Men, Measure::Spearman, 3, 4),
                score(Set::Google, Measure::CosMul, 1, 1),
                score(Set::Google, Measure::CosAdd, 1, 1),
            ]
        );
    }

    #[test]
    fn a_missing_test_set_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors.txt");
        fs::write(&path, "1 1\na 1\n").unwrap();
        let embeddings = formats::load(&path, Vectors::default()).unwrap();
        let error = score(N_FREQUENT, &embeddings, folder.path(), &[Set::Ws353]).unwrap_err();
        assert!(error.to_string().contains("ws353.tsv"), "{error}");
    }
}
