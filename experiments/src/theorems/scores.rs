//! ψ⁻_{w,v} = log σ(−t_w · c_v) for all pairs of a center w and a context v.

use skipstream::unstable::Random;

/// Numbers that are processed at once.
pub const LANES: usize = 16;

const DIMENSIONS: usize = 100;

/// The score of every pair of words under one θ. The theory uses the same rounded values, so rounding to 32 bits
/// introduces no error.
pub struct Scores {
    size: usize,
    /// Rows of lanes for each context.
    rows: usize,
    /// For each context v, the scores of all centers in rows of lanes, padded with zeros.
    by_context: Vec<[f32; LANES]>,
}

impl Scores {
    /// θ is uniform in [−0.5, 0.5], as in the paper.
    pub fn random(size: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut vectors = || -> Vec<[f64; DIMENSIONS]> {
            (0..size).map(|_| std::array::from_fn(|_| random.uniform() - 0.5)).collect()
        };
        let (targets, contexts) = (vectors(), vectors());
        Self::new(size, |center, context| {
            let product: f64 = targets[center].iter().zip(&contexts[context]).map(|(t, c)| t * c).sum();
            -product.exp().ln_1p()
        })
    }

    /// Scores by a function of center and context.
    pub fn new(size: usize, score: impl Fn(usize, usize) -> f64) -> Self {
        let rows = size.div_ceil(LANES);
        let mut by_context = vec![[0.0; LANES]; rows * size];
        for context in 0..size {
            for center in 0..size {
                by_context[context * rows + center / LANES][center % LANES] = score(center, context) as f32;
            }
        }
        Self { size, rows, by_context }
    }

    pub fn size(&self) -> usize {
        self.size
    }

    /// The scores of a context with sixteen centers.
    #[inline(always)]
    pub fn lanes(&self, context: usize, index: usize) -> &[f32; LANES] {
        &self.by_context[context * self.rows + index]
    }

    /// The score of one pair.
    #[inline(always)]
    pub fn of(&self, center: usize, context: usize) -> f64 {
        f64::from(self.lanes(context, center / LANES)[center % LANES])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_logarithms_of_probabilities() {
        let scores = Scores::random(20, 1);
        let mut sum = 0.0;
        for center in 0..20 {
            for context in 0..20 {
                assert!(scores.of(center, context) < 0.0);
                sum += scores.of(center, context) / 400.0;
            }
        }
        // A product of vectors has mean 0 and variance 100/12²; log σ(−x) ≈ −log 2 − x/2 − x²/8.
        assert!((sum + 0.78).abs() < 0.1, "{sum}");
        assert_eq!(scores.lanes(3, 1)[4..], [0.0; LANES - 4]);
    }
}
