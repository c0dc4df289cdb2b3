//! Exact nearest neighbours: every row is compared, the best few are kept.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use serde::Serialize;

use super::Embeddings;
use super::cosine::{cosine, inverse_norm};
use crate::{Error, Result};

/// A word near the one that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Neighbor<'embeddings> {
    /// The word.
    pub word: &'embeddings str,
    /// The cosine between it and what was asked for, from -1 to 1.
    pub similarity: f32,
    /// How often the word was seen.
    pub count: u64,
}

impl Embeddings {
    /// The `n` words nearest to `word`, itself excluded, the nearest first.
    ///
    /// Words that are equally near stand in the order of rows, the more frequent first.
    pub fn neighbors(&self, word: &str, n: usize) -> Result<Vec<Neighbor<'_>>> {
        let row = self.known(word)?;
        self.neighbors_of_vector(self.vector_at(row), n, &[row])
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
        self.check_query(vector)?;
        let query = (vector, inverse_norm(vector));
        let candidates = (0..self.len()).filter(|row| !exclude.contains(row)).map(|row| Candidate {
            similarity: cosine(query, (self.vector_at(row), self.inverse_norm(row))),
            row,
        });
        let best = best(candidates, n.min(self.len()));
        Ok(best.into_iter().map(|found| self.neighbor(found)).collect())
    }

    fn check_query(&self, vector: &[f32]) -> Result<()> {
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

    fn neighbor(&self, candidate: Candidate) -> Neighbor<'_> {
        Neighbor {
            word: self.word(candidate.row),
            similarity: candidate.similarity,
            count: self.count(candidate.row),
        }
    }
}

/// A row with its similarity; the greater one is the better one.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    similarity: f32,
    row: usize,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Candidate) -> Ordering {
        self.similarity.total_cmp(&other.similarity).then(other.row.cmp(&self.row))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Candidate) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Candidate) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

/// The `n` greatest candidates, the greatest first. The heap's top is the worst that is kept.
fn best(candidates: impl Iterator<Item = Candidate>, n: usize) -> Vec<Candidate> {
    let mut kept = BinaryHeap::with_capacity(n);
    for candidate in candidates {
        if kept.len() < n {
            kept.push(Reverse(candidate));
        } else if let Some(mut worst) = kept.peek_mut()
            && candidate > worst.0
        {
            worst.0 = candidate;
        }
    }
    // Ascending order of reversed candidates is descending order of candidates.
    let sorted = kept.into_sorted_vec();
    sorted.into_iter().map(|Reverse(kept)| kept).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn compass() -> Embeddings {
        let words = [("north", 9), ("northeast", 8), ("east", 7), ("west", 6), ("south", 5), ("nowhere", 4)];
        let vectors = vec![0.0, 2.0, 1.0, 1.0, 3.0, 0.0, -1.0, 0.0, 0.0, -1.0, 0.0, 0.0];
        Embeddings::new(2, words, vectors).unwrap()
    }

    fn words<'a>(neighbors: &[Neighbor<'a>]) -> Vec<&'a str> {
        neighbors.iter().map(|neighbor| neighbor.word).collect()
    }

    #[test]
    fn the_word_itself_is_not_its_neighbor_and_ties_keep_row_order() {
        let compass = compass();
        let nearest = compass.neighbors("north", 10).unwrap();
        let expected = ["northeast", "east", "west", "nowhere", "south"];
        assert_eq!(words(&nearest), expected);
        assert!((nearest[0].similarity - 0.5f32.sqrt()).abs() < 1e-6);
        assert_eq!(nearest[3].similarity, 0.0);
        assert_eq!(nearest[0].count, 8);
    }

    #[test]
    fn only_n_neighbors_are_given() {
        let compass = compass();
        assert_eq!(words(&compass.neighbors("north", 2).unwrap()), ["northeast", "east"]);
        assert!(compass.neighbors("north", 0).unwrap().is_empty());
        assert_eq!(compass.neighbors("north", usize::MAX).unwrap().len(), 5);
    }

    #[test]
    fn the_top_words_are_the_only_neighbors() {
        let top = compass().top(3);
        assert_eq!(words(&top.neighbors("north", 9).unwrap()), ["northeast", "east"]);
        assert!(top.neighbors("south", 9).is_err());
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

    proptest! {
        #[test]
        fn the_heap_keeps_what_a_full_sort_would(
            similarities in proptest::collection::vec(-3i8..=3, 0..60),
            n in 0usize..70,
        ) {
            let all: Vec<Candidate> = similarities
                .iter()
                .enumerate()
                .map(|(row, &similarity)| Candidate { similarity: f32::from(similarity), row })
                .collect();
            let mut sorted = all.clone();
            sorted.sort_by(|left, right| right.cmp(left));
            sorted.truncate(n);
            prop_assert_eq!(best(all.into_iter(), n), sorted);
        }
    }
}
