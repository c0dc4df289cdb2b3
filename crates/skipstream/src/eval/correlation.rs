//! Correlation coefficients, with ties as statistics books have them.

/// Pearson's correlation: how far the values lie on a line.
///
/// It is nothing if there are fewer than two values, if the lengths differ, or if one side does
/// not vary (or is not finite).
pub fn pearson(left: &[f64], right: &[f64]) -> Option<f64> {
    if left.len() != right.len() || !varies(left) || !varies(right) {
        return None;
    }
    let (left_mean, right_mean) = (mean(left), mean(right));
    let (mut product, mut left_square, mut right_square) = (0.0, 0.0, 0.0);
    for (&left, &right) in left.iter().zip(right) {
        let (left, right) = (left - left_mean, right - right_mean);
        product += left * right;
        left_square += left * left;
        right_square += right * right;
    }
    let correlation = product / (left_square * right_square).sqrt();
    correlation.is_finite().then(|| correlation.clamp(-1.0, 1.0))
}

/// Spearman's correlation: how far the two sides agree on the order. Equal values share the mean
/// of their ranks.
///
/// It is nothing where [`pearson`] of the ranks is, or if a value is not a number.
///
/// ```
/// # use skipstream::eval::spearman;
/// assert_eq!(spearman(&[1.0, 2.0, 3.0], &[10.0, 20.0, 1000.0]), Some(1.0));
/// assert_eq!(spearman(&[1.0, 2.0, 3.0], &[5.0, 5.0, 5.0]), None);
/// ```
pub fn spearman(left: &[f64], right: &[f64]) -> Option<f64> {
    if left.iter().chain(right).any(|value| value.is_nan()) {
        return None;
    }
    pearson(&ranks(left), &ranks(right))
}

/// Told by comparing: the mean of equal values need not be equal to them.
fn varies(values: &[f64]) -> bool {
    values.windows(2).any(|pair| pair[0] != pair[1])
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The rank of each value, from 1; equal values get the mean of the ranks they take up.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&left, &right| values[left].total_cmp(&values[right]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for tied in order.chunk_by(|&left, &right| values[left] == values[right]) {
        // Ranks first + 1 up to first + n have the mean first + (n + 1) / 2.
        let shared = first as f64 + (tied.len() + 1) as f64 / 2.0;
        for &place in tied {
            ranks[place] = shared;
        }
        first += tied.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_near(found: Option<f64>, expected: f64) {
        let found = found.unwrap();
        assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
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
}
