//! Theory for independently drawn words.
//!
//! First moment: Theorem 1, and appendix D for mini-batches: (2ck/n) (Σ_i 1/b(i) − 1) times the constant of the
//! expansion. For the exponent 1 it is exact.
//!
//! Second moment: ΔL = (2ck/n) (Σ_j c_j h(w_j) + Σ_{i,j} d_{ij} r(w_i, w_j)), where d_{ij} = [j ≤ b(i)]/b(i) − 1/n and
//! c_j = Σ_i d_{ij}. The terms with i ≠ j are uncorrelated with all others except their mirror image, because r has mean zero
//! in both arguments. So the variance is a sum of a few sums, exact for the exponent 1. Its largest part is
//! (2ck)² Var(h) Σ c_j² / n²; for one word at a time c_j = H_n − H_{j−1} − 1 and Σ c_j² → n. The second moment therefore
//! falls as 1/n, faster than the log(n)/n of Theorem 3, which is an upper bound.

use super::difference::{PAIRS, batch_end};
use super::expansion::Expansion;

/// The expectations of ΔL and of its parts.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// E[ΔL].
    pub first: f64,
    /// E of the linear part.
    pub linear: f64,
    /// E[ΔL²].
    pub second: f64,
}

impl Expected {
    /// Adds to the first moment.
    pub fn with(self, more: f64) -> Self {
        let first = self.first + more;
        Self { first, second: self.second - self.first * self.first + first * first, ..self }
    }
}

/// Σ_i 1/b(i, M) − 1, the factor of the constant in the first moment: H_n − 1 for batches of one word.
pub fn growth(n: usize, batch: usize) -> f64 {
    (1..=n).rev().map(|position| 1.0 / batch_end(position, batch, n) as f64).sum::<f64>() - 1.0
}

/// Theorem 1, and appendix D for mini-batches: the first moment with the constant `covariance`.
pub fn theorem(covariance: f64, n: usize, batch: usize) -> f64 {
    PAIRS / n as f64 * growth(n, batch) * covariance
}

/// Σ c_j² of the linear part's coefficients.
pub fn squared_coefficients(n: usize, batch: usize) -> f64 {
    let mut sum = 0.0;
    each_coefficient(n, batch, |_, coefficient| sum += coefficient * coefficient);
    sum
}

/// The expectations for independent words.
pub fn expected(expansion: &Expansion, n: usize, batch: usize) -> Expected {
    let first = theorem(expansion.covariance + expansion.curvature, n, batch);
    let variances = expansion.variances;
    let over_n = 1.0 / n as f64;
    let mut variance = 0.0;
    each_coefficient(n, batch, |position, coefficient| {
        let own = 1.0 / batch_end(position, batch, n) as f64 - over_n;
        let earlier = (position - 1) as f64;
        let in_batch = ((position - 1) % batch) as f64;
        let before = earlier - in_batch;
        variance += coefficient * coefficient * variances.direction
            + 2.0 * coefficient * own * variances.direction_diagonal
            + own * own * variances.diagonal
            + ((earlier + in_batch) * own * own + before * over_n * over_n) * variances.rest
            + 2.0 * (in_batch * own * own - before * own * over_n) * variances.rest_transposed;
    });
    Expected { first, linear: 0.0, second: first * first + (PAIRS * over_n).powi(2) * variance }
}

/// Calls `each` with every position and its c_j, from the last to the first.
fn each_coefficient(n: usize, batch: usize, mut each: impl FnMut(usize, f64)) {
    let mut coefficient = -1.0;
    let mut next = n;
    for position in (1..=n).rev() {
        // Positions of a batch see each other, so the whole batch counts from its last word on.
        while next > 0 && batch_end(next, batch, n) >= position {
            coefficient += 1.0 / batch_end(next, batch, n) as f64;
            next -= 1;
        }
        each(position, coefficient);
    }
}

#[cfg(test)]
pub mod enumeration {
    //! Expectations over all datasets, by enumeration.

    use super::super::difference::{Batches, Difference, Differences, differences};
    use super::*;
    use crate::theorems::expansion::Theta;

    /// The expectations of ΔL, its linear part and ΔL², for each exponent and batch size.
    pub fn expectations(
        theta: &Theta,
        batches: Batches,
        datasets: impl Iterator<Item = (Vec<u16>, f64)>,
    ) -> [[Expected; 4]; 2] {
        let mut sums = [[Expected { first: 0.0, linear: 0.0, second: 0.0 }; 4]; 2];
        for (words, probability) in datasets {
            let found: Differences = differences(theta, &words, batches);
            for (sums, found) in sums.iter_mut().zip(found) {
                for (sum, Difference { whole, linear }) in sums.iter_mut().zip(found) {
                    sum.first += probability * whole;
                    sum.linear += probability * linear;
                    sum.second += probability * whole * whole;
                }
            }
        }
        sums
    }

    /// All sequences of n words and their probabilities.
    pub fn sequences(shares: &[f64], n: usize) -> impl Iterator<Item = (Vec<u16>, f64)> {
        (0..shares.len().pow(n as u32)).map(move |number| {
            let words: Vec<u16> =
                (0..n).map(|place| (number / shares.len().pow(place as u32) % shares.len()) as u16).collect();
            let probability = words.iter().map(|&word| shares[usize::from(word)]).product();
            (words, probability)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theorems::expansion::Theta;

    #[test]
    fn theory_is_the_average_over_all_datasets() {
        let shares = [0.5, 0.3, 0.2];
        let theta = Theta::random(3, 2, &shares);
        let batches = [1, 2, 4, 6];
        for n in [1, 2, 3, 5, 6, 7] {
            let found = enumeration::expectations(&theta, batches, enumeration::sequences(&shares, n));
            for (place, batch) in batches.into_iter().enumerate() {
                let theory = expected(&theta.expansions[0], n, batch);
                let found_one = found[0][place];
                assert!(
                    (found_one.first - theory.first).abs() < 1e-12,
                    "{n} {batch} {found_one:?} {theory:?}"
                );
                assert!(
                    (found_one.second - theory.second).abs() < 1e-12,
                    "{n} {batch} {found_one:?} {theory:?}"
                );
                for found in found {
                    assert!(found[place].linear.abs() < 1e-13, "{n} {batch} {found:?}");
                }
            }
        }
    }

    #[test]
    fn one_word_at_a_time_gives_harmonic_numbers() {
        assert!((growth(4, 1) - (0.5 + 1.0 / 3.0 + 0.25)).abs() < 1e-15);
        assert!((growth(4, 2) - 0.5).abs() < 1e-15);
        assert_eq!(growth(4, 10), 0.0);
        let sum = squared_coefficients(100_000, 1);
        assert!((sum / 1e5 - 1.0).abs() < 1e-2, "{sum}");
    }
}
