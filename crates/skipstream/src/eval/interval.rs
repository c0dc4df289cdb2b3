//! Confidence intervals of scores.

use serde::Serialize;

use crate::random::Random;

/// Resamples of a bootstrap. More of them move the ends of an interval by less than a tenth of its length.
const RESAMPLES: usize = 1_000;

/// The resamples are always the same, so the same vectors have the same interval.
const SEED: u64 = 0x0b00_7574_7261_7000;

/// The 97.5th percentile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// A 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Whether it contains a value.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Wilson's interval of the proportion `correct` / `used`; `None` if nothing was used.
    ///
    /// It assumes independent questions. Those of analogy sets are not (Google's 506 questions about common capitals combine
    /// 23 pairs), so the true interval is wider.
    pub(super) fn wilson(correct: usize, used: usize) -> Option<Interval> {
        if used == 0 {
            return None;
        }
        let (n, share) = (used as f64, correct as f64 / used as f64);
        let spread = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
        let (middle, scale) = (share + Z * Z / (2.0 * n), 1.0 + Z * Z / n);
        Some(Interval {
            low: ((middle - spread) / scale).max(0.0),
            high: ((middle + spread) / scale).min(1.0),
        })
    }

    /// The percentile bootstrap of a statistic of n items. A resample is given as how often each item was drawn.
    ///
    /// `None` if the statistic is not defined for most resamples.
    pub(super) fn bootstrap(n: usize, mut statistic: impl FnMut(&[u32]) -> Option<f64>) -> Option<Interval> {
        let mut random = Random::new(SEED);
        let mut times = vec![0; n];
        let mut values = Vec::with_capacity(RESAMPLES);
        for _ in 0..RESAMPLES {
            times.fill(0);
            for _ in 0..n {
                times[random.below(n)] += 1;
            }
            values.extend(statistic(&times));
        }
        if values.len() < RESAMPLES / 2 {
            return None;
        }
        values.sort_unstable_by(f64::total_cmp);
        Some(Interval { low: quantile(&values, 0.025), high: quantile(&values, 0.975) })
    }
}

/// The quantile of sorted values, interpolated linearly.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values are those of `statsmodels.stats.proportion.proportion_confint`, method `wilson`.
    #[test]
    fn shares_have_wilson_s_interval() {
        for (correct, used, low, high) in [
            (8, 10, 0.490_162_471_536_642_3, 0.943_317_848_545_625),
            (0, 20, 0.0, 0.161_125_158_052_819_8),
            (20, 20, 0.838_874_841_947_180_2, 1.0),
        ] {
            let found = Interval::wilson(correct, used).unwrap();
            assert!((found.low - low).abs() < 1e-9 && (found.high - high).abs() < 1e-9, "{found:?}");
        }
        assert_eq!(Interval::wilson(0, 0), None);
    }

    #[test]
    fn a_mean_has_the_interval_that_the_normal_distribution_gives() {
        let values: Vec<f64> = (0..400).map(|n| f64::from(n % 2)).collect();
        let found = Interval::bootstrap(values.len(), |times| {
            let sum: f64 = values.iter().zip(times).map(|(value, &n)| value * f64::from(n)).sum();
            Some(sum / 400.0)
        })
        .unwrap();
        // 0.5 ± 1.96 · 0.5 / √400, and the ends vary by about 0.003 with the seed.
        assert!((found.low - 0.451).abs() < 0.01 && (found.high - 0.549).abs() < 0.01, "{found:?}");
        assert!(found.contains(0.5) && !found.contains(0.6));
    }

    #[test]
    fn what_is_mostly_undefined_has_no_interval() {
        assert_eq!(Interval::bootstrap(3, |_| None), None);
        assert_eq!(Interval::bootstrap(0, |_| None), None);
    }

    #[test]
    fn quantiles_lie_between_values() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.5), 2.0);
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.75), 3.0);
        assert_eq!(quantile(&[7.0], 0.025), 7.0);
    }
}
