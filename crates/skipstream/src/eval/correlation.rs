//! Correlation coefficients, with ties.

use statrs::function::beta::beta_reg;

/// Pearson's correlation coefficient.
///
/// `None` if there are fewer than two values, if the lengths differ, or if one side is constant or not finite.
pub fn pearson(left: &[f64], right: &[f64]) -> Option<f64> {
    if left.len() != right.len() {
        return None;
    }
    weighted_pearson(left, right, &vec![1; left.len()])
}

/// Spearman's rank correlation coefficient. Equal values share the mean of their ranks.
///
/// `None` where [`pearson`] of the ranks is, or if a value is NaN.
///
/// ```
/// # use skipstream::eval::spearman;
/// assert_eq!(spearman(&[1.0, 2.0, 3.0], &[10.0, 20.0, 1000.0]), Some(1.0));
/// assert_eq!(spearman(&[1.0, 2.0, 3.0], &[5.0, 5.0, 5.0]), None);
/// ```
pub fn spearman(left: &[f64], right: &[f64]) -> Option<f64> {
    if left.len() != right.len() || left.iter().chain(right).any(|value| value.is_nan()) {
        return None;
    }
    Ranked::new(left).spearman(&Ranked::new(right), &vec![1; left.len()])
}

/// The two-sided p-value of a correlation of `n` pairs, by Student's t-test; 1 for fewer than three pairs.
///
/// The test assumes normal values for Pearson's correlation, and is the usual approximation for Spearman's.
///
/// ```
/// # use skipstream::eval::p_value;
/// assert!((p_value(0.5, 20) - 0.024769).abs() < 1e-6);
/// ```
pub fn p_value(correlation: f64, n: usize) -> f64 {
    if n < 3 || correlation.is_nan() {
        return 1.0;
    }
    // The two tails of Student's t = r √(ν / (1 - r²)), ν = n - 2, are the regularized incomplete beta function of
    // ν / (ν + t²) = 1 - r².
    let rest = (1.0 - correlation * correlation).clamp(0.0, 1.0);
    beta_reg((n - 2) as f64 / 2.0, 0.5, rest)
}

/// The order of values. It gives the ranks of every resample without sorting again.
pub(super) struct Ranked {
    /// The indices of the values, the lowest value first.
    order: Vec<usize>,
    /// The sizes of the groups of equal values, from the lowest on.
    ties: Vec<usize>,
}

impl Ranked {
    /// The order of values. None may be NaN.
    pub(super) fn new(values: &[f64]) -> Ranked {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&left, &right| values[left].total_cmp(&values[right]));
        let ties =
            order.chunk_by(|&left, &right| values[left] == values[right]).map(<[usize]>::len).collect();
        Ranked { order, ties }
    }

    /// Spearman's correlation with other values in a resample, where `times` is how often it has each pair.
    pub(super) fn spearman(&self, other: &Ranked, times: &[u32]) -> Option<f64> {
        weighted_pearson(&self.ranks(times), &other.ranks(times), times)
    }

    /// The rank of each value, from 1; equal values get the mean of their ranks.
    fn ranks(&self, times: &[u32]) -> Vec<f64> {
        let mut ranks = vec![0.0; self.order.len()];
        let (mut first, mut rest) = (0, self.order.as_slice());
        for &n in &self.ties {
            let (tied, others) = rest.split_at(n);
            rest = others;
            let taken: u32 = tied.iter().map(|&index| times[index]).sum();
            // Ranks first + 1 up to first + n have the mean first + (n + 1) / 2.
            let shared = f64::from(first) + (f64::from(taken) + 1.0) / 2.0;
            tied.iter().for_each(|&index| ranks[index] = shared);
            first += taken;
        }
        ranks
    }
}

/// Pearson's correlation, where `times` is how often each pair occurs.
fn weighted_pearson(left: &[f64], right: &[f64], times: &[u32]) -> Option<f64> {
    if !varies(left, times) || !varies(right, times) {
        return None;
    }
    let (left_mean, right_mean) = (mean(left, times), mean(right, times));
    let (mut product, mut left_square, mut right_square) = (0.0, 0.0, 0.0);
    for ((&left, &right), &times) in left.iter().zip(right).zip(times) {
        let (left, right, times) = (left - left_mean, right - right_mean, f64::from(times));
        product += times * left * right;
        left_square += times * left * left;
        right_square += times * right * right;
    }
    let correlation = product / (left_square * right_square).sqrt();
    correlation.is_finite().then(|| correlation.clamp(-1.0, 1.0))
}

/// Compares values: the mean of equal values need not be equal to them.
fn varies(values: &[f64], times: &[u32]) -> bool {
    let mut present = values.iter().zip(times).filter(|&(_, &times)| times > 0).map(|(value, _)| value);
    let first = present.next();
    present.any(|value| Some(value) != first)
}

