//! How good a program's vectors are.

use std::path::Path;

use anyhow::{Context, Result};
use skipstream::Embeddings;
use skipstream::eval::{EvalOptions, Evaluator, Score, TestSet};
use skipstream::formats;

use experiments::peers::contender::Vectors;

/// Only so many words are looked at, the most frequent ones: programs differ in which rare ones they know.
const N_WORDS: usize = 30_000;

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
pub fn score(vectors: &Vectors, eval: &Path) -> Result<Scores> {
    let options = EvalOptions { restrict: Some(N_WORDS), ..EvalOptions::default() };
    let evaluator = Evaluator::new(&read(vectors)?, options)?;
    let percent = |name: &str| -> Result<f64> {
        let set = eval.join(name);
        let share = match evaluator.score(&TestSet::open(&set)?, &|_| ()) {
            Score::WordPairs(score) => score.spearman,
            Score::Analogies(scores) => scores.total.add_accuracy(),
        };
        Ok(100.0 * share.with_context(|| format!("too few words of {} are known", set.display()))?)
    };
    Ok(Scores {
        ws353: percent("ws353.tsv")?,
        men: percent("men.tsv")?,
        simlex: percent("simlex999.tsv")?,
        google: percent("google.txt")?,
    })
}

fn read(vectors: &Vectors) -> Result<Embeddings> {
    Ok(match vectors {
        Vectors::Binary(path) | Vectors::Text(path) => formats::load(path, skipstream::Vectors::default())?,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn perfect_vectors_have_perfect_scores() {
        let folder = tempfile::tempdir().unwrap();
        let pairs = "Paris\tRome\t9\nParis\tFrance\t5\nParis\tItaly\t1\n";
        for set in ["ws353.tsv", "men.tsv", "simlex999.tsv"] {
            fs::write(folder.path().join(set), pairs).unwrap();
        }
        fs::write(folder.path().join("google.txt"), ": capital\nParis France Rome Italy\n").unwrap();
        let path = folder.path().join("vectors.txt");
        let text = "4 3\nparis 1 0.2 0\nfrance 1 1.2 0\nrome 1 0.2 0.4\nitaly 1 1.2 0.4\n";
        fs::write(&path, text).unwrap();
        let scores = score(&Vectors::Text(path), folder.path()).unwrap();
        assert_eq!(scores, Scores { ws353: 100.0, men: 100.0, simlex: 100.0, google: 100.0 });
    }

    #[test]
    fn a_missing_test_set_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors.txt");
        fs::write(&path, "1 1\na 1\n").unwrap();
        let error = score(&Vectors::Text(path), folder.path()).unwrap_err();
        assert!(error.to_string().contains("ws353.tsv"), "{error}");
    }
}
