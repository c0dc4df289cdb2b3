//! The scores of all cells, asked by method.

use std::path::Path;

use anyhow::{Result, ensure};
use skipstream::Vectors;

use super::{Method, Row, SCORES};
use crate::peers::setting::Setting;
use crate::record::read_rows;
use crate::scores::{Measure, Set};
use crate::statistics::Spread;

/// Twice its standard error is how far a difference may be from zero by chance.
const TOLERANCE: f64 = 2.0;

/// All rows of a run.
pub struct Scores {
    rows: Vec<Row>,
}

/// How much better one method is than another on a set, in points.
#[derive(Clone, Copy, Debug)]
pub struct Difference {
    pub mean: f64,
    pub standard_error: f64,
}

/// What a difference says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Ahead,
    Same,
    Behind,
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

    /// The deviation from seed to seed on a set, pooled over our methods, because three seeds of one tell little.
    pub fn pooled_deviation(&self, setting: Setting, set: Set) -> f64 {
        let (mut squares, mut degrees) = (0.0, 0.0);
        for method in Method::ALL.into_iter().filter(|method| method.is_ours()) {
            if let Some(spread) = self.reported(setting, method, set) {
                let degrees_here = (spread.n - 1) as f64;
                squares += spread.deviation.powi(2) * degrees_here;
                degrees += degrees_here;
            }
        }
        if degrees > 0.0 { f64::sqrt(squares / degrees) } else { 0.0 }
    }

    /// How much better `method` is than `other`.
    pub fn difference(
        &self,
        setting: Setting,
        method: Method,
        other: Method,
        set: Set,
    ) -> Option<Difference> {
        let (left, right) = (self.reported(setting, method, set)?, self.reported(setting, other, set)?);
        let per_run = 1.0 / left.n as f64 + 1.0 / right.n as f64;
        let standard_error = self.pooled_deviation(setting, set) * per_run.sqrt();
        Some(Difference { mean: left.mean - right.mean, standard_error })
    }

    fn of(&self, setting: Setting, method: Method) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.setting == setting && row.method == method)
    }
}

impl Difference {
    /// Whether it could be chance.
    pub fn verdict(&self) -> Verdict {
        let limit = TOLERANCE * self.standard_error;
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

    fn scores(values: &[(Method, u32, f64)]) -> Scores {
        let row = |&(method, seed, score): &(Method, u32, f64)| Row {
            setting: Setting::Small,
            method,
            seed,
            max_vocabulary: Some(100),
            vocabulary: 90,
            scored_share: 0.6,
            scored_words: 60,
            vectors: Vectors::Sum,
            set: Set::Men,
            measure: Measure::Spearman,
            score: Some(score),
            used: 5,
            total: 7,
        };
        Scores { rows: values.iter().map(row).collect() }
    }

    #[test]
    fn a_difference_is_held_against_the_pooled_spread() {
        use Method::{Batch, Incremental};
        let scores =
            scores(&[(Incremental, 1, 60.0), (Incremental, 2, 62.0), (Batch, 1, 61.0), (Batch, 2, 61.0)]);
        let deviation = scores.pooled_deviation(Setting::Small, Set::Men);
        assert!((deviation - 1.0).abs() < 1e-12, "of deviations √2 and 0: {deviation}");
        let difference = scores.difference(Setting::Small, Incremental, Batch, Set::Men).unwrap();
        assert!((difference.standard_error - 1.0).abs() < 1e-12);
        assert_eq!(difference.verdict(), Verdict::Same);
        let verdict = |mean| Difference { mean, standard_error: 1.0 }.verdict();
        assert_eq!((verdict(2.1), verdict(-2.1)), (Verdict::Ahead, Verdict::Behind));
        assert!(scores.difference(Setting::Paper, Incremental, Batch, Set::Men).is_none());
        assert_eq!(scores.coverage(Setting::Small, Batch, Set::Men), Some((5.0, 7)));
    }
}
