//! The noise distribution near the true shares of the words.
//!
//! The noise is g_v(Y) = Y_v^e / Σ Y^e, where Y are the shares of the words so far. Around μ (appendix C):
//! g(Y) ≈ g(μ) + M (Y − μ) + ½ g''(Y − μ, Y − μ), with M_{v,b} = (δ_{vb} − q_v) s_b, q = g(μ) and
//! s_b = e μ_b^{e−1} / Σ μ^e. Write ψ̄_v = Σ_w μ_w ψ_{w,v} and F = Σ_v q_v ψ̄_v. Then
//!
//! Σ_v ψ_{w,v} M_{v,b} = h_b + r_{w,b}, where h_b = (ψ̄_b − F) s_b and r_{w,b} = (ψ_{w,b} − Σ_v q_v ψ_{w,v} − ψ̄_b + F) s_b.
//!
//! Both have mean zero: Σ_b μ_b h_b = 0, Σ_b μ_b r_{w,b} = 0 and Σ_w μ_w r_{w,b} = 0. So to the first order ΔL is
//! (2ck/n) Σ_i Σ_b (Y_b(i) − Y_n)_b h_b, its *linear part*, and the same sum with r_{w_i,b}. The linear part is nearly
//! all of the noise of a single ΔL, and its expectation is known: zero if words are stationary. Removing it leaves the
//! first moment visible. For e = 1 nothing is neglected: this is Hoeffding's decomposition of a U-statistic.
//!
//! The paper leaves out the second order, but it is not smaller: E[(Y_i − μ)_a (Y_i − μ)_b] = ρ_{a,b} / i, so it adds
//! ½ Σ_{a,b} F_{ab} ρ_{a,b} to the factor of log(n)/n, where F_{ab} is the second derivative of Σ_v ψ̄_v g_v:
//! F_{ab} = δ_{ab} (ψ̄_a − F) s_a (e − 1) / μ_a − (h_a s_b + s_a h_b). As g does not change when Y is multiplied by a
//! number, Σ_{a,b} μ_a μ_b F_{ab} = 0, and ½ Σ_a μ_a F_{aa} is left.

use super::difference::EXPONENTS;
use super::scores::Scores;

/// One θ: its scores, and their expansion for each exponent.
pub struct Theta {
    pub scores: Scores,
    pub expansions: [Expansion; EXPONENTS.len()],
}

impl Theta {
    /// Random scores of words with the shares μ.
    pub fn random(size: usize, seed: u64, shares: &[f64]) -> Self {
        let scores = Scores::random(size, seed);
        let expansions = EXPONENTS.map(|exponent| Expansion::new(&scores, shares, exponent));
        Self { scores, expansions }
    }
}

pub struct Expansion {
    pub direction: Vec<f64>,
    /// r, for each center the contexts.
    rest: Vec<f64>,
    pub slopes: Vec<f64>,
    /// F_{aa} + 2 h_a s_a, the part of F on the diagonal only.
    pub bends: Vec<f64>,
    /// Σ_{w,v} ρ_{w,v} ψ_{w,v} for the exponent 1, and appendix C's Σ ψ_{w,v} M_{v,b} ρ_{w,b} for others.
    pub covariance: f64,
    /// ½ Σ_{a,b} F_{ab} ρ_{a,b}; zero for the exponent 1.
    pub curvature: f64,
    /// The ingredients of the second moment of independent words.
    pub variances: Variances,
}

#[derive(Clone, Copy, Debug)]
pub struct Variances {
    pub direction: f64,
    /// Of r_{w,w}.
    pub diagonal: f64,
    /// Of h and r_{w,w} together.
    pub direction_diagonal: f64,
    /// Of r_{w,v}.
    pub rest: f64,
    /// Of r_{w,v} and r_{v,w} together.
    pub rest_transposed: f64,
}

impl Expansion {
    /// Expands around the shares μ, which must not be zero.
    pub fn new(scores: &Scores, shares: &[f64], exponent: f64) -> Self {
        let size = scores.size();
        let total: f64 = shares.iter().map(|share| share.powf(exponent)).sum();
        let noise: Vec<f64> = shares.iter().map(|share| share.powf(exponent) / total).collect();
        let slopes: Vec<f64> =
            shares.iter().map(|share| exponent * share.powf(exponent - 1.0) / total).collect();
        let mut of_contexts = vec![0.0; size];
        let mut of_centers = vec![0.0; size];
        for context in 0..size {
            for center in 0..size {
                let score = scores.of(center, context);
                of_contexts[context] += shares[center] * score;
                of_centers[center] += noise[context] * score;
            }
        }
        let mean: f64 = noise.iter().zip(&of_contexts).map(|(noise, score)| noise * score).sum();
        let direction: Vec<f64> =
            of_contexts.iter().zip(&slopes).map(|(score, slope)| (score - mean) * slope).collect();
        let mut rest = Vec::with_capacity(size * size);
        for (center, of_center) in of_centers.iter().enumerate() {
            for (context, of_context) in of_contexts.iter().enumerate() {
                let score = scores.of(center, context) - of_center - of_context + mean;
                rest.push(score * slopes[context]);
            }
        }
        let bends: Vec<f64> = (0..size)
            .map(|word| (of_contexts[word] - mean) * slopes[word] * (exponent - 1.0) / shares[word])
            .collect();
        let covariance = (0..size).map(|word| shares[word] * rest[word * size + word]).sum();
        let curvature = (0..size)
            .map(|word| 0.5 * shares[word] * (bends[word] - 2.0 * direction[word] * slopes[word]))
            .sum();
        let variances = Variances::new(shares, &direction, &rest, covariance);
        Self { direction, rest, slopes, bends, covariance, curvature, variances }
    }

