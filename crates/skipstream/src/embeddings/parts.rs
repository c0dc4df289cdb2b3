//! Copies and parts of embeddings.

use super::{Composition, Counts, Embeddings, Vectors, VectorsError};
use crate::Result;

impl Embeddings {
    /// The words with at least this [recent count](Embeddings::recent_count). The memory is shared.
    pub fn with_min_count(&self, count: u64) -> Embeddings {
        // Rows are sorted by count.
        self.top(self.table.counts.deciding().partition_point(|&own| own >= count))
    }

    /// A copy of some rows, with their counts. It is an error if a row occurs twice.
    ///
    /// # Panics
    /// If a row does not exist.
    pub fn select(&self, rows: &[usize]) -> Result<Embeddings> {
        let vectors = rows.iter().flat_map(|&row| self.vector_at(row).into_owned()).collect();
        self.copy(rows, self.dimensions(), vectors)
    }

    /// A copy with vectors of one kind, of embeddings whose rows are a target row followed by a context row.
    pub(crate) fn composed(&self, vectors: Vectors) -> Result<Embeddings> {
        let (matrix, dimensions) = (self.matrix(), self.dimensions() / 2);
        let rows = matrix.chunks_exact(2 * dimensions);
        let halves =
            [0, dimensions].map(|start| rows.clone().map(move |row| &row[start..start + dimensions]));
        let composition = Composition::of(vectors, dimensions, halves);
        let dimensions = vectors.dimensions(dimensions);
        let mut values = vec![0.0; self.len() * dimensions];
        for (row, vector) in rows.zip(values.chunks_exact_mut(dimensions)) {
            composition.write(row.split_at(row.len() / 2).into(), vector);
        }
        Ok(self.copy(&self.all_rows(), dimensions, values)?.with_composition(&composition))
    }

    /// A copy with other counts, sorted by them. It is an error if a word has no count.
    pub fn with_counts(&self, count: impl Fn(&str) -> Option<u64>) -> Result<Embeddings> {
        let counted = |word| match count(word) {
            Some(count) => Ok((word, count)),
            None => Err(VectorsError::NoCount { word: word.to_owned() }.into()),
        };
        let words = self.words().map(counted).collect::<Result<Vec<(&str, u64)>>>()?;
        let copy = Embeddings::new(self.dimensions(), words, self.matrix().into_owned())?;
        Ok(Embeddings { origin: self.origin.clone(), reading: self.reading.clone(), ..copy })
    }

    /// A copy with vectors of length 1; zero vectors stay zero.
    pub fn normalized(&self) -> Result<Embeddings> {
        let mut vectors = Vec::with_capacity(self.len() * self.dimensions());
        for row in 0..self.len() {
            let vector = self.vector_at(row);
            let squares = vector.iter().map(|&value| f64::from(value).powi(2));
            let norm = squares.sum::<f64>().sqrt();
            let divisor = if norm == 0.0 { 1.0 } else { norm };
            vectors.extend(vector.iter().map(|&value| (f64::from(value) / divisor) as f32));
        }
        self.copy(&self.all_rows(), self.dimensions(), vectors)
    }

    /// A copy without [recent counts](Embeddings::recent_count), sorted by count.
    pub(crate) fn without_recent_counts(&self) -> Result<Embeddings> {
        let words = self.words().enumerate().map(|(row, word)| (word, self.count(row)));
        let copy = Embeddings::new(self.dimensions(), words, self.matrix().into_owned())?;
        Ok(Embeddings {
            has_counts: self.has_counts,
            origin: self.origin.clone(),
            reading: self.reading.clone(),
            ..copy
        })
    }

    fn all_rows(&self) -> Vec<usize> {
        (0..self.len()).collect()
    }

    /// The words of some rows with their counts, and other vectors.
    fn copy(&self, rows: &[usize], dimensions: usize, vectors: Vec<f32>) -> Result<Embeddings> {
        let words = Embeddings::list(rows.iter().map(|&row| self.word(row)))?;
        let all = rows.iter().map(|&row| self.count(row)).collect();
        let recent =
            self.has_recent_counts().then(|| rows.iter().map(|&row| self.recent_count(row)).collect());
        let documents =
            self.has_document_counts().then(|| rows.iter().map(|&row| self.document_count(row)).collect());
        let copy = Embeddings::from_list(dimensions, words, Counts { all, recent, documents }, vectors)?;
        let (origin, reading) = (self.origin.clone(), self.reading.clone());
        Ok(Embeddings { has_counts: self.has_counts, origin, reading, ..copy })
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
    fn some_rows_are_copied_with_their_counts() {
        let embeddings = Embeddings::new(1, [("a", 9), ("b", 5), ("c", 4)], vec![1.0, 2.0, 3.0]).unwrap();
        let selected = embeddings.select(&[2, 0]).unwrap();
        assert!(selected.words().eq(["a", "c"]) && selected.has_counts());
        assert_eq!(selected.count(1), 4);
        assert_eq!(*selected.matrix(), [1.0, 3.0]);
        assert!(embeddings.select(&[1, 1]).unwrap_err().to_string().contains("occurs twice"));
    }

    #[test]
    fn counts_from_elsewhere_sort_the_words() {
        let embeddings = Embeddings::uncounted(1, ["a", "b"], vec![1.0, 2.0]).unwrap();
        let counted = embeddings.with_counts(|word| Some(if word == "a" { 3 } else { 7 })).unwrap();
        assert!(counted.words().eq(["b", "a"]));
        assert_eq!(counted.known_count(0), Some(7));
        assert_eq!(*counted.matrix(), [2.0, 1.0]);
        let message = embeddings.with_counts(|word| (word == "a").then_some(1)).unwrap_err().to_string();
        assert_eq!(message, "`b` has no count");
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
