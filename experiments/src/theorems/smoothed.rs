//! The first moment for independent words and exponents below 1, without a Taylor series in the counts.
//!
//! Words are exchangeable, so E[ΔL] = (2ck/n) (Σ_i D(b(i)) − n D(n)), where D(j) = E[Σ_v ψ_{w,v} f_v^e / Σ_v f_v^e] over
//! datasets of j words with w one of them. A Taylor series of f^e around jμ, as in appendix C, needs jμ to be large for
//! every word. The rarest of 1,000 words has μ near 10⁻⁴, so the series is far off for the first 10⁴ positions, which
//! matter at every n.
//!
//! Here E[f^e] is computed exactly, for Poisson counts (corrected for their fixed sum), and only the denominator, a sum
//! over all words that hardly varies, is expanded, to the second order:
//! E[N/Z] ≈ E[N]/E[Z] − Cov(N, Z)/E[Z]² + E[N] Var(Z)/E[Z]³. Given a fixed sum, the covariance of f_a^e and f_b^e is
//! δ_{ab} Var(f_a^e) − κ_a κ_b / j with κ = Cov(f^e, f), as for normal variables. For e = 1 all of this is exact and gives
//! Theorem 1.

use super::difference::{PAIRS, batch_end};
use super::scores::Scores;

/// D is computed at every number of words up to this one.
const DENSE: usize = 100;
/// From there on, the numbers grow by this factor.
const STEP: f64 = 1.05;

/// D as a function of the number of words.
pub struct Smoothed {
    /// Numbers of words j, and j (D(j) − D(∞)), which changes slowly.
    points: Vec<(usize, f64)>,
}

/// Moments of f^e for a Poisson count f.
#[derive(Clone, Copy, Debug)]
struct Power {
    mean: f64,
    /// How the mean changes with λ: E[(f + 1)^e − f^e].
    slope: f64,
    bend: f64,
    variance: f64,
}

impl Smoothed {
    /// For datasets of up to `longest` words.
    pub fn new(scores: &Scores, shares: &[f64], exponent: f64, longest: usize) -> Self {
        let size = shares.len();
        let mut by_center = vec![0.0; size * size];
        let mut of_contexts = vec![0.0; size];
        for center in 0..size {
            for context in 0..size {
                by_center[center * size + context] = scores.of(center, context);
                of_contexts[context] += shares[center] * scores.of(center, context);
            }
        }
        let powers = Powers::new(exponent);
        let mut points = Vec::new();
        let mut n = 1;
        let total: f64 = shares.iter().map(|share| share.powf(exponent)).sum();
        let limit: f64 =
            shares.iter().zip(&of_contexts).map(|(share, score)| share.powf(exponent) / total * score).sum();
        loop {
            let mean = mean_score(&powers, shares, &by_center, &of_contexts, n);
            points.push((n, n as f64 * (mean - limit)));
            if n >= longest {
                return Self { points };
            }
            n = if n < DENSE { n + 1 } else { (n as f64 * STEP) as usize };
        }
    }

    /// E[ΔL] for datasets of n words.
    pub fn first(&self, n: usize, batch: usize) -> f64 {
        let mut place = 0;
        let mut sum = 0.0;
        let mut position = 0;
        while position < n {
            let end = batch_end(position + 1, batch, n);
            sum += (end - position) as f64 * self.at(end, &mut place) / end as f64;
            position = end;
        }
        PAIRS / n as f64 * (sum - self.at(n, &mut place))
    }

    /// j (D(j) − D(∞)), interpolated linearly over log j.
    fn at(&self, n: usize, place: &mut usize) -> f64 {
        while *place + 2 < self.points.len() && self.points[*place + 1].0 < n {
            *place += 1;
        }
        match self.points[*place..] {
            [(left, low), (right, high), ..] => {
                let share = (n as f64 / left as f64).ln() / (right as f64 / left as f64).ln();
                low + share * (high - low)
            }
            [(_, only)] => only,
            [] => 0.0,
        }
    }
}

