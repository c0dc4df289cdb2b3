//! The nearest words of many at once.

use std::ops::Range;

use super::Embeddings;
use super::best::{Best, Candidate};
use super::cosine::inverse_norm;
use super::search::search_all;
use crate::kernel::Kernel;
use crate::{Error, Result};

/// Questions that are answered by one pass over the vectors. A block of rows is compared with all of them while it is in
/// the nearest cache, and of rows in a file, sums and norms are computed once for all of them.
const QUESTIONS: usize = 8;

/// The nearest rows of many questions: as many for each, the nearest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Nearest {
    /// How many rows each question has.
    pub n: usize,
    /// The rows, those of the first question first.
    pub rows: Vec<usize>,
    /// Their similarities.
    pub similarities: Vec<f32>,
}

impl Embeddings {
    /// The `n` rows nearest to each of some rows, itself excluded; fewer where there are not so many.
    ///
    /// The answers are those of [`Embeddings::neighbors`]; many of them are found faster together.
    ///
    /// ```
    /// # use skipstream::embeddings::Embeddings;
    /// let words = [("king", 5), ("queen", 4), ("apple", 3)];
    /// let embeddings = Embeddings::new(2, words, vec![1.0, 0.0, 0.8, 0.6, -1.0, 0.2])?;
    /// assert_eq!(embeddings.neighbors_of_rows(&[1, 0], 1)?.rows, [0, 1]);
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such row.
    pub fn neighbors_of_rows(&self, rows: &[usize], n: usize) -> Result<Nearest> {
        let mut vectors = Vec::with_capacity(rows.len() * self.dimensions());
        for &row in rows {
            vectors.extend_from_slice(&self.checked_vector(row)?);
        }
        self.nearest(&vectors, rows, n.min(self.len().saturating_sub(1)))
    }

    /// The `n` rows nearest to each of some vectors, which stand one after the other; fewer where there are not so many.
    ///
    /// The answers are those of [`Embeddings::neighbors_of_vector`]; many of them are found faster together.
    pub fn neighbors_of_vectors(&self, vectors: &[f32], n: usize) -> Result<Nearest> {
        if !vectors.len().is_multiple_of(self.dimensions()) {
            return Err(Error::invalid_vectors(format!(
                "{} values are not vectors of {} dimensions",
                vectors.len(),
                self.dimensions()
            )));
        }
        self.nearest(vectors, &[], n.min(self.len()))
    }

    /// Of each vector the nearest rows, without its own row, if it has one.
    fn nearest(&self, vectors: &[f32], own: &[usize], n: usize) -> Result<Nearest> {
        let n_questions = vectors.len() / self.dimensions();
        let mut nearest = Nearest { n, rows: Vec::new(), similarities: Vec::new() };
        let too_many = |_| {
            Error::invalid_vectors(format!("{n} answers to {n_questions} questions do not fit into memory"))
        };
        let n_answers = n_questions.saturating_mul(n);
        nearest.rows.try_reserve_exact(n_answers).map_err(too_many)?;
        nearest.similarities.try_reserve_exact(n_answers).map_err(too_many)?;

        let kernel = Kernel::best();
        let mut questions = Vec::with_capacity(n_questions);
        for (place, vector) in vectors.chunks_exact(self.dimensions()).enumerate() {
            self.check_query(vector)?;
            let inverse_norm = inverse_norm(kernel.dot(vector, vector));
            questions.push(Question { vector, inverse_norm, own: own.get(place).copied() });
        }
        let (full, rest) = questions.as_chunks::<QUESTIONS>();
        for questions in full {
            nearest.extend(self.answer(questions, n));
        }
        for question in rest {
            nearest.extend(self.answer(&[*question], n));
        }
        Ok(nearest)
    }

    fn answer<const N: usize>(&self, questions: &[Question<'_>; N], n: usize) -> [Best; N] {
        let vectors = questions.map(|question| (question.vector, question.inverse_norm));
        let search = |rows: Range<usize>, best: &mut [Best; N]| {
            self.table.rows.compare(rows, vectors, |row, cosines| {
                for ((best, question), similarity) in best.iter_mut().zip(questions).zip(cosines) {
                    let candidate = Candidate { similarity, row };
                    if best.wants(candidate) && question.own != Some(row) {
                        best.take(candidate);
                    }
                }
            });
        };
        search_all(0..self.len(), self.dimensions(), search, || std::array::from_fn(|_| Best::new(n)))
    }
}

#[derive(Clone, Copy)]
struct Question<'a> {
    vector: &'a [f32],
    inverse_norm: f32,
    own: Option<usize>,
}

impl Nearest {
    fn extend<const N: usize>(&mut self, answers: [Best; N]) {
        for found in answers.into_iter().flat_map(Best::into_sorted) {
            self.rows.push(found.row);
            self.similarities.push(found.similarity);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Random;

    fn embeddings(n_words: usize, dimensions: usize) -> Embeddings {
        let mut random = Random::new(9);
        // Few different values, so that there are ties and vectors without direction.
        let values =
            (0..n_words * dimensions).map(|_| (random.uniform() * 3.0).floor() as f32 - 1.0).collect();
        Embeddings::uncounted(dimensions, (0..n_words).map(|row| row.to_string()), values).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn many_answers_are_those_of_one_question_after_the_other(
            n_words in 1usize..80,
            dimensions in 1usize..12,
            n_questions in 0usize..20,
            n in 0usize..90,
        ) {
            let embeddings = embeddings(n_words, dimensions);
            let rows: Vec<usize> = (0..n_questions).map(|question| question * 7 % n_words).collect();
            let found = embeddings.neighbors_of_rows(&rows, n).unwrap();
            prop_assert_eq!(found.n, n.min(n_words - 1));
            prop_assert_eq!(found.rows.len(), rows.len() * found.n);
            let vectors: Vec<f32> = rows.iter().flat_map(|&row| embeddings.vector_at(row).into_owned()).collect();
            let of_vectors = embeddings.neighbors_of_vectors(&vectors, n).unwrap();
            for (question, &row) in rows.iter().enumerate() {
                let alone = embeddings.neighbors(embeddings.word(row), n).unwrap();
                let place = question * found.n..(question + 1) * found.n;
                let words = found.rows[place.clone()].iter().map(|&row| embeddings.word(row));
                prop_assert!(words.eq(alone.iter().map(|neighbor| neighbor.word)));
                prop_assert!(found.similarities[place].iter().eq(alone.iter().map(|neighbor| &neighbor.similarity)));
                let alone = embeddings.neighbors_of_vector(&embeddings.vector_at(row), n, &[]).unwrap();
                let place = question * of_vectors.n..(question + 1) * of_vectors.n;
                let words = of_vectors.rows[place].iter().map(|&row| embeddings.word(row));
                prop_assert!(words.eq(alone.iter().map(|neighbor| neighbor.word)));
            }
        }
    }

    #[test]
    fn vectors_that_do_not_fit_are_refused() {
        let embeddings = embeddings(3, 2);
        let message = embeddings.neighbors_of_vectors(&[1.0; 3], 1).unwrap_err().to_string();
        assert_eq!(message, "3 values are not vectors of 2 dimensions");
        let message = embeddings.neighbors_of_vectors(&[1.0, f32::INFINITY], 1).unwrap_err().to_string();
        assert_eq!(message, "value 2 of the vector is inf; it must be finite");
    }
}
