//! Moments of ΔL over datasets, and their theoretical values.

use serde::{Deserialize, Serialize};
use statrs::statistics::Statistics;

use super::datasets::{Kind, Sample};
use super::difference::Difference;

/// One kind, size, exponent and batch size.
#[derive(Serialize, Deserialize, Clone, Copy, Debug)]
pub struct Moments {
    pub theta: u64,
    pub kind: Kind,
    pub exponent: f64,
    /// The size of the mini-batches; 1 is incremental.
    pub batch: usize,
    /// The words of a dataset.
    pub n: usize,
    pub datasets: usize,
    /// The mean of ΔL, and its standard error.
    pub first: f64,
    pub first_error: f64,
    /// The mean of ΔL minus its linear part, and its standard error.
    pub rest: f64,
    pub rest_error: f64,
    /// The mean of ΔL².
    pub second: f64,
    pub second_error: f64,
    /// The mean of the linear part alone.
    pub linear: f64,
    pub linear_error: f64,
}

/// The theoretical values of a case.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Theory {
    pub theta: u64,
    pub kind: Kind,
    pub exponent: f64,
    pub batch: usize,
    pub n: usize,
    /// The first moment by Theorem 1 (for mini-batches, appendix D; for other exponents than 1, appendix C's first order).
    pub theorem: f64,
    /// The same with the second order of the expansion.
    pub second_order: f64,
    /// The expected first moment of this kind of dataset, with correlations in pieces and all orders of the expansion.
    pub first: Option<f64>,
    /// The expectation of the linear part.
    pub linear: f64,
    pub second: Option<f64>,
}

/// The constants of the theory, which generalise Theorem 1's Σρψ.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Constants {
    pub theta: u64,
    pub kind: Kind,
    pub exponent: f64,
    /// Σρψ, or appendix C's for other exponents than 1.
    pub covariance: f64,
    /// The second order of the expansion.
    pub curvature: f64,
    /// Covariances with earlier words of the same piece.
    pub earlier: f64,
    /// Covariances with later words of the same piece.
    pub later: f64,
    /// The effect of beginning with a whole piece and cutting the last one.
    pub cut: f64,
    /// The variance of the linear part: the second moment is about (2ck)² times this, divided by n.
    pub variance: f64,
    /// Mean number of words per piece.
    pub mean_length: f64,
}

impl Moments {
    /// The moments of a sample.
    pub fn new(
        theta: u64,
        sample: Sample,
        (exponent, batch): (f64, usize),
        differences: &[Difference],
    ) -> Self {
        let spread = |value: &dyn Fn(&Difference) -> f64| {
            let values: Vec<f64> = differences.iter().map(value).collect();
            (values.as_slice().mean(), standard_error(&values))
        };
        let (first, first_error) = spread(&|difference| difference.whole);
        let (rest, rest_error) = spread(&|difference| difference.whole - difference.linear);
        let (second, second_error) = spread(&|difference| difference.whole * difference.whole);
        let (linear, linear_error) = spread(&|difference| difference.linear);
        Self {
            theta,
            kind: sample.kind,
            exponent,
            batch,
            n: sample.n,
            datasets: sample.datasets,
            first,
            first_error,
            rest,
            rest_error,
            second,
            second_error,
            linear,
            linear_error,
        }
    }
}

pub fn standard_error(values: &[f64]) -> f64 {
    values.std_dev() / (values.len() as f64).sqrt()
}
