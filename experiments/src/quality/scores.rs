//! The scores of all cells, asked by method.

use std::path::Path;

use anyhow::{Result, ensure};
use skipstream::Vectors;

use super::{Method, Row, SCORES};
use crate::peers::setting::Setting;
use crate::record::read_rows;
use crate::scores::{Measure, Set};
use crate::statistics::Spread;

/// Twice its standard error is how far a difference may be from zero by chance, in nineteen cases of twenty.
const TOLERANCE: f64 = 2.0;

/// All rows of a run.
pub struct Scores {
    rows: Vec<Row>,
}

/// How much better one method is than another on a set, in points.
#[derive(Clone, Copy, Debug)]
pub struct Difference {
    pub mean: f64,
    /// Nothing if there are too few seeds to know it.
    pub standard_error: Option<f64>,
}

/// What a difference says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Ahead,
    Same,
    Behind,
    NotJudged,
}

impl Scores {
    /// Reads the scores over a share of the words.
    pub fn read(folder: &Path, scored_share: f64) -> Result<Self> {
        let mut rows: Vec<Row> = read_rows(&folder.join(SCORES))?;
        rows.retain(|row| row.scored_share == scored_share);
        ensure!(!rows.is_empty(), "{} has no rows", folder.join(SCORES).display());
        Ok(Self { rows })
    }

    /// The methods that were run with a setting, in the order of tables.
    pub fn methods(&self, setting: Setting) -> Vec<Method> {
        let was_run =
            |method: &Method| self.rows.iter().any(|row| row.setting == setting && row.method == *method);
        Method::ALL.into_iter().filter(was_run).collect()
    }

    /// Target plus context where the program gives both, as in the paper; otherwise targets.
    pub fn best_vectors(&self, method: Method) -> Vectors {
        let has_sums = self.rows.iter().any(|row| row.method == method && row.vectors == Vectors::Sum);
        if has_sums { Vectors::Sum } else { Vectors::Target }
    }

    /// Over the seeds.
    pub fn spread(
        &self,
        setting: Setting,
        method: Method,
        vectors: Vectors,
        set: Set,
        measure: Measure,
    ) -> Option<Spread> {
        let scores: Vec<f64> = self
            .of(setting, method)
            .filter(|row| row.vectors == vectors && row.set == set && row.measure == measure)
            .filter_map(|row| row.score)
            .collect();
        Spread::of(&scores)
    }

    /// What the paper reports of a method on a set.
    pub fn reported(&self, setting: Setting, method: Method, set: Set) -> Option<Spread> {
        self.spread(setting, method, self.best_vectors(method), set, set.measure())
    }

    /// The words known in the end, on average.
    pub fn vocabulary(&self, setting: Setting, method: Method) -> Option<f64> {
        let sizes: Vec<f64> = self.of(setting, method).map(|row| row.vocabulary as f64).collect();
        Spread::of(&sizes).map(|spread| spread.mean)
    }

    /// The words that were looked at.
    pub fn n_scored(&self, setting: Setting) -> usize {
        let row = self.rows.iter().find(|row| row.setting == setting);
        row.map_or(0, |row| row.scored_words)
    }

    /// The questions of a set that could be asked, and all of them.
    pub fn coverage(&self, setting: Setting, method: Method, set: Set) -> Option<(f64, usize)> {
        let of_set: Vec<&Row> = self.of(setting, method).filter(|row| row.set == set).collect();
        let used: Vec<f64> = of_set.iter().map(|row| row.used as f64).collect();
        Some((Spread::of(&used)?.mean, of_set[0].total))
    }