    /// r_{w,v}.
    #[inline(always)]
    pub fn rest(&self, center: u16, context: u16) -> f64 {
        self.rest[usize::from(center) * self.direction.len() + usize::from(context)]
    }
}

impl Variances {
    fn new(shares: &[f64], direction: &[f64], rest: &[f64], covariance: f64) -> Self {
        let size = shares.len();
        let mut variances =
            Self { direction: 0.0, diagonal: 0.0, direction_diagonal: 0.0, rest: 0.0, rest_transposed: 0.0 };
        for a in 0..size {
            let diagonal = rest[a * size + a] - covariance;
            variances.direction += shares[a] * direction[a].powi(2);
            variances.diagonal += shares[a] * diagonal.powi(2);
            variances.direction_diagonal += shares[a] * direction[a] * diagonal;
            for b in 0..size {
                let share = shares[a] * shares[b];
                variances.rest += share * rest[a * size + b].powi(2);
                variances.rest_transposed += share * rest[a * size + b] * rest[b * size + a];
            }
        }
        variances
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARES: [f64; 4] = [0.4, 0.3, 0.2, 0.1];

    /// Σ_v ψ_{w,v} g_v(Y).
    fn expected_score(scores: &Scores, center: usize, shares: &[f64], exponent: f64) -> f64 {
        let total: f64 = shares.iter().map(|share| share.powf(exponent)).sum();
        (0..shares.len()).map(|v| shares[v].powf(exponent) / total * scores.of(center, v)).sum()
    }

    fn second_derivative(expansion: &Expansion, a: usize, b: usize) -> f64 {
        let bend = if a == b { expansion.bends[a] } else { 0.0 };
        bend - expansion.direction[a] * expansion.slopes[b] - expansion.slopes[a] * expansion.direction[b]
    }

    #[test]
    fn derivatives_are_those_of_the_noise() {
        let scores = Scores::random(4, 3);
        let expansion = Expansion::new(&scores, &SHARES, 0.75);
        let step = 1e-4;
        let moved = |a: usize, b: usize, sign_a: f64, sign_b: f64| {
            let mut shares = SHARES;
            shares[a] += sign_a * step;
            shares[b] += sign_b * step;
            shares
        };
        for a in 0..4 {
            for center in 0..4 {
                let slope = (expected_score(&scores, center, &moved(a, a, 1.0, 0.0), 0.75)
                    - expected_score(&scores, center, &moved(a, a, -1.0, 0.0), 0.75))
                    / (2.0 * step);
                let expected = expansion.direction[a] + expansion.rest(center as u16, a as u16);
                assert!((slope - expected).abs() < 1e-6, "{slope} {expected}");
            }
            for b in 0..4 {
                let mean = |sign_a: f64, sign_b: f64| -> f64 {
                    let shares = moved(a, b, sign_a, sign_b);
                    (0..4).map(|w| SHARES[w] * expected_score(&scores, w, &shares, 0.75)).sum()
                };
                let bend = (mean(1.0, 1.0) - mean(1.0, -1.0) - mean(-1.0, 1.0) + mean(-1.0, -1.0))
                    / (4.0 * step * step);
                let expected = second_derivative(&expansion, a, b);
                assert!((bend - expected).abs() < 1e-4, "{bend} {expected}");
            }
        }
    }

    #[test]
    fn parts_have_mean_zero() {
        let scores = Scores::random(4, 3);
        for exponent in [1.0, 0.75] {
            let expansion = Expansion::new(&scores, &SHARES, exponent);
            let mean = |value: &dyn Fn(u16) -> f64| -> f64 {
                (0..4).map(|word| SHARES[usize::from(word)] * value(word)).sum()
            };
            assert!(mean(&|word| expansion.direction[usize::from(word)]).abs() < 1e-15);
            for word in 0..4 {
                assert!(mean(&|other| expansion.rest(word, other)).abs() < 1e-15);
                assert!(mean(&|other| expansion.rest(other, word)).abs() < 1e-15);
            }
            let all = mean(&|a| mean(&|b| second_derivative(&expansion, usize::from(a), usize::from(b))));
            assert!(all.abs() < 1e-14, "{all}");
        }
    }

    #[test]
    fn the_exponent_one_gives_the_constant_of_theorem_one() {
        let scores = Scores::random(4, 3);
        let expansion = Expansion::new(&scores, &SHARES, 1.0);
        let mut constant = 0.0;
        for (w, share) in SHARES.into_iter().enumerate() {
            for (v, other) in SHARES.into_iter().enumerate() {
                let same = if w == v { share } else { 0.0 };
                constant += (same - share * other) * scores.of(w, v);
            }
        }
        assert!((expansion.covariance - constant).abs() < 1e-15);
        assert!(expansion.curvature.abs() < 1e-15);
    }
}
