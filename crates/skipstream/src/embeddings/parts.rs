//! Embeddings made from others.

use super::Embeddings;
use crate::Result;

impl Embeddings {
    /// The words that were seen at least `count` times. The memory is shared.
    pub fn with_min_count(&self, count: u64) -> Embeddings {
        // Rows stand in the order of counts.
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.count(middle) >= count { low = middle + 1 } else { high = middle }
        }
        self.top(low)
    }

    /// A copy in which every vector has the length 1; the zero vector stays what it is.
    pub fn normalized(&self) -> Result<Embeddings> {
        let mut vectors = Vec::with_capacity(self.len() * self.dimensions());
        for row in 0..self.len() {
            let vector = self.vector_at(row);
            let squares = vector.iter().map(|&value| f64::from(value).powi(2));
            let norm = squares.sum::<f64>().sqrt();
            let divisor = if norm == 0.0 { 1.0 } else { norm };
            vectors.extend(vector.iter().map(|&value| (f64::from(value) / divisor) as f32));
        }
        let words = self.words().enumerate().map(|(row, word)| (word, self.count(row)));
        let copy = Embeddings::new(self.dimensions(), words, vectors)?;
        Ok(Embeddings { has_counts: self.has_counts, ..copy.with_origin(self.origin().cloned()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_are_left_out() {
        let words = [("a", 9), ("b", 5), ("c", 5), ("d", 1)];
        let embeddings = Embeddings::new(1, words, vec![0.0; 4]).unwrap();
        for (count, n_words) in [(0, 4), (1, 4), (2, 3), (5, 3), (6, 1), (9, 1), (10, 0)] {
            assert_eq!(embeddings.with_min_count(count).len(), n_words, "at least {count}");
        }
    }

    #[test]
    fn a_normalized_copy_has_vectors_of_length_one() {
        let words = [("a", 9), ("zero", 5), ("tiny", 5)];
        let embeddings = Embeddings::new(2, words, vec![3.0, 4.0, 0.0, 0.0, 0.0, -1e-40]).unwrap();
        let normalized = embeddings.normalized().unwrap();
        assert!(normalized.has_counts() && !embeddings.without_counts().normalized().unwrap().has_counts());
        assert_eq!(*normalized.vector_at(0), [0.6, 0.8]);
        let row = |word| normalized.vector_at(normalized.index_of(word).unwrap());
        assert_eq!((*row("zero")).to_vec(), [0.0, 0.0]);
        assert_eq!((*row("tiny")).to_vec(), [0.0, -1.0]);
        assert_eq!(normalized.count(0), 9);
    }
}
