//! What was measured, beside what theory says of it, as the report needs it.

use std::path::Path;

use anyhow::{Context, Result};

use super::datasets::Kind;
use super::moments::{Constants, Moments, Theory};
use super::{CONSTANTS, MOMENTS, THEORY};
use crate::record::read_rows;

/// With fewer datasets, a standard error is itself too uncertain to judge by.
pub const ENOUGH: usize = 20;

/// The rows of a folder.
pub struct Results {
    cases: Vec<Case>,
    pub constants: Vec<Constants>,
    /// The θ of most rows.
    pub theta: u64,
}

/// One kind, size, exponent and batch size.
pub struct Case {
    pub moments: Moments,
    pub theory: Theory,
}

/// A value and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub value: f64,
    pub error: f64,
}

impl Results {
    /// Reads what is there. A case without theory, of a run that is under way, is left out.
    pub fn read(folder: &Path) -> Result<Self> {
        let moments: Vec<Moments> = read_rows(&folder.join(MOMENTS))?;
        let theory: Vec<Theory> = read_rows(&folder.join(THEORY))?;
        let constants: Vec<Constants> = read_rows(&folder.join(CONSTANTS))?;
        let theta = moments.first().context("nothing was measured yet")?.theta;
        let cases = moments
            .into_iter()
            .filter_map(|moments| {
                let of = |theory: &&Theory| {
                    (theory.theta, theory.kind, theory.batch, theory.n)
                        == (moments.theta, moments.kind, moments.batch, moments.n)
                        && theory.exponent == moments.exponent
                };
                theory.iter().find(of).map(|theory| Case { moments, theory: theory.clone() })
            })
            .collect();
        Ok(Self { cases, constants, theta })
    }

    /// The cases of the main θ, from few words to many, where ΔL is not zero by definition.
    pub fn cases(&self, kind: Kind, exponent: f64, batch: usize) -> Vec<&Case> {
        let mut cases: Vec<_> = self
            .cases
            .iter()
            .filter(|Case { moments, .. }| {
                (moments.theta, moments.kind, moments.batch) == (self.theta, kind, batch)
                    && moments.exponent == exponent
                    && moments.n > batch
            })
            .collect();
        cases.sort_by_key(|case| case.moments.n);
        cases
    }

    /// Those of them with enough datasets for a verdict.
    pub fn judged(&self, kind: Kind, exponent: f64, batch: usize) -> Vec<&Case> {
        let mut cases = self.cases(kind, exponent, batch);
        cases.retain(|case| case.moments.datasets >= ENOUGH);
        cases
    }

    /// Independent words and every θ, at the one size that all have been measured at.
    pub fn thetas(&self, exponent: f64) -> Vec<&Case> {
        let other = self.cases.iter().find(|case| case.moments.theta != self.theta);
        let n = other.map_or(0, |case| case.moments.n);
        let mut cases: Vec<_> = self
            .cases
            .iter()
            .filter(|Case { moments, .. }| {
                (moments.kind, moments.batch, moments.n) == (Kind::Independent, 1, n)
                    && moments.exponent == exponent
            })
            .collect();
        cases.sort_by_key(|case| case.moments.theta);
        cases
    }

    /// The constants of a kind for the main θ.
    pub fn constants(&self, kind: Kind, exponent: f64) -> Option<&Constants> {
        self.constants
            .iter()
            .find(|row| (row.theta, row.kind) == (self.theta, kind) && row.exponent == exponent)
    }
}

impl Case {
    /// The mean of ΔL.
    pub fn plain(&self) -> Estimate {
        Estimate { value: self.moments.first, error: self.moments.first_error }
    }

    /// The first moment: the mean of ΔL with the noise of its linear part taken away.
    pub fn first(&self) -> Estimate {
        Estimate { value: self.moments.rest + self.theory.linear, error: self.moments.rest_error }
    }

    pub fn second(&self) -> Estimate {
        Estimate { value: self.moments.second, error: self.moments.second_error }
    }
}

impl Estimate {
    /// Divided by a known number.
    pub fn over(self, known: f64) -> Self {
        Self { value: self.value / known, error: (self.error / known).abs() }
    }

    /// How many standard errors it is away from a known number.
    pub fn distance(self, known: f64) -> f64 {
        (self.value - known) / self.error
    }

    /// The mean of independent estimates, weighted by their precision.
    pub fn mean(estimates: &[Self]) -> Option<Self> {
        let weight = |estimate: &Self| estimate.error.powi(-2);
        let total: f64 = estimates.iter().map(weight).sum();
        let sum: f64 = estimates.iter().map(|estimate| weight(estimate) * estimate.value).sum();
        (total > 0.0 && total.is_finite()).then(|| Self { value: sum / total, error: total.sqrt().recip() })
    }
}

/// A line through the logarithms of estimates, weighted by their precision.
#[derive(Clone, Copy, Debug)]
pub struct LogFit {
    pub slope: Estimate,
    /// y = factor · x, if the slope is held at one.
    pub factor: f64,
}

impl LogFit {
    /// Through the points that are above zero, if there are two.
    pub fn new(points: impl IntoIterator<Item = (f64, Estimate)>) -> Option<Self> {
        let points: Vec<(f64, f64, f64)> = points
            .into_iter()
            .filter(|(_, y)| y.value > 0.0 && y.error > 0.0)
            .map(|(x, y)| (x.ln(), y.value.ln(), (y.value / y.error).powi(2)))
            .collect();
        if points.len() < 2 {
            return None;
        }
        let total: f64 = points.iter().map(|point| point.2).sum();
        let mean = |value: &dyn Fn(&(f64, f64, f64)) -> f64| {
            points.iter().map(|point| point.2 * value(point)).sum::<f64>() / total
        };
        let (x, y) = (mean(&|point| point.0), mean(&|point| point.1));
        let spread = mean(&|point| (point.0 - x).powi(2));
        let slope = mean(&|point| (point.0 - x) * (point.1 - y)) / spread;
        let error = (total * spread).sqrt().recip();
        Some(Self { slope: Estimate { value: slope, error }, factor: (y - x).exp() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_law_is_found() {
        let points = [10.0, 100.0, 1000.0, 10_000.0f64].map(|x| {
            let value = 3.0 * x.powf(-0.5);
            (x, Estimate { value, error: 0.1 * value })
        });
        let fit = LogFit::new(points).unwrap();
        assert!((fit.slope.value + 0.5).abs() < 1e-12);
        // Four points with an error of 0.1, at 1, 2, 3 and 4 times log 10.
        let error = 0.1 / (5f64.sqrt() * 10f64.ln());
        assert!((fit.slope.error - error).abs() < 1e-12);
        let line = points.map(|(_, y)| (y.value, Estimate { value: 7.0 * y.value, error: y.error }));
        assert!((LogFit::new(line).unwrap().factor - 7.0).abs() < 1e-12);
    }

    #[test]
    fn precise_estimates_weigh_more() {
        let mean = Estimate::mean(&[
            Estimate { value: 1.0, error: 1.0 },
            Estimate { value: 4.0, error: 2f64.sqrt() },
        ]);
        let mean = mean.unwrap();
        assert!((mean.value - 2.0).abs() < 1e-12 && (mean.error - 1.5f64.sqrt().recip()).abs() < 1e-12);
        assert_eq!(Estimate::mean(&[]), None);
    }
}