fn mean_score(powers: &Powers, shares: &[f64], by_center: &[f64], of_contexts: &[f64], n: usize) -> f64 {
    let others = (n - 1) as f64;
    let counts: Vec<Power> = shares
        .iter()
        .map(|share| {
            let power = powers.of(others * share);
            Power { mean: power.mean - others * share * share / 2.0 * power.bend, ..power }
        })
        .collect();
    let total: f64 = counts.iter().map(|power| power.mean).sum();

    // The effect of the variation of the denominator, averaged over centers.
    let (mut variance, mut covariance, mut sum, mut weighted) = (0.0, 0.0, 0.0, 0.0);
    let mut numerator = 0.0;
    for ((power, share), score) in counts.iter().zip(shares).zip(of_contexts) {
        let with_count = share * power.slope;
        variance += power.variance;
        covariance += score * power.variance;
        sum += with_count;
        weighted += score * with_count;
        numerator += score * power.mean;
    }
    variance -= others * sum * sum;
    covariance -= others * sum * weighted;

    let mut mean = 0.0;
    let mut own = 0.0;
    for (center, (share, power)) in shares.iter().zip(&counts).enumerate() {
        let row = &by_center[center * shares.len()..][..shares.len()];
        let scores: f64 = row.iter().zip(&counts).map(|(score, power)| score * power.mean).sum();
        mean += share * (scores + row[center] * power.slope) / (total + power.slope);
        own += share * power.slope;
    }
    let denominator = total + own;
    mean - covariance / denominator.powi(2) + numerator * variance / denominator.powi(3)
}

/// Computes moments of f^e.
struct Powers {
    exponent: f64,
    /// k^e.
    table: Vec<f64>,
}

impl Powers {
    /// From this λ on, a series is used; its error is of order λ⁻⁴.
    const SERIES: f64 = 300.0;

    fn new(exponent: f64) -> Self {
        let table = (0..1000).map(|count| f64::from(count).powf(exponent)).collect();
        Self { exponent, table }
    }

    fn of(&self, mean: f64) -> Power {
        if mean < Self::SERIES { self.summed(mean) } else { self.by_series(mean) }
    }

    /// Sums over all counts of relevant probability.
    fn summed(&self, mean: f64) -> Power {
        let mut probability = (-mean).exp();
        let (mut first, mut second, mut slope, mut bend) = (0.0, 0.0, 0.0, 0.0);
        let far = (mean + 12.0 * mean.sqrt() + 30.0) as usize;
        for (count, window) in self.table.windows(3).take(far).enumerate() {
            first += probability * window[0];
            second += probability * window[0] * window[0];
            slope += probability * (window[1] - window[0]);
            bend += probability * (window[2] - 2.0 * window[1] + window[0]);
            probability *= mean / (count + 1) as f64;
        }
        Power { mean: first, slope, bend, variance: second - first * first }
    }

    /// E[f^p] = λ^p (1 + a₁/λ + a₂/λ² + a₃/λ³ + …), from the central moments λ, λ, 3λ² + λ, 10λ² + λ, 15λ³ + ….
    fn by_series(&self, mean: f64) -> Power {
        let coefficients = |power: f64| {
            let mut binomial = [1.0; 7];
            for k in 1..7 {
                binomial[k] = binomial[k - 1] * (power - (k - 1) as f64) / k as f64;
            }
            let [_, _, two, three, four, five, six] = binomial;
            [1.0, two, three + 3.0 * four, four + 10.0 * five + 15.0 * six]
        };
        let exponent = self.exponent;
        let (mut first, mut slope, mut bend) = (0.0, 0.0, 0.0);
        for (k, coefficient) in coefficients(exponent).into_iter().enumerate() {
            let power = exponent - k as f64;
            let term = coefficient * mean.powf(power);
            first += term;
            slope += term * power / mean;
            bend += term * power * (power - 1.0) / (mean * mean);
        }
        let second: f64 = coefficients(2.0 * exponent)
            .into_iter()
            .enumerate()
            .map(|(k, coefficient)| coefficient * mean.powf(2.0 * exponent - k as f64))
            .sum();
        Power { mean: first, slope, bend, variance: second - first * first }
    }
}