    /// The seeds that were run.
    pub fn n_seeds(&self) -> usize {
        let mut seeds: Vec<u32> = self.rows.iter().map(|row| row.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        seeds.len()
    }

    /// How much better `method` is than `other`: target plus context of both, or, where one of them does not give these,
    /// targets of both.
    pub fn difference(
        &self,
        setting: Setting,
        method: Method,
        other: Method,
        set: Set,
    ) -> Option<Difference> {
        let has_sums = [method, other].map(|method| self.best_vectors(method)) == [Vectors::Sum; 2];
        let vectors = if has_sums { Vectors::Sum } else { Vectors::Target };
        let spread = |method| self.spread(setting, method, vectors, set, set.measure());
        let (left, right) = (spread(method)?, spread(other)?);
        let variances = [(method, left), (other, right)]
            .map(|(method, spread)| Some(self.variance(setting, method, vectors, set)? / spread.n as f64));
        let standard_error = variances[0].zip(variances[1]).map(|(left, right)| (left + right).sqrt());
        Some(Difference { mean: left.mean - right.mean, standard_error })
    }

    /// The variance from seed to seed: pooled over our methods for one of ours, because three seeds of one tell little.
    fn variance(&self, setting: Setting, method: Method, vectors: Vectors, set: Set) -> Option<f64> {
        let alike: Vec<Method> = match method.is_ours() {
            true => Method::ALL.into_iter().filter(|method| method.is_ours()).collect(),
            false => vec![method],
        };
        let (mut squares, mut degrees) = (0.0, 0.0);
        for method in alike {
            if let Some(spread) = self.spread(setting, method, vectors, set, set.measure()) {
                squares += spread.deviation.powi(2) * (spread.n - 1) as f64;
                degrees += (spread.n - 1) as f64;
            }
        }
        (degrees > 0.0).then_some(squares / degrees)
    }

    fn of(&self, setting: Setting, method: Method) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.setting == setting && row.method == method)
    }
}

impl Difference {
    /// Whether it could be chance.
    pub fn verdict(&self) -> Verdict {
        let Some(standard_error) = self.standard_error else { return Verdict::NotJudged };
        let limit = TOLERANCE * standard_error;
        if self.mean > limit {
            Verdict::Ahead
        } else if self.mean < -limit {
            Verdict::Behind
        } else {
            Verdict::Same
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(method: Method, seed: u32, vectors: Vectors, score: f64) -> Row {
        Row {
            setting: Setting::Small,
            method,
            seed,
            max_vocabulary: Some(100),
            vocabulary: 90,
            scored_share: 0.6,
            scored_words: 60,
            vectors,
            set: Set::Men,
            measure: Measure::Spearman,
            score: Some(score),
            used: 5,
            total: 7,
        }
    }

    #[test]
    fn a_difference_is_held_against_the_pooled_spread() {
        use Method::{Batch, Incremental};
        let scores = Scores {
            rows: vec![
                row(Incremental, 1, Vectors::Sum, 60.0),
                row(Incremental, 2, Vectors::Sum, 62.0),
                row(Batch, 1, Vectors::Sum, 61.0),
                row(Batch, 2, Vectors::Sum, 61.0),
            ],
        };
        let difference = scores.difference(Setting::Small, Incremental, Batch, Set::Men).unwrap();
        // Deviations of √2 and 0 pool to 1.
        assert!((difference.standard_error.unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(difference.verdict(), Verdict::Same);
        let verdict = |mean| Difference { mean, standard_error: Some(1.0) }.verdict();
        assert_eq!((verdict(2.1), verdict(-2.1)), (Verdict::Ahead, Verdict::Behind));
        assert!(scores.difference(Setting::Paper, Incremental, Batch, Set::Men).is_none());
        assert_eq!(scores.coverage(Setting::Small, Batch, Set::Men), Some((5.0, 7)));
        assert_eq!(scores.n_seeds(), 2);
    }

    #[test]
    fn one_seed_is_not_judged() {
        use Method::{Batch, Incremental};
        let rows = vec![row(Incremental, 1, Vectors::Sum, 60.0), row(Batch, 1, Vectors::Sum, 50.0)];
        let difference = Scores { rows }.difference(Setting::Small, Incremental, Batch, Set::Men).unwrap();
        assert_eq!((difference.mean, difference.verdict()), (10.0, Verdict::NotJudged));
    }

    #[test]
    fn who_gives_targets_only_is_compared_with_targets() {
        use Method::{MiniBatch, Word2vec};
        let rows = vec![
            row(MiniBatch, 1, Vectors::Sum, 60.0),
            row(MiniBatch, 1, Vectors::Target, 40.0),
            row(Word2vec, 1, Vectors::Target, 30.0),
        ];
        let difference = Scores { rows }.difference(Setting::Small, MiniBatch, Word2vec, Set::Men).unwrap();
        assert_eq!(difference.mean, 10.0);
    }
}
