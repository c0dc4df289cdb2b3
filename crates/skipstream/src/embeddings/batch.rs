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
pub const QUESTIONS_IN_A_PASS: usize = 8;

/// A question: which rows are nearest to a vector?
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The vector, of as many dimensions as the embeddings have.
    pub vector: &'a [f32],
    /// So many rows at the most.
    pub n: usize,
    /// None of these.
    pub exclude: &'a [usize],
}

/// A row that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The row.
    pub row: usize,
    /// Its cosine with what was asked for, from -1 to 1.
    pub similarity: f32,
}

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

    /// The answers to some questions, in their order, from one pass over the vectors for every
    /// [eight](QUESTIONS_IN_A_PASS) of them. Only the thread that asks is used: the other cores are left to others.
    ///
    /// The answers are those of [`Embeddings::neighbors_of_vector`].
    ///
    /// ```
    /// # use skipstream::embeddings::{Embeddings, Question};
    /// let words = [("king", 5), ("queen", 4), ("apple", 3)];
    /// let embeddings = Embeddings::new(2, words, vec![1.0, 0.0, 0.8, 0.6, -1.0, 0.2])?;
    /// let questions = [
    ///     Question { vector: &[1.0, 0.1], n: 1, exclude: &[0] },
    ///     Question { vector: &[-1.0, 0.0], n: 2, exclude: &[] },
    /// ];
    /// let answers = embeddings.answer(&questions)?;
    /// assert_eq!((answers[0][0].row, answers[1][0].row, answers[1].len()), (1, 2, 2));
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    pub fn answer(&self, questions: &[Question<'_>]) -> Result<Vec<Vec<Found>>> {
        let mut answers = Vec::with_capacity(questions.len());
        for questions in questions.chunks(QUESTIONS_IN_A_PASS) {
            let pass = Pass::new(self, questions)?;
            let mut best = pass.nothing_yet();
            pass.search(0..self.len(), &mut best);
            answers.extend(best.into_iter().map(|best| {
                let found = |Candidate { row, similarity }| Found { row, similarity };
                best.into_sorted().into_iter().map(found).collect()
            }));
        }
        Ok(answers)
    }

    /// Of each vector the nearest rows, without its own row, if it has one.
    fn nearest(&self, vectors: &[f32], own: &[usize], n: usize) -> Result<Nearest> {
        let n_questions = vectors.len() / self.dimensions();
        let mut nearest = Nearest { n, rows: Vec::new(), similarities: Vec::new() };
        let too_many = |_| {
            let bytes = n_questions.saturating_mul(n).saturating_mul(size_of::<usize>() + size_of::<f32>());
            Error::out_of_memory(format!("{n} answers to {n_questions} questions"), bytes)
        };
        let n_answers = n_questions.saturating_mul(n);
        nearest.rows.try_reserve_exact(n_answers).map_err(too_many)?;
        nearest.similarities.try_reserve_exact(n_answers).map_err(too_many)?;

        let question = |(place, vector)| Question {
            vector,
            n,
            exclude: own.get(place).map_or(&[], std::slice::from_ref),
        };
        let questions: Vec<Question<'_>> =
            vectors.chunks_exact(self.dimensions()).enumerate().map(question).collect();
        for questions in questions.chunks(QUESTIONS_IN_A_PASS) {
            let pass = Pass::new(self, questions)?;
            let search = |rows: Range<usize>, best: &mut [Best]| pass.search(rows, best);
            for best in search_all(0..self.len(), self.dimensions(), search, || pass.nothing_yet()) {
                for found in best.into_sorted() {
                    nearest.rows.push(found.row);
                    nearest.similarities.push(found.similarity);
                }
            }
        }
        Ok(nearest)
    }
}

/// A few questions, ready to be answered together.
struct Pass<'a> {
    embeddings: &'a Embeddings,
    questions: &'a [Question<'a>],
    /// The vectors, with one divided by their norm.
    vectors: Vec<(&'a [f32], f32)>,
}

impl<'a> Pass<'a> {
    fn new(embeddings: &'a Embeddings, questions: &'a [Question<'a>]) -> Result<Pass<'a>> {
        let kernel = Kernel::best();
        let mut vectors = Vec::with_capacity(questions.len());
        for &Question { vector, .. } in questions {
            embeddings.check_query(vector)?;
            vectors.push((vector, inverse_norm(kernel.dot(vector, vector))));
        }
        Ok(Pass { embeddings, questions, vectors })
    }

    /// What is known of each question before any row was looked at.
    fn nothing_yet(&self) -> Vec<Best> {
        self.questions.iter().map(|question| Best::new(question.n.min(self.embeddings.len()))).collect()
    }

    /// Compares some rows with all questions.
    fn search(&self, rows: Range<usize>, best: &mut [Best]) {
        self.embeddings.table.rows.compare_with_each(rows, &self.vectors, |number, first, cosines| {
            let (best, exclude) = (&mut best[number], self.questions[number].exclude);
            // Nearly always the whole block is too far away, which one comparison of its nearest row tells.
            if !best.wants(Candidate { similarity: greatest(cosines), row: first }) {
                return;
            }
            for (row, &similarity) in (first..).zip(cosines) {
                let candidate = Candidate { similarity, row };
                if best.wants(candidate) && !exclude.contains(&row) {
                    best.take(candidate);
                }
            }
        });
    }
}

/// The greatest of some cosines, eight of them compared at a time.
fn greatest(cosines: &[f32]) -> f32 {
    let mut greatest = [f32::MIN; 8];
    let (eights, rest) = cosines.as_chunks::<8>();
    for eight in eights.iter().map(|eight| &eight[..]).chain([rest]) {
        for (greatest, &cosine) in greatest.iter_mut().zip(eight) {
            *greatest = if cosine > *greatest { cosine } else { *greatest };
        }
    }
    greatest.into_iter().fold(f32::MIN, f32::max)
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

            // Every question with its own number of answers and its own exceptions.
            let excluded: Vec<Vec<usize>> = rows.iter().map(|&row| vec![row, row / 2]).collect();
            let questions: Vec<Question<'_>> = vectors
                .chunks(dimensions)
                .zip(&excluded)
                .enumerate()
                .map(|(question, (vector, exclude))| Question { vector, n: n + question, exclude })
                .collect();
            for (question, answer) in questions.iter().zip(embeddings.answer(&questions).unwrap()) {
                let Question { vector, n, exclude } = *question;
                let alone = embeddings.neighbors_of_vector(vector, n, exclude).unwrap();
                let answer: Vec<(&str, f32)> =
                    answer.iter().map(|found| (embeddings.word(found.row), found.similarity)).collect();
                let alone: Vec<(&str, f32)> =
                    alone.iter().map(|neighbor| (neighbor.word, neighbor.similarity)).collect();
                prop_assert_eq!(answer, alone);
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