#[cfg(test)]
mod tests {
    use skipstream::unstable::Random;
    use statrs::statistics::Statistics;

    use super::*;
    use crate::theorems::difference::differences;
    use crate::theorems::expansion::{Expansion, Theta};
    use crate::theorems::independent::theorem;
    use crate::theorems::moments::standard_error;

    fn shares(size: usize) -> Vec<f64> {
        let total: f64 = (1..=size).map(|rank| 1.0 / rank as f64).sum();
        (1..=size).map(|rank| 1.0 / rank as f64 / total).collect()
    }

    #[test]
    fn the_exponent_one_gives_theorem_one() {
        let (scores, shares) = (Scores::random(20, 2), shares(20));
        let expansion = Expansion::new(&scores, &shares, 1.0);
        let smoothed = Smoothed::new(&scores, &shares, 1.0, 20_000);
        for (n, batch) in [(1, 1), (7, 1), (1000, 1), (20_000, 1), (1000, 100), (20_000, 1000)] {
            let (found, expected) = (smoothed.first(n, batch), theorem(expansion.covariance, n, batch));
            assert!((found - expected).abs() < 1e-9, "{n} words, batches of {batch}: {found} {expected}");
        }
    }

    #[test]
    fn the_series_continues_the_sum() {
        let powers = Powers::new(0.75);
        for mean in [250.0, 300.0, 400.0] {
            let (summed, series) = (powers.summed(mean), powers.by_series(mean));
            let near = |a: f64, b: f64, error: f64| ((a - b) / b).abs() < error;
            assert!(near(series.mean, summed.mean, 1e-9), "{summed:?} {series:?}");
            assert!(near(series.slope, summed.slope, 1e-7), "{summed:?} {series:?}");
            assert!(near(series.bend, summed.bend, 1e-3), "{summed:?} {series:?}");
            assert!(near(series.variance, summed.variance, 1e-5), "{summed:?} {series:?}");
        }
    }

    #[test]
    fn it_agrees_with_datasets_where_the_series_does_not() {
        let (size, n, datasets) = (50, 300, 5_000);
        let shares = shares(size);
        let theta = Theta::random(size, 2, &shares);
        let batches = [1, 10, 100, 300];
        let mut random = Random::new(4);
        let mut found: [Vec<f64>; 3] = Default::default();
        for _ in 0..datasets {
            let words: Vec<u16> = (0..n)
                .map(|_| {
                    let mut left = random.uniform();
                    let below = |share: &f64| {
                        left -= share;
                        left < 0.0
                    };
                    shares.iter().position(below).unwrap_or(size - 1) as u16
                })
                .collect();
            let differences = differences(&theta, &words, batches)[1];
            for (found, difference) in found.iter_mut().zip(differences) {
                found.push(difference.whole - difference.linear);
            }
        }
        let smoothed = Smoothed::new(&theta.scores, &shares, 0.75, n);
        let expansion = &theta.expansions[1];
        let series = theorem(expansion.covariance + expansion.curvature, n, 1);
        assert!((smoothed.first(n, 1) / series - 1.0).abs() > 0.2, "{} {series}", smoothed.first(n, 1));
        for (found, batch) in found.iter().zip(batches) {
            let expected = smoothed.first(n, batch);
            let error = (found.mean() - expected).abs();
            let allowed = 4.0 * standard_error(found) + 0.02 * expected.abs();
            assert!(error < allowed, "batches of {batch}: {expected} {error} {allowed}");
        }
    }
}
