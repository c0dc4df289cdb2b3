//! Theory for datasets made of pieces: sentences or paragraphs, drawn at random one after the other.
//!
//! Words of a piece are correlated, which Theorem 1 ignores. Let p be the shares of the lengths of pieces and u_t the
//! probability that a piece ends at position t: u_0 = 1, u_t = Σ_l p_l u_{t−l}. A piece begins at i − s + 1 with
//! probability u_{i−s}, and then position i is the s-th word of it, if it is long enough. So the expectation at
//! position i of anything that is a function of the piece is Σ_s u_{i−s} E[…; the s-th word exists]. That gives
//!
//! - E[h(w_i)]. It is not zero: a dataset begins with the beginning of a piece, and the last piece is cut. If long
//!   pieces have other words than short ones, or the ends of pieces others than their beginnings, E[Σ_{j≤i} h(w_j)] tends
//!   to a constant K = −E[Σ_s (s − 1) h(x_s)] / E[length], and the linear part's expectation is about
//!   (2ck/n) K (H_n − 1): as large as Theorem 1's.
//! - E[Σ_j r(w_i, w_j)] over the earlier words of the piece, and over the later ones that are in the same batch, or
//!   in the dataset. For large n it is Theorem 1 with Σρψ + B for Σρψ in front of H_n, where B is the sum of the
//!   covariances with all earlier words of the piece, and Σρψ + B + (the same with later words) in front of the 1.
//! - the second order of the expansion: ½ E[(N − lμ)' F (N − lμ)] / E[length], where N are the counts of the words of a piece
//!   and l is its length. As Σ_b μ_b F_{ab} = −h_a, the middle is N'FN + 2l Σ_s h(x_s).
//!
//! Covariances between different pieces are neglected. They are not exactly zero near the beginning, because the
//! words at known positions of pieces are not distributed as μ; but r has mean zero in both arguments, so what remains
//! is of the second order in this difference, and falls as 1/n, not as log(n)/n. Beyond position [`EXACT`], u is replaced by its limit.
//!
//! Second moment: the linear part's, with E[(Σ_s h(x_s))²]/E[length], the variance in the long run, for Var(h).

use serde::Serialize;

use super::difference::{PAIRS, batch_end};
use super::expansion::Expansion;
use super::independent::{Expected, growth, squared_coefficients};
use super::sums::Covariances;
use super::vocabulary::{Pieces, ReducedText};

/// Number of positions for which u is computed.
const EXACT: usize = 100_000;

/// The theory of one kind of piece and one exponent.
pub struct Renewal {
    ends: Vec<f64>,
    covariances: Covariances,
    pub limits: Limits,
}

/// The constants in the limit of many words, in the terms of Theorem 1's Σρψ.
#[derive(Serialize, Clone, Copy, Debug)]
pub struct Limits {
    /// Σρψ, or appendix C's for other exponents than 1.
    covariance: f64,
    /// The second order of the expansion.
    curvature: f64,
    /// B: covariances with earlier words of the piece.
    earlier: f64,
    /// The same with later words.
    later: f64,
    /// K: the effect of beginning with a whole piece and cutting the last one.
    cut: f64,
    /// The variance of h in the long run: the second moment is about (2ck)² times this, divided by n.
    variance: f64,
    /// Mean number of words per piece.
    mean_length: f64,
}

impl Limits {
    /// The constants of pieces of one word.
    pub fn of_independent(expansion: &Expansion) -> Self {
        let Expansion { covariance, curvature, variances, .. } = *expansion;
        let variance = variances.direction;
        Self { covariance, curvature, earlier: 0.0, later: 0.0, cut: 0.0, variance, mean_length: 1.0 }
    }
}

impl Renewal {
    pub fn new(text: &ReducedText, pieces: &Pieces, expansion: &Expansion) -> Self {
        let mut lengths = vec![0.0; pieces.longest() + 1];
        for piece in 0..pieces.len() {
            lengths[text.piece(pieces, piece).len()] += 1.0 / pieces.len() as f64;
        }
        let mean_length: f64 = lengths.iter().enumerate().map(|(length, share)| length as f64 * share).sum();
        let mut ends = vec![1.0];
        for position in 1..=EXACT {
            let lasts = 1..=pieces.longest().min(position);
            ends.push(lasts.map(|length| lengths[length] * ends[position - length]).sum());
        }

        let covariances = Covariances::of(text, pieces, expansion);
        let later: f64 = covariances.later.iter().filter_map(|sums| sums.last()).sum();
        let places = covariances.direction.iter().enumerate();
        let limits = Limits {
            covariance: expansion.covariance,
            curvature: 0.5 * covariances.curvature / mean_length,
            earlier: covariances.earlier.iter().sum::<f64>() / mean_length - expansion.covariance,
            later: later / mean_length,
            cut: -places.map(|(place, direction)| place as f64 * direction).sum::<f64>() / mean_length,
            variance: covariances.squared_direction / mean_length,
            mean_length,
        };
        Self { ends, covariances, limits }
    }