fn mean(values: &[f64], times: &[u32]) -> f64 {
    let n: u32 = times.iter().sum();
    values.iter().zip(times).map(|(value, &times)| value * f64::from(times)).sum::<f64>() / f64::from(n)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn assert_near(found: Option<f64>, expected: f64) {
        let found = found.unwrap();
        assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
    }

    fn ranks(values: &[f64]) -> Vec<f64> {
        Ranked::new(values).ranks(&vec![1; values.len()])
    }

    #[test]
    fn tied_values_share_their_mean_rank() {
        let found = ranks(&[3.0, 1.0, 3.0, 2.0, 3.0, 1.0]);
        assert_eq!(found, [5.0, 1.5, 5.0, 3.0, 5.0, 1.5]);
        assert_eq!(ranks(&[0.0, -0.0, -1.0]), [2.5, 2.5, 1.0]);
    }

    /// The expected values are those of `scipy.stats` 1.17.1.
    #[test]
    fn correlations_are_those_of_scipy() {
        let cases: [(&[f64], &[f64], f64, f64); 3] = [
            (&[1.0, 2.0, 3.0, 4.0, 5.0], &[5.0, 6.0, 7.0, 8.0, 7.0], 0.8207826816681233, 0.8320502943378436),
            (
                &[10.0, 20.0, 20.0, 30.0, 40.0, 40.0, 40.0, 50.0],
                &[1.5, 0.5, 3.5, 2.5, 2.5, 9.0, -1.0, 4.0],
                0.395182210779197,
                0.3075635257570691,
            ),
            (&[0.1, 0.1, 0.2, 0.3], &[4.0, 4.0, 1.0, 1.0], -0.9428090415820634, -0.9045340337332909),
        ];
        for (left, right, expected_spearman, expected_pearson) in cases {
            assert_near(spearman(left, right), expected_spearman);
            assert_near(pearson(left, right), expected_pearson);
        }
    }

    /// The expected values are those of `scipy.stats` 1.17.1.
    #[test]
    fn p_values_are_those_of_scipy() {
        for (correlation, n, expected) in [
            (0.8207826816681233, 5, 0.08858700531354384),
            (0.8320502943378436, 5, 0.0805095732984986),
            (-0.395182210779197, 8, 0.3325631080261796),
            (0.3075635257570691, 8, 0.4586539166632054),
            (0.7, 350, 7.973866502388028e-53),
        ] {
            let found = p_value(correlation, n);
            assert!((found / expected - 1.0).abs() < 1e-9, "{found} is not {expected}");
        }
        assert_eq!((p_value(1.0, 9), p_value(-1.0, 3), p_value(0.0, 9)), (0.0, 0.0, 1.0));
        assert_eq!((p_value(1.0, 2), p_value(f64::NAN, 9)), (1.0, 1.0));
    }

    #[test]
    fn a_side_that_does_not_vary_has_no_correlation() {
        assert_eq!(spearman(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0]), None);
        assert_eq!(pearson(&[0.1, 0.1, 0.1], &[1.0, 2.0, 3.0]), None);
    }

    #[test]
    fn too_few_or_unequal_numbers_of_values_have_no_correlation() {
        assert_eq!(spearman(&[], &[]), None);
        assert_eq!(spearman(&[1.0], &[1.0]), None);
        assert_eq!(spearman(&[1.0, 2.0], &[1.0]), None);
    }

    #[test]
    fn a_value_that_is_not_a_number_has_no_correlation() {
        assert_eq!(spearman(&[1.0, f64::NAN], &[1.0, 2.0]), None);
        assert_eq!(pearson(&[1.0, f64::NAN], &[1.0, 2.0]), None);
    }

    proptest! {
        #[test]
        fn a_resample_has_the_correlation_of_its_values_written_out(
            items in proptest::collection::vec((0i8..6, 0i8..6, 0u32..4), 0..20)
        ) {
            let column = |value: fn(&(i8, i8, u32)) -> i8| -> (Vec<f64>, Vec<f64>) {
                let values: Vec<f64> = items.iter().map(|item| f64::from(value(item))).collect();
                let repeat = |(&value, item): (&f64, &(i8, i8, u32))| vec![value; item.2 as usize];
                let written_out = values.iter().zip(&items).flat_map(repeat).collect();
                (values, written_out)
            };
            let (left, left_out) = column(|item| item.0);
            let (right, right_out) = column(|item| item.1);
            let times: Vec<u32> = items.iter().map(|item| item.2).collect();
            let found = Ranked::new(&left).spearman(&Ranked::new(&right), &times);
            let expected = spearman(&left_out, &right_out);
            prop_assert_eq!(found.is_some(), expected.is_some());
            prop_assert!((found.unwrap_or(0.0) - expected.unwrap_or(0.0)).abs() < 1e-12);
        }
    }
}
