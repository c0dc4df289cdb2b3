//! 3CosMul with any number of words: products of cosines, divided by products of cosines.

use super::best::{Best, Candidate};
use super::mean::Term;
use super::{Embeddings, Neighbor};
use crate::{Error, Result};

/// A smaller guard against division by zero could give scores that are not finite.
const SMALLEST_EPSILON: f32 = 1e-30;

impl Embeddings {
    /// The score of every row by Levy and Goldberg's (2014) multiplication: the product of its cosines with the positive
    /// words, divided by the product of those with the negative ones plus `epsilon`. Cosines are shifted to lie between 0
    /// and 1, and vectors are taken at length 1.
    ///
    /// Levy and Goldberg's `epsilon` is 0.001, which [`Embeddings::analogy`] takes; gensim's is 0.000001.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn products(&self, positive: &[Term<'_>], negative: &[Term<'_>], epsilon: f32) -> Result<Vec<f32>> {
        if !(SMALLEST_EPSILON..=1.0).contains(&epsilon) {
            return Err(Error::Setting {
                field: "epsilon",
                value: epsilon.to_string(),
                limit: format!("from {SMALLEST_EPSILON:e} to 1"),
            });
        }
        let mut scores = self.product(positive)?;
        let divisors = self.product(negative)?;
        scores.iter_mut().zip(divisors).for_each(|(score, divisor)| *score /= divisor + epsilon);
        Ok(scores)
    }

    /// The `n` words with the highest of the scores, one for each row, without the rows in `exclude`.
    ///
    /// # Panics
    /// If there are more scores than rows.
    pub fn best_by_scores(&self, scores: &[f32], n: usize, exclude: &[usize]) -> Vec<Neighbor<'_>> {
        let mut best = Best::new(n.min(scores.len()));
        for (row, &similarity) in scores.iter().enumerate() {
            let candidate = Candidate { similarity, row };
            if best.wants(candidate) && !exclude.contains(&row) {
                best.take(candidate);
            }
        }
        best.into_sorted().into_iter().map(|found| self.neighbor(found)).collect()
    }

    fn product(&self, terms: &[Term<'_>]) -> Result<Vec<f32>> {
        let mut product = vec![1.0; self.len()];
        for &term in terms {
            let cosines = self.similarities(&self.unit_term(term)?, 0..self.len())?;
            product.iter_mut().zip(cosines).for_each(|(product, cosine)| *product *= (1.0 + cosine) / 2.0);
        }
        Ok(product)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embeddings::AnalogyRule;

    fn embeddings() -> Embeddings {
        let words = [("man", 6), ("woman", 5), ("king", 4), ("queen", 3), ("apple", 2), ("prince", 1)];
        let vectors =
            vec![1.0, 0.1, 0.0, 1.0, 0.1, 1.0, 1.0, 0.8, 0.1, 1.0, 0.8, 1.0, -1.0, 0.0, 0.3, 0.9, 0.6, -0.4];
        Embeddings::new(3, words, vectors).unwrap()
    }

    #[test]
    fn three_words_are_an_analogy() {
        let embeddings = embeddings();
        let scores = embeddings.products(&[Term::Row(2), Term::Row(1)], &[Term::Row(0)], 0.001).unwrap();
        let found = embeddings.best_by_scores(&scores, 3, &[0, 1, 2]);
        let expected = embeddings.analogy("man", "king", "woman", 3, AnalogyRule::Multiply).unwrap();
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found.word, expected.word);
            assert!((found.similarity - expected.similarity).abs() < 1e-5, "{found:?} {expected:?}");
        }
    }

    /// gensim 4.4: most_similar_cosmul(positive=["king", "woman"], negative=["man"]).
    #[test]
    fn with_its_guard_the_scores_are_those_of_gensim() {
        let embeddings = embeddings();
        let scores = embeddings.products(&[Term::Row(2), Term::Row(1)], &[Term::Row(0)], 1e-6).unwrap();
        assert!((scores[3] - 1.050_147).abs() < 2e-3, "{scores:?}");
    }

    #[test]
    fn a_guard_of_zero_is_refused() {
        for epsilon in [0.0, -1.0, f32::NAN, 2.0] {
            let message = embeddings().products(&[Term::Row(0)], &[], epsilon).unwrap_err().to_string();
            assert_eq!(message, format!("epsilon is {epsilon}; it must be from 1e-30 to 1"));
        }
    }
}