    /// The expectations for datasets of n words.
    pub fn expected(&self, n: usize, batch: usize) -> Expected {
        let Self { ends, covariances, limits } = self;
        let longest = covariances.direction.len();

        // At each position: h, r with earlier words, r with later words of the dataset, and of the batch.
        let exact = n.min(EXACT);
        let mut sum_of_direction = vec![0.0];
        let mut rest_at_end = 0.0;
        let mut rest = 0.0;
        for position in 1..=exact {
            let in_batch = (position - 1) % batch;
            let mut direction = 0.0;
            let (mut earlier, mut later, mut later_in_batch) = (0.0, 0.0, 0.0);
            for place in 0..longest.min(position) {
                let begins = ends[position - 1 - place];
                direction += begins * covariances.direction[place];
                earlier += begins * covariances.earlier[place];
                later += begins * covariances.later[place][place];
                later_in_batch += begins * covariances.later[place][place.min(in_batch)];
            }
            sum_of_direction.push(sum_of_direction[position - 1] + direction);
            rest += (earlier + later_in_batch) / batch_end(position, batch, n) as f64;
            rest_at_end += (earlier + later) / n as f64;
        }
        let earlier = limits.covariance + limits.earlier;
        let later_in_batch: Vec<f64> = (0..longest)
            .map(|in_batch| {
                let sums = covariances.later.iter().enumerate();
                sums.map(|(place, sums)| sums[place.min(in_batch)]).sum::<f64>() / limits.mean_length
            })
            .collect();
        for position in exact + 1..=n {
            let in_batch = ((position - 1) % batch).min(longest - 1);
            rest += (earlier + later_in_batch[in_batch]) / batch_end(position, batch, n) as f64;
        }
        rest_at_end += (n - exact) as f64 * (earlier + limits.later) / n as f64;

        let mut linear = 0.0;
        for position in 1..=n {
            let end = batch_end(position, batch, n);
            linear += sum_of_direction[end.min(exact)] / end as f64;
        }
        linear -= sum_of_direction[exact];

        let scale = PAIRS / n as f64;
        let first = scale * (rest - rest_at_end + linear + limits.curvature * growth(n, batch));
        let second = first * first + scale * scale * limits.variance * squared_coefficients(n, batch);
        Expected { first, linear: scale * linear, second }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theorems::difference::EXPONENTS;
    use crate::theorems::expansion::Theta;
    use crate::theorems::independent::enumeration;

    /// All datasets of n words made of pieces, and their probabilities.
    fn datasets(pieces: &[&[u16]], n: usize) -> Vec<(Vec<u16>, f64)> {
        let mut open = vec![(Vec::new(), 1.0)];
        let mut full = Vec::new();
        while let Some((words, probability)) = open.pop() {
            for piece in pieces {
                let longer: Vec<u16> = [&words, *piece].concat();
                let probability = probability / pieces.len() as f64;
                if longer.len() >= n {
                    full.push((longer[..n].to_vec(), probability));
                } else {
                    open.push((longer, probability));
                }
            }
        }
        full
    }

    fn compare(pieces: &[&[u16]], longest: usize, n: usize, check: impl Fn(&str, Expected, Expected)) {
        let words = pieces.concat();
        let ends = pieces.iter().scan(0, |end, piece| {
            *end += piece.len() as u32;
            Some(*end)
        });
        let text = ReducedText::new(words, 3, ends.collect());
        let theta = Theta::random(3, 2, &text.shares());
        let batches = [1, 2, 4, 6];
        let found = enumeration::expectations(&theta, batches, datasets(pieces, n).into_iter());
        for (exponent, found) in found.into_iter().enumerate() {
            let renewal = Renewal::new(&text, &text.pieces(longest), &theta.expansions[exponent]);
            let limits = renewal.limits;
            assert!(exponent > 0 || limits.curvature.abs() < 1e-12, "{limits:?}");
            for (found, batch) in found.into_iter().zip(batches) {
                let theory = renewal.expected(n, batch);
                let name = format!("{n} words, batches of {batch}, exponent {}", EXPONENTS[exponent]);
                if exponent == 0 {
                    check(&name, found, theory);
                }
                assert!((found.linear - theory.linear).abs() < 1e-12, "{name}: {found:?} {theory:?}");
            }
        }
    }

    #[test]
    fn pieces_with_equal_places_have_an_exact_first_moment() {
        // Each position of a piece has the shares of the whole, so that different pieces are uncorrelated.
        let pieces: [&[u16]; 4] = [&[0, 0], &[1, 2], &[2, 1], &[0, 0]];
        for n in [2, 3, 4, 6, 7] {
            compare(&pieces, 2, n, |name, found, theory| {
                assert!((found.first - theory.first).abs() < 1e-12, "{name}: {found:?} {theory:?}");
            });
        }
    }

    #[test]
    fn the_linear_part_of_unequal_pieces_is_exact() {
        let pieces: [&[u16]; 3] = [&[0, 0, 1], &[2], &[2, 1]];
        for n in [1, 3, 6, 8] {
            compare(&pieces, 3, n, |_, _, _| {});
        }
    }
}
