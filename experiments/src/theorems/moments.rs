//! Moments of ΔL over datasets, and their theoretical values.

use serde::{Deserialize, Serialize};
use statrs::statistics::Statistics;

use super::datasets::Kind;
use super::difference::Difference;

/// A θ, a kind of dataset, an exponent, a batch size and a number of words.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct Case {
    pub theta: u64,
    pub kind: Kind,
    pub exponent: f64,
    /// The size of the mini-batches; 1 is incremental.
    pub batch: usize,
    /// The words of a dataset.
    pub n: usize,
}

/// What the constants of the theory depend on.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct Constant {
    pub theta: u64,
    pub kind: Kind,
    pub exponent: f64,
}

/// The measured values of a case.
#[derive(Serialize)]
pub struct Moments {
    datasets: usize,
    /// The mean of ΔL, and its standard error.
    first: f64,
    first_error: f64,
    /// The mean of ΔL minus its linear part, and its standard error.
    rest: f64,
    rest_error: f64,
    /// The mean of ΔL².
    second: f64,
    second_error: f64,
    /// The mean of the linear part alone.
    linear: f64,
    linear_error: f64,
}

/// The theoretical values of a case.
#[derive(Serialize)]
pub struct Theory {
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

impl Moments {
    pub fn new(differences: &[Difference]) -> Self {
        let spread = |value: &dyn Fn(&Difference) -> f64| {
            let values: Vec<f64> = differences.iter().map(value).collect();
            (values.as_slice().mean(), standard_error(&values))
        };
        let (first, first_error) = spread(&|difference| difference.whole);
        let (rest, rest_error) = spread(&|difference| difference.whole - difference.linear);
        let (second, second_error) = spread(&|difference| difference.whole * difference.whole);
        let (linear, linear_error) = spread(&|difference| difference.linear);
        let datasets = differences.len();
        Self { datasets, first, first_error, rest, rest_error, second, second_error, linear, linear_error }
    }
}

pub fn standard_error(values: &[f64]) -> f64 {
    values.std_dev() / (values.len() as f64).sqrt()
}
