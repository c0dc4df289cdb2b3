//! Exact nearest neighbours: every row is compared, the best few are kept.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde::Serialize;

use super::Embeddings;
use super::best::{Best, Candidate};
use super::cosine::inverse_norm;
use crate::kernel::Kernel;
use crate::{Error, Result};

/// A word near the one that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Neighbor<'embeddings> {
    /// The word.
    pub word: &'embeddings str,
    /// The cosine between it and what was asked for, from -1 to 1; of an analogy by 3CosMul, its score.
    pub similarity: f32,
    /// How often the word was seen, if that is known.
    pub count: Option<u64>,
}

impl Embeddings {
    /// The `n` words nearest to `word`, itself excluded, the nearest first.
    ///
    /// Words that are equally near stand in the order of rows, the more frequent first.
    pub fn neighbors(&self, word: &str, n: usize) -> Result<Vec<Neighbor<'_>>> {
        let row = self.row_of(word)?;
        self.neighbors_of_vector(&self.vector_at(row), n, &[row])
    }

    /// The `n` words nearest to a vector, without the rows in `exclude`, the nearest first.
    ///
    /// The vector must have as many dimensions as the embeddings, all of them finite.
    ///
    /// ```
    /// # use skipstream::embeddings::Embeddings;
    /// let words = [("king", 5), ("queen", 4), ("apple", 3)];
    /// let embeddings = Embeddings::new(2, words, vec![1.0, 0.0, 0.8, 0.6, -1.0, 0.2])?;
    /// let king = embeddings.index_of("king").expect("king is one of the words");
    /// let nearest = embeddings.neighbors_of_vector(&[2.0, 0.1], 1, &[king])?;
    /// assert_eq!(nearest[0].word, "queen");
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    pub fn neighbors_of_vector(
        &self,
        vector: &[f32],
        n: usize,
        exclude: &[usize],
    ) -> Result<Vec<Neighbor<'_>>> {
        self.neighbors_within(0..self.len(), vector, n, exclude)
    }

    /// As [`Embeddings::neighbors_of_vector`], among some rows only. Those that do not exist are left out.
    pub fn neighbors_within(
        &self,
        rows: Range<usize>,
        vector: &[f32],
        n: usize,
        exclude: &[usize],
    ) -> Result<Vec<Neighbor<'_>>> {
        self.check_query(vector)?;
        let inverse_norm = inverse_norm(Kernel::best().dot(vector, vector));
        Ok(self.best(rows, n, exclude, [(vector, inverse_norm)], |[cosine]| cosine))
    }

    /// The cosines between a vector and some rows, in their order. Rows that do not exist are left out.
    pub fn similarities(&self, vector: &[f32], rows: Range<usize>) -> Result<Vec<f32>> {
        self.check_query(vector)?;
        let rows = self.existing(rows);
        let inverse_norm = inverse_norm(Kernel::best().dot(vector, vector));
        let mut similarities = Vec::with_capacity(rows.len());
        self.table.rows.compare(rows, [(vector, inverse_norm)], |_, [cosine]| similarities.push(cosine));
        Ok(similarities)
    }

    /// The rows whose words are nearer to the word of `row` than that of `other` is, in the order of rows.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn closer_than(&self, row: usize, other: usize) -> Result<Vec<usize>> {
        let similarities = self.similarities(&self.checked_vector(row)?, 0..self.len())?;
        let bar = if row == other { 1.0 } else { similarities[other] };
        let closer = |&candidate: &usize| candidate != row && similarities[candidate] > bar;
        Ok((0..self.len()).filter(closer).collect())
    }

    /// The `n` words with the highest scores, without the rows in `exclude`. The score of a word is made of its cosines
    /// with the vectors, which come with one divided by their norm, and must not be NaN.
    pub(super) fn best<const N: usize>(
        &self,
        rows: Range<usize>,
        n: usize,
        exclude: &[usize],
        vectors: [(&[f32], f32); N],
        score: impl Fn([f32; N]) -> f32 + Sync,
    ) -> Vec<Neighbor<'_>> {
        let rows = self.existing(rows);
        let n = n.min(rows.len());
        let search = |rows: Range<usize>, best: &mut [Best]| {
            let [best] = best else { unreachable!("there is one question") };
            self.table.rows.compare(rows, vectors, |row, cosines| {
                let candidate = Candidate { similarity: score(cosines), row };
                if best.wants(candidate) && !exclude.contains(&row) {
                    best.take(candidate);
                }
            });
        };
        let best = search_all(rows, self.dimensions(), search, || vec![Best::new(n)]);
        best.into_iter().flat_map(Best::into_sorted).map(|found| self.neighbor(found)).collect()
    }

    /// Those of the rows that there are.
    fn existing(&self, rows: Range<usize>) -> Range<usize> {
        let end = rows.end.min(self.len());
        rows.start.min(end)..end
    }

    /// An error if a vector cannot be asked about: it must have as many dimensions as the embeddings, all of them finite.
    pub fn check_query(&self, vector: &[f32]) -> Result<()> {
        if vector.len() != self.dimensions() {
            return Err(Error::invalid_vectors(format!(
                "the vector has {} values; the embeddings have {} dimensions",
                vector.len(),
                self.dimensions()
            )));
        }
        match vector.iter().position(|value| !value.is_finite()) {
            Some(place) => Err(Error::invalid_vectors(format!(
                "value {} of the vector is {}; it must be finite",
                place + 1,
                vector[place]
            ))),
            None => Ok(()),
        }
    }

    pub(super) fn neighbor(&self, candidate: Candidate) -> Neighbor<'_> {
        Neighbor {
            word: self.word(candidate.row),
            similarity: candidate.similarity,
            count: self.known_count(candidate.row),
        }
    }
}

