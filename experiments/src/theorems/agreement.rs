//! How measurements and theory go together: verdicts and slopes.

use super::datasets::Kind;
use super::difference::EXPONENTS;
use super::numbers::ratio;
use super::results::{Case, ENOUGH, Estimate, LogFit, Results};

/// Estimates that are this many standard errors away from theory, or fewer, agree with it. With the dozens of estimates
/// of this section, two standard errors are passed by chance.
pub const AGREES: f64 = 3.0;

/// What data say of a theory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Agrees,
    Contradicts,
    /// There is too little to judge by.
    NotMeasured,
}

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

    /// What the data say of the theory.
    pub fn verdict(&self) -> Verdict {
        match self.ratio {
            Some(ratio) if self.farthest <= AGREES && ratio.distance(1.0).abs() <= AGREES => Verdict::Agrees,
            Some(_) => Verdict::Contradicts,
            None => Verdict::NotMeasured,
        }
    }

    pub fn holds(&self) -> bool {
        self.verdict() == Verdict::Agrees
    }

    /// The verdict on a theory of this name in words, without a full stop.
    pub fn words(&self, theory: &str) -> String {
        match self.verdict() {
            Verdict::Agrees => format!("the data agree with {theory}: {}", self.describe()),
            Verdict::Contradicts => format!("the data contradict {theory}: {}", self.describe()),
            Verdict::NotMeasured => format!("{theory} is not judged: {}", self.describe()),
        }
    }

    /// The numbers behind the verdict.
    pub fn describe(&self) -> String {
        match self.ratio {
            Some(mean) => format!(
                "the ratio of measured to theoretical is {} over {} sizes, and the farthest is {:.1} standard errors away",
                ratio(mean),
                self.n,
                self.farthest
            ),
            None => format!("no size was measured with {ENOUGH} datasets or more"),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_measured_is_no_verdict() {
        let nothing = Agreement::new(&[], |case| case.theory.first);
        assert_eq!(nothing.verdict(), Verdict::NotMeasured);
        let words = nothing.words("Theorem 1");
        assert_eq!(words, "Theorem 1 is not judged: no size was measured with 20 datasets or more");
    }

    #[test]
    fn a_verdict_allows_three_standard_errors() {
        let at = |value: f64| {
            let ratio = Estimate { value, error: 0.1 };
            Agreement { ratio: Some(ratio), farthest: ratio.distance(1.0).abs(), n: 1 }
        };
        assert_eq!(at(1.2).verdict(), Verdict::Agrees);
        assert_eq!(at(0.6).verdict(), Verdict::Contradicts);
        assert!(at(0.6).words("Theorem 1").starts_with("the data contradict Theorem 1: the ratio"));
    }
}
