//! How measurements and theory go together: verdicts and slopes.

use super::datasets::Kind;
use super::difference::EXPONENTS;
use super::numbers::ratio;
use super::results::{Case, Estimate, LogFit, Results};

/// Estimates that are this many standard errors away from theory, or fewer, agree with it. With the dozens of estimates
/// of this section, two standard errors are passed by chance.
pub const AGREES: f64 = 3.0;

/// How estimates and a theory without free parameters go together.
pub struct Agreement {
    /// The mean of the ratios.
    ratio: Option<Estimate>,
    /// In standard errors.
    pub farthest: f64,
    n: usize,
}

impl Agreement {
    pub fn new(cases: &[&Case], theory: impl Fn(&Case) -> Option<f64>) -> Self {
        Self::of(cases, Case::first, theory)
    }

    pub fn of(
        cases: &[&Case],
        measured: impl Fn(&Case) -> Estimate,
        theory: impl Fn(&Case) -> Option<f64>,
    ) -> Self {
        let pairs: Vec<(Estimate, f64)> =
            cases.iter().filter_map(|case| Some((measured(case), theory(case)?))).collect();
        let ratios: Vec<Estimate> = pairs.iter().map(|(found, theory)| found.over(*theory)).collect();
        let distances: Vec<f64> = pairs.iter().map(|(found, theory)| found.distance(*theory).abs()).collect();
        Self { ratio: Estimate::mean(&ratios), farthest: greatest(&distances), n: pairs.len() }
    }

    pub fn holds(&self) -> bool {
        let mean = self.ratio.is_some_and(|ratio| ratio.distance(1.0).abs() <= AGREES);
        self.n > 0 && self.farthest <= AGREES && mean
    }

    pub fn describe(&self) -> String {
        let mean = self.ratio.map_or("–".into(), ratio);
        format!(
            "the ratio of measured to theoretical is {mean} over {} sizes, and the farthest is {:.1} standard errors away",
            self.n, self.farthest
        )
    }
}

/// Of the first moment against log(n)/n.
pub fn slope(cases: &[&Case]) -> Option<Estimate> {
    let sign = cases.last()?.theory.theorem.signum();
    let rate = |n: usize| (n as f64).ln() / n as f64;
    let points = cases.iter().map(|case| (rate(case.moments.n), case.first().over(sign)));
    LogFit::new(points).map(|fit| fit.slope)
}

/// What theory says of the same, weighted in the same way.
pub fn theoretical_slope(cases: &[&Case]) -> Option<f64> {
    let sign = cases.last()?.theory.theorem.signum();
    let points = cases.iter().filter_map(|case| {
        let (first, n) = (case.first(), case.moments.n as f64);
        let value = sign * case.theory.first?;
        Some((n.ln() / n, Estimate { value, error: (first.error / first.value * value).abs() }))
    });
    LogFit::new(points).map(|fit| fit.slope.value)
}

/// Of the second moment of independent words against n.
pub fn second_slope(results: &Results) -> Option<Estimate> {
    let cases = results.judged(Kind::Independent, EXPONENTS[0], 1);
    LogFit::new(cases.iter().map(|case| (case.moments.n as f64, case.second()))).map(|fit| fit.slope)
}

/// The slope of log(log(n)/n) against log n, between the ends of our sizes.
pub fn rate_slope(results: &Results) -> f64 {
    let cases = results.judged(Kind::Independent, EXPONENTS[0], 1);
    let (Some(first), Some(last)) = (cases.first(), cases.last()) else { return f64::NAN };
    let [first, last] = [first, last].map(|case| (case.moments.n as f64).ln());
    ((last / first).ln() - (last - first)) / (last - first)
}

pub fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

pub fn greatest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}
