//! The weighted mean of words and vectors.

use std::borrow::Cow;

use super::cosine::wide_inverse_norm;
use super::{Embeddings, Term};
use crate::{Error, Result};

/// How the words of a mean are scaled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lengths {
    /// All to length 1, so that every word has the same influence.
    #[default]
    One,
    /// Not at all.
    Own,
}

impl Embeddings {
    /// The weighted mean of words and vectors: the sum of each times its weight, divided by the sum of the absolute
    /// weights. Vectors are not scaled.
    ///
    /// ```
    /// # use skipstream::embeddings::{Embeddings, Lengths, Term};
    /// let embeddings = Embeddings::new(2, [("east", 2), ("north", 1)], vec![2.0, 0.0, 0.0, 4.0])?;
    /// let terms = [(Term::Row(0), 3.0), (Term::Row(1), -1.0)];
    /// assert_eq!(embeddings.mean(&terms, Lengths::One)?, [0.75, -0.25]);
    /// assert_eq!(embeddings.mean(&terms, Lengths::Own)?, [1.5, -1.0]);
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    ///
    /// # Panics
    /// If a row does not exist.
    pub fn mean(&self, terms: &[(Term<'_>, f64)], lengths: Lengths) -> Result<Vec<f32>> {
        let mut sums = vec![0.0; self.dimensions()];
        let mut total = 0.0;
        for (term, weight) in terms {
            if !weight.is_finite() {
                return Err(Error::setting("weight", weight, "a finite number"));
            }
            let (vector, scale) = match term {
                Term::Vector(vector) => {
                    self.check_vector(vector)?;
                    (Cow::Borrowed(&vector[..]), 1.0)
                }
                &Term::Row(row) => {
                    let vector = self.checked_vector(row)?;
                    let scale = match (lengths, self.inverse_norm(row)) {
                        (Lengths::Own, _) => 1.0,
                        (Lengths::One, 0.0) => wide_inverse_norm(&vector),
                        (Lengths::One, inverse_norm) => f64::from(inverse_norm),
                    };
                    (vector, scale)
                }
            };
            let factor = weight * scale;
            sums.iter_mut().zip(&*vector).for_each(|(sum, &value)| *sum += factor * f64::from(value));
            total += weight.abs();
        }
        let divisor = if total == 0.0 { 1.0 } else { total };
        let mean: Vec<f32> = sums.into_iter().map(|sum| (sum / divisor) as f32).collect();
        self.check_vector(&mean)?;
        Ok(mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embeddings() -> Embeddings {
        Embeddings::new(2, [("a", 3), ("b", 2), ("zero", 1)], vec![3.0, 4.0, 0.0, -2.0, 0.0, 0.0]).unwrap()
    }

    #[test]
    fn vectors_and_words_are_mixed_and_a_word_without_direction_adds_nothing() {
        let terms = [(Term::from(&[1.0, 1.0]), 2.0), (Term::Row(1), 1.0), (Term::Row(2), 1.0)];
        assert_eq!(embeddings().mean(&terms, Lengths::One).unwrap(), [0.5, 0.25]);
        assert_eq!(embeddings().mean(&[], Lengths::One).unwrap(), [0.0, 0.0]);
        assert_eq!(embeddings().mean(&[(Term::Row(0), 0.0)], Lengths::Own).unwrap(), [0.0, 0.0]);
    }

    #[test]
    fn what_is_not_finite_is_refused() {
        let refusal =
            |term, weight| embeddings().mean(&[(term, weight)], Lengths::Own).unwrap_err().to_string();
        assert_eq!(refusal(Term::Row(0), f64::NAN), "weight is NaN; it must be a finite number");
        let message = refusal(Term::from(&[f32::NAN, 0.0]), 1.0);
        assert_eq!(message, "value 1 of the query vector is NaN; it must be finite");
        let message = refusal(Term::from(&[0.0]), 1.0);
        assert_eq!(message, "the query vector has 1 values; the embeddings have 2 dimensions");
        let largest = [f32::MAX, 0.0];
        let both = [(Term::from(&largest), 1e300), (Term::from(&largest), 1e300)];
        assert!(embeddings().mean(&both, Lengths::Own).is_err(), "it overflows");
    }
}
