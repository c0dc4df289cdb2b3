//! Word vectors to read: immutable, sorted by frequency, cheap to share.
//!
//! Invariant: nothing here knows how the vectors were learned or what their file looks like.

mod analogy;
mod batch;
mod best;
mod cosine;
mod error;
mod mean;
mod odd_one_out;
mod origin;
mod parts;
mod products;
mod rows;
mod search;
mod suggestions;
mod table;
mod vectors;
mod words;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

pub use analogy::AnalogyRule;
pub(crate) use analogy::EPSILON;
pub use batch::{Found, Nearest, QUESTIONS_IN_A_PASS, Question};
pub use cosine::cosines;
pub use error::VectorsError;
pub use mean::{Lengths, Term};
pub use origin::Origin;
pub(crate) use rows::Rows;
pub use search::Neighbor;
pub use vectors::Vectors;
pub(crate) use words::Words;

use table::Table;

use crate::kernel::Kernel;
use crate::{Error, Result};

/// Words with their counts and vectors, the most frequent word in row 0.
///
/// A clone shares the memory, so that every thread may hold one of its own. A vector has no
/// direction when it is zero (or its norm is below 1e-15 or above 1e15); its similarity to
/// everything is then 0, never NaN.
///
/// ```
/// # use skipstream::embeddings::Embeddings;
/// let words = [("apple", 3), ("king", 5), ("queen", 4)];
/// let embeddings = Embeddings::new(2, words, vec![-1.0, 0.2, 1.0, 0.0, 0.8, 0.6])?;
/// assert_eq!(embeddings.word(0), "king");
/// assert_eq!(embeddings.neighbors("king", 1)?[0].word, "queen");
/// # Ok::<(), skipstream::Error>(())
/// ```
#[derive(Clone)]
pub struct Embeddings {
    table: Arc<Table>,
    /// How many of the table's rows are seen: all, or the top ones.
    len: usize,
    origin: Option<Arc<Origin>>,
    has_counts: bool,
}

impl Embeddings {
    /// Embeddings of the given words with their counts, and their vectors one after the other.
    ///
    /// The rows are sorted: the highest count first, equal counts by word. It is an error if the
    /// number of values is not words times dimensions, if a word stands twice, or if a value is
    /// not finite.
    pub fn new(
        dimensions: usize,
        words: impl IntoIterator<Item = (impl AsRef<str>, u64)>,
        vectors: Vec<f32>,
    ) -> Result<Embeddings> {
        let mut list = Words::default();
        let mut counts = Vec::new();
        for (word, count) in words {
            let word = word.as_ref();
            list.push(word).map_err(|earlier| {
                Error::invalid_vectors(format!(
                    "`{word}` stands twice, as words {} and {}",
                    earlier + 1,
                    list.len() + 1
                ))
            })?;
            counts.push(count);
        }
        Embeddings::from_list(dimensions, list, counts, vectors)
    }

    /// As [`Embeddings::new`], of words of which nobody knows how often they were seen: they keep their order.
    pub fn uncounted(
        dimensions: usize,
        words: impl IntoIterator<Item = impl AsRef<str>, IntoIter: ExactSizeIterator>,
        vectors: Vec<f32>,
    ) -> Result<Embeddings> {
        let words = words.into_iter();
        let places = (1..=words.len() as u64).rev();
        Ok(Embeddings::new(dimensions, words.zip(places), vectors)?.without_counts())
    }

    /// As `new`, of words that are known to be distinct.
    pub(crate) fn from_list(
        dimensions: usize,
        words: Words,
        counts: Vec<u64>,
        vectors: Vec<f32>,
    ) -> Result<Embeddings> {
        let table = Table::sorted(dimensions, words, counts, vectors)?;
        Ok(Embeddings { len: table.words.len(), table: Arc::new(table), origin: None, has_counts: true })
    }

    /// Embeddings whose rows are not looked at now, so that any value may be in them. Nothing if they are not in order.
    ///
    /// A row with a value that is not finite has no direction, and is an error when it is asked about.
    pub(crate) fn in_place(
        words: Words,
        counts: Vec<u64>,
        dimensions: usize,
        rows: Rows,
    ) -> Option<Embeddings> {
        let table = Table { dimensions, words, counts, rows };
        table.is_sorted().then(|| Embeddings {
            len: table.words.len(),
            table: Arc::new(table),
            origin: None,
            has_counts: true,
        })
    }

    /// Bytes that so many words in the order of frequency take at the most, while they are made.
    pub fn max_bytes(words: usize, dimensions: usize, max_word_bytes: usize) -> u64 {
        let row = size_of::<f32>() * (dimensions + 1);
        // A list that grows has up to twice the room, and its former self beside it: a word's bytes, its end, its count
        // and its place in the index. The order takes a number.
        let word = 3 * (max_word_bytes + 8 + 8 + 9 * 8 / 7) + 8;
        (words * (row + word)) as u64
    }

