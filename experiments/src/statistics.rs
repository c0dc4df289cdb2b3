//! Means, spreads and fits.

/// The mean and, from two values on, the standard deviation of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub n: usize,
    pub mean: f64,
    /// With n − 1 in the denominator; 0 for a single value.
    pub deviation: f64,
}

impl Spread {
    /// Of at least one value.
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = if n > 1 { (squares / (n - 1) as f64).sqrt() } else { 0.0 };
        Some(Self { n, mean, deviation })
    }

    /// The standard error of the mean.
    pub fn standard_error(&self) -> f64 {
        self.deviation / (self.n as f64).sqrt()
    }
}

/// How many standard errors a mean lies from the truth, at the most, in 19 of 20 cases: Student's quantile for so many
/// degrees of freedom, without which nothing can be said.
pub fn tolerance(degrees: usize) -> Option<f64> {
    const QUANTILES: [f64; 10] = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23];
    let place = degrees.checked_sub(1)?.min(QUANTILES.len() - 1);
    Some(QUANTILES[place])
}

/// The median; of an even number of values, the mean of the two in the middle.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = *values.get(values.len().checked_sub(1)? / 2)?;
    Some((lower + upper) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_that_of_a_sample() {
        let spread = Spread::of(&[1.0, 2.0, 3.0]).unwrap();
        assert_eq!(spread, Spread { n: 3, mean: 2.0, deviation: 1.0 });
        assert_eq!(spread.standard_error(), 1.0 / 3f64.sqrt());
        assert_eq!(Spread::of(&[]), None);
        assert_eq!(Spread::of(&[5.0]).unwrap().deviation, 0.0);
    }

    #[test]
    fn few_values_are_tolerated_more_and_one_is_not_judged() {
        assert_eq!([0, 1, 4, 99].map(tolerance), [None, Some(12.71), Some(2.78), Some(2.23)]);
    }

    #[test]
    fn a_median_of_two_lies_between_them() {
        assert_eq!(median(&[2.0, 1.0]), Some(1.5));
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[]), None);
    }
}
