//! The word that does not match the others.

use super::cosine::{cosine, inverse_norm};
use super::{Embeddings, Neighbor};
use crate::kernel::Kernel;
use crate::{Error, Result};

impl Embeddings {
    /// The words sorted by how well they match the others, the odd one first.
    ///
    /// The similarity of a word is its cosine with the mean of all of them, scaled to length 1. Words with equal similarities
    /// keep their order. There must be at least three words.
    ///
    /// ```
    /// # use skipstream::embeddings::Embeddings;
    /// let words = [("bread", 4), ("cheese", 3), ("moon", 2)];
    /// let embeddings = Embeddings::new(2, words, vec![1.0, 0.1, 0.9, 0.2, -0.3, 1.0])?;
    /// assert_eq!(embeddings.odd_one_out(&["bread", "moon", "cheese"])?[0].word, "moon");
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    pub fn odd_one_out(&self, words: &[&str]) -> Result<Vec<Neighbor<'_>>> {
        if words.len() < 3 {
            return Err(Error::setting("the number of words", words.len(), "at least 3"));
        }
        let rows = words.iter().map(|word| self.row_of(word)).collect::<Result<Vec<usize>>>()?;
        let units: Vec<Vec<f32>> = rows.iter().map(|&row| self.unit_vector(row)).collect();
        // The sum has the direction of the mean.
        let mut sum = vec![0.0; self.dimensions()];
        for unit in &units {
            sum.iter_mut().zip(unit).for_each(|(sum, value)| *sum += value);
        }
        let kernel = Kernel::best();
        let scale = inverse_norm(kernel.dot(&sum, &sum));
        let mut fits: Vec<Neighbor<'_>> = rows
            .iter()
            .zip(&units)
            .map(|(&row, unit)| Neighbor {
                row,
                word: self.word(row),
                similarity: cosine(kernel.dot(unit, &sum), [1.0, scale]),
                count: self.known_count(row),
            })
            .collect();
        fits.sort_by(|left, right| left.similarity.total_cmp(&right.similarity));
        Ok(fits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meals() -> Embeddings {
        let words = [("breakfast", 9), ("lunch", 8), ("dinner", 7), ("cereal", 6), ("nothing", 5)];
        let vectors = vec![1.0, 0.2, 2.0, 0.5, 0.5, 0.1, 0.1, 1.0, 0.0, 0.0];
        Embeddings::new(2, words, vectors).unwrap()
    }

    #[test]
    fn the_word_least_like_the_mean_is_first_and_lengths_do_not_matter() {
        let meals = meals();
        let fits = meals.odd_one_out(&["breakfast", "cereal", "dinner", "lunch"]).unwrap();
        assert_eq!(fits[0].word, "cereal");
        assert!(fits.is_sorted_by(|left, right| left.similarity <= right.similarity));
        // The values of gensim 4.4's rank_by_centrality.
        let expected = [0.558_897_14, 0.956_513_5, 0.956_513_5, 0.969_305_1];
        for (fit, expected) in fits.iter().zip(expected) {
            assert!((fit.similarity - expected).abs() < 1e-6, "{fit:?}");
        }
    }

    #[test]
    fn a_word_without_direction_is_the_odd_one() {
        assert_eq!(meals().odd_one_out(&["lunch", "nothing", "dinner"]).unwrap()[0].word, "nothing");
    }

    #[test]
    fn equal_words_keep_their_order() {
        let fits = meals();
        let fits = fits.odd_one_out(&["lunch", "lunch", "lunch"]).unwrap();
        assert!(fits.iter().all(|fit| fit.similarity == fits[0].similarity && fit.word == "lunch"));
    }

    #[test]
    fn two_words_are_too_few_and_an_unknown_one_is_named() {
        let message = meals().odd_one_out(&["lunch", "dinner"]).unwrap_err().to_string();
        assert_eq!(message, "the number of words is 2; it must be at least 3");
        let message = meals().odd_one_out(&["lunch", "dinner", "tea"]).unwrap_err().to_string();
        assert_eq!(message, "`tea` is not in the vocabulary");
    }
}