    /// The number of words.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no words.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The length of every vector.
    pub fn dimensions(&self) -> usize {
        self.table.dimensions
    }

    /// The words, in the order of rows.
    pub fn words(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len).map(|row| self.word(row))
    }

    /// The word of a row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn word(&self, row: usize) -> &str {
        self.table.words.word(self.checked(row))
    }

    /// Whether it is known how often words were seen. Most formats of other programs do not say it.
    pub fn has_counts(&self) -> bool {
        self.has_counts
    }

    /// The same embeddings, whose counts are only numbers that keep the order.
    pub fn without_counts(self) -> Embeddings {
        Embeddings { has_counts: false, ..self }
    }

    /// How often the word of a row was seen, if that is known.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn known_count(&self, row: usize) -> Option<u64> {
        self.has_counts.then(|| self.count(row))
    }

    /// How often the word of a row was seen; [without counts](Embeddings::has_counts), a number that keeps the order.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn count(&self, row: usize) -> u64 {
        self.table.counts[self.checked(row)]
    }

    /// The vector of a row. It is made anew where it is the sum of two rows of a file that was
    /// [opened](Embeddings::open), and borrowed otherwise.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn vector_at(&self, row: usize) -> Cow<'_, [f32]> {
        self.table.rows.row(self.checked(row), self.dimensions())
    }

    /// The vectors, in the order of rows.
    pub fn vectors(&self) -> impl ExactSizeIterator<Item = Cow<'_, [f32]>> {
        (0..self.len).map(|row| self.vector_at(row))
    }

    /// All vectors, one row after the other. The matrix is made anew where its rows are sums, and borrowed otherwise.
    pub fn matrix(&self) -> Cow<'_, [f32]> {
        self.table.rows.matrix(self.len * self.dimensions())
    }

    /// Whether the vectors lie in a file that was [opened](Embeddings::open).
    pub fn is_mapped(&self) -> bool {
        !matches!(self.table.rows, Rows::Owned { .. })
    }

    /// The vector of a row at length 1, or zeros where it has no direction.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn unit_vector(&self, row: usize) -> Vec<f32> {
        let inverse_norm = self.inverse_norm(row);
        if inverse_norm == 0.0 {
            return vec![0.0; self.dimensions()];
        }
        let mut vector = self.vector_at(row).into_owned();
        vector.iter_mut().for_each(|value| *value *= inverse_norm);
        vector
    }

    /// The row of a word.
    pub fn index_of(&self, word: &str) -> Option<usize> {
        self.table.words.row(word).filter(|&row| row < self.len)
    }

    /// The row of a word that is asked about: an error if there is none, or if its vector is not finite. (That can be
    /// only in a file that was [opened](Embeddings::open) without looking at its rows.)
    pub fn row_of(&self, word: &str) -> Result<usize> {
        let row = self.index_of(word).ok_or_else(|| Error::UnknownWord { word: word.to_owned() })?;
        self.check_row(row)?;
        Ok(row)
    }

    /// The vector of a row that is asked about: an error if it is not finite.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn checked_vector(&self, row: usize) -> Result<Cow<'_, [f32]>> {
        self.check_row(row)?;
        Ok(self.vector_at(row))
    }

    /// The vector of a word.
    pub fn vector(&self, word: &str) -> Option<Cow<'_, [f32]>> {
        self.index_of(word).map(|row| self.vector_at(row))
    }

    /// The `n` most frequent words as embeddings of their own. The memory is shared.
    pub fn top(&self, n: usize) -> Embeddings {
        Embeddings { len: self.len.min(n), ..self.clone() }
    }

    /// Where the vectors came from, if that is known.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_deref()
    }

    /// The same embeddings, with a note of where they came from.
    pub fn with_origin(self, origin: Option<Origin>) -> Embeddings {
        Embeddings { origin: origin.map(Arc::new), ..self }
    }

    /// The cosine between two words, from -1 to 1.
    pub fn similarity(&self, first: &str, second: &str) -> Result<f32> {
        self.similarity_of_rows(self.row_of(first)?, self.row_of(second)?)
    }

    /// The cosine between the words of two rows, from -1 to 1. A row is as near to itself as can be, whatever rounding
    /// would make of it.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn similarity_of_rows(&self, first: usize, second: usize) -> Result<f32> {
        let (left, right) = (self.checked_vector(first)?, self.checked_vector(second)?);
        let inverse_norms = [self.inverse_norm(first), self.inverse_norm(second)];
        if first == second && inverse_norms[0] > 0.0 {
            return Ok(1.0);
        }
        Ok(cosine::cosine(Kernel::best().dot(&left, &right), inverse_norms))
    }

    /// One divided by the norm of a row, or 0 where the vector has no direction.
    pub(crate) fn inverse_norm(&self, row: usize) -> f32 {
        self.table.rows.inverse_norm(self.checked(row), self.dimensions())
    }

    fn check_row(&self, row: usize) -> Result<()> {
        table::check_finite(&self.table.words, row, &self.vector_at(row))
    }

    /// The row itself; the table may have rows that these embeddings do not see.
    fn checked(&self, row: usize) -> usize {
        assert!(row < self.len, "row {row} of {} words", self.len);
        row
    }
}