/// Values that a thread compares at a time. Who gets fewer is done before another thread has started.
const VALUES_AT_A_TIME: usize = 1 << 19;

/// Searches rows for the best of one or several questions, on all cores where there are many rows. Which thread searches
/// what makes no difference to the best.
pub(super) fn search_all(
    rows: Range<usize>,
    dimensions: usize,
    search: impl Fn(Range<usize>, &mut [Best]) + Sync,
    none: impl Fn() -> Vec<Best> + Sync,
) -> Vec<Best> {
    let rows_at_a_time = (VALUES_AT_A_TIME / dimensions).max(1);
    let parts = rows.len().div_ceil(rows_at_a_time);
    let next = AtomicUsize::new(rows.start);
    let work = || {
        let mut best = none();
        loop {
            let start = next.fetch_add(rows_at_a_time, Ordering::Relaxed);
            if start >= rows.end {
                return best;
            }
            search(start..rows.end.min(start + rows_at_a_time), &mut best);
        }
    };
    if parts < 2 {
        return work();
    }
    let threads = thread::available_parallelism().map_or(1, usize::from).min(parts);
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut best = work();
        for other in others {
            let other = other.join().expect("a search does not panic");
            best.iter_mut().zip(other).for_each(|(best, other)| best.merge(other));
        }
        best
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embeddings::cosine::cosine;

    fn compass() -> Embeddings {
        let words = [("north", 9), ("northeast", 8), ("east", 7), ("west", 6), ("south", 5), ("nowhere", 4)];
        let vectors = vec![0.0, 2.0, 1.0, 1.0, 3.0, 0.0, -1.0, 0.0, 0.0, -1.0, 0.0, 0.0];
        Embeddings::new(2, words, vectors).unwrap()
    }

    fn words_of<'a>(neighbors: &[Neighbor<'a>]) -> Vec<&'a str> {
        neighbors.iter().map(|neighbor| neighbor.word).collect()
    }

    #[test]
    fn the_word_itself_is_not_its_neighbor_and_ties_keep_row_order() {
        let compass = compass();
        let nearest = compass.neighbors("north", 10).unwrap();
        let expected = ["northeast", "east", "west", "nowhere", "south"];
        assert_eq!(words_of(&nearest), expected);
        assert!((nearest[0].similarity - 0.5f32.sqrt()).abs() < 1e-6);
        assert_eq!(nearest[3].similarity, 0.0);
        assert_eq!(nearest[0].count, Some(8));
    }

    #[test]
    fn only_n_neighbors_are_given() {
        let compass = compass();
        assert_eq!(words_of(&compass.neighbors("north", 2).unwrap()), ["northeast", "east"]);
        assert!(compass.neighbors("north", 0).unwrap().is_empty());
        assert_eq!(compass.neighbors("north", usize::MAX).unwrap().len(), 5);
    }

    #[test]
    fn the_top_words_are_the_only_neighbors() {
        let top = compass().top(3);
        assert_eq!(words_of(&top.neighbors("north", 9).unwrap()), ["northeast", "east"]);
        assert!(top.neighbors("south", 9).is_err());
    }

    #[test]
    fn some_rows_are_searched_alone() {
        let compass = compass();
        let north = [0.0, 1.0];
        let within = |rows| words_of(&compass.neighbors_within(rows, &north, 9, &[2]).unwrap());
        assert_eq!(within(1..4), ["northeast", "west"]);
        assert_eq!(within(4..99), ["nowhere", "south"]);
        assert!(within(7..99).is_empty());
        let similarities = compass.similarities(&north, 2..99).unwrap();
        assert_eq!(similarities, [0.0, 0.0, -1.0, 0.0]);
        assert!(compass.similarities(&[f32::NAN, 0.0], 0..1).is_err());
    }

    #[test]
    fn closer_words_are_those_before_the_other() {
        let compass = compass();
        let row = |word| compass.index_of(word).unwrap();
        assert_eq!(compass.closer_than(row("north"), row("south")).unwrap(), [1, 2, 3, 5]);
        assert_eq!(compass.closer_than(row("north"), row("east")).unwrap(), [1]);
        assert!(compass.closer_than(row("north"), row("north")).unwrap().is_empty());
    }

    #[test]
    fn an_unknown_word_is_named() {
        let message = compass().neighbors("up", 1).unwrap_err().to_string();
        assert_eq!(message, "`up` is not in the vocabulary");
    }

    #[test]
    fn a_query_of_the_wrong_length_is_refused() {
        let message = compass().neighbors_of_vector(&[1.0], 1, &[]).unwrap_err();
        assert_eq!(message.to_string(), "the vector has 1 values; the embeddings have 2 dimensions");
    }

    #[test]
    fn a_query_that_is_not_finite_is_refused() {
        let compass = compass();
        let message = compass.neighbors_of_vector(&[1.0, f32::NAN], 1, &[]);
        assert_eq!(message.unwrap_err().to_string(), "value 2 of the vector is NaN; it must be finite");
    }

    #[test]
    fn many_rows_are_searched_by_threads_with_the_same_result() {
        let mut random = crate::Random::new(1);
        let words = (0..200_000).map(|number| (number.to_string(), 1));
        // Few different values, so that many rows are equally near.
        let values = (0..200_000 * 6).map(|_| (random.uniform() * 3.0).floor() as f32 - 1.0).collect();
        let embeddings = Embeddings::new(6, words, values).unwrap();
        let query = [1.0, -1.0, 0.5, 1.0, 0.0, 1.0];
        let kernel = Kernel::best();
        let inverse_norm = |vector: &[f32]| inverse_norm(kernel.dot(vector, vector));
        let similarity = |row| {
            let vector = embeddings.vector_at(row);
            cosine(kernel.dot(&query, &vector), [inverse_norm(&query), inverse_norm(&vector)])
        };
        let mut expected: Vec<(f32, usize)> =
            (0..embeddings.len()).map(|row| (similarity(row), row)).collect();
        expected.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
        let expected: Vec<&str> = expected[..500].iter().map(|&(_, row)| embeddings.word(row)).collect();
        assert_eq!(words_of(&embeddings.neighbors_of_vector(&query, 500, &[]).unwrap()), expected);
    }
}
