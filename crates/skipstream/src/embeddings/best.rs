//! The n best candidates.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A row with its score. Better candidates are greater: the order is by score, and of equal scores the first row is best.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub similarity: f32,
    pub row: usize,
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

/// The best candidates so far. The heap's top is the worst of them.
pub(super) struct Best {
    n: usize,
    kept: BinaryHeap<Reverse<Candidate>>,
}

impl Best {
    pub fn new(n: usize) -> Best {
        Best { n, kept: BinaryHeap::new() }
    }

    /// The score that a further row must exceed.
    pub fn bar(&self) -> f32 {
        match self.kept.peek() {
            _ if self.kept.len() < self.n => f32::NEG_INFINITY,
            Some(worst) => worst.0.similarity,
            None => f32::INFINITY,
        }
    }

    /// Whether the candidate is among the best.
    pub fn wants(&self, candidate: Candidate) -> bool {
        self.kept.len() < self.n || self.kept.peek().is_some_and(|worst| candidate > worst.0)
    }

    /// Keeps a wanted candidate.
    pub fn take(&mut self, candidate: Candidate) {
        if self.kept.len() == self.n {
            self.kept.pop();
        }
        self.kept.push(Reverse(candidate));
    }

    pub fn merge(&mut self, other: Best) {
        for Reverse(candidate) in other.kept {
            if self.wants(candidate) {
                self.take(candidate);
            }
        }
    }

    /// The best first.
    pub fn into_sorted(self) -> Vec<Candidate> {
        // Ascending order of reversed candidates is descending order of candidates.
        self.kept.into_sorted_vec().into_iter().map(|Reverse(kept)| kept).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn two_heaps_keep_what_a_full_sort_would(
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
            let mut parts = [Best::new(n), Best::new(n)];
            for &candidate in &all {
                let part = &mut parts[usize::from(candidate.row % 3 == 0)];
                if part.wants(candidate) {
                    part.take(candidate);
                }
            }
            let [mut best, other] = parts;
            best.merge(other);
            prop_assert_eq!(best.into_sorted(), sorted);
        }
    }
}