/// Only the sizes: nobody wants a million vectors in a message.
impl fmt::Debug for Embeddings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Embeddings")
            .field("len", &self.len())
            .field("dimensions", &self.dimensions())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(dimensions: usize, words: &[(&str, u64)], vectors: Vec<f32>) -> String {
        let words = words.iter().copied();
        Embeddings::new(dimensions, words, vectors).unwrap_err().to_string()
    }

    fn three() -> Embeddings {
        let words = [("rare", 1), ("b", 7), ("a", 7)];
        Embeddings::new(2, words, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap()
    }

    #[test]
    fn rows_are_sorted_by_count_and_then_by_word() {
        let embeddings = three();
        assert_eq!(embeddings.words().collect::<Vec<_>>(), ["a", "b", "rare"]);
        assert_eq!(embeddings.count(2), 1);
        assert_eq!(embeddings.vectors().collect::<Vec<_>>().concat(), [5.0, 6.0, 3.0, 4.0, 1.0, 2.0]);
        assert_eq!(embeddings.vector("rare").unwrap(), [1.0, 2.0].as_slice());
        assert_eq!(embeddings.index_of("b"), Some(1));
        assert_eq!(embeddings.vector("none"), None);
    }

    #[test]
    fn top_shares_the_rows_and_hides_the_rest() {
        let embeddings = three();
        let top = embeddings.top(2);
        assert_eq!(top.len(), 2);
        assert_eq!(top.index_of("rare"), None);
        assert_eq!(top.vector_at(0).as_ptr(), embeddings.vector_at(0).as_ptr());
        assert_eq!(top.vectors().len(), 2);
        assert_eq!(*top.matrix(), [5.0, 6.0, 3.0, 4.0]);
        assert!(!top.is_mapped());
        assert_eq!(embeddings.top(9).len(), 3);
        assert!(embeddings.top(0).is_empty());
    }

    #[test]
    #[should_panic = "row 2 of 2 words"]
    fn a_hidden_row_cannot_be_reached() {
        three().top(2).vector_at(2);
    }

    #[test]
    fn words_without_counts_keep_their_order() {
        let embeddings = Embeddings::uncounted(1, ["b", "a", "c"], vec![1.0, 2.0, 3.0]).unwrap();
        assert_eq!(embeddings.words().collect::<Vec<_>>(), ["b", "a", "c"]);
        assert_eq!((embeddings.known_count(0), embeddings.count(0)), (None, 3));
    }

    #[test]
    fn no_words_are_embeddings_too() {
        let none: [(&str, u64); 0] = [];
        let embeddings = Embeddings::new(3, none, Vec::new()).unwrap();
        assert!(embeddings.is_empty());
        assert!(embeddings.neighbors_of_vector(&[0.0; 3], 5, &[]).unwrap().is_empty());
    }

    #[test]
    fn similarity_is_the_cosine() {
        let words = [("x", 3), ("diagonal", 2), ("zero", 1)];
        let embeddings = Embeddings::new(2, words, vec![2.0, 0.0, 3.0, 3.0, 0.0, 0.0]).unwrap();
        let similarity = embeddings.similarity("x", "diagonal").unwrap();
        assert!((similarity - 0.5f32.sqrt()).abs() < 1e-6);
        assert_eq!(embeddings.similarity("x", "zero").unwrap(), 0.0);
        assert_eq!(embeddings.similarity("diagonal", "diagonal").unwrap(), 1.0);
        assert_eq!(embeddings.similarity("zero", "zero").unwrap(), 0.0);
        let message = embeddings.similarity("x", "y").unwrap_err().to_string();
        assert_eq!(message, "`y` is not in the vocabulary");
    }

    #[test]
    fn zero_dimensions_are_refused() {
        assert_eq!(refusal(0, &[], Vec::new()), "dimensions is 0; it must be at least 1");
    }

    #[test]
    fn a_wrong_number_of_values_is_refused() {
        assert_eq!(
            refusal(2, &[("a", 1), ("b", 1)], vec![0.0; 3]),
            "2 words of 2 dimensions do not have 3 values"
        );
    }

    #[test]
    fn a_duplicate_word_is_refused_with_both_places() {
        assert_eq!(
            refusal(1, &[("a", 1), ("b", 2), ("a", 3)], vec![0.0; 3]),
            "`a` stands twice, as words 1 and 3"
        );
    }

    #[test]
    fn a_value_that_is_not_finite_is_refused_with_its_place() {
        assert_eq!(
            refusal(2, &[("a", 1), ("b", 2)], vec![0.0, 0.0, 0.0, f32::NAN]),
            "value 2 of `b` (word 2) is NaN; it must be finite"
        );
    }
}
