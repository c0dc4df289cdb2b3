//! Word vectors: immutable, sorted by frequency, cheap to share.
//!
//! Invariant: nothing here knows how the vectors were learned or what their file looks like.

mod best;
mod byte_cosines;
mod candidates;
mod composition;
mod cosine;
mod documents;
mod error;
mod estimates;
mod expression;
mod mean;
mod next;
mod odd_one_out;
mod parts;
mod projection;
mod quantization;
mod quantized;
mod query;
mod rows;
mod search;
mod subwords;
mod suggestions;
mod table;
mod vectors;
mod words;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

pub(crate) use composition::Composition;
pub use cosine::cosines;
pub use documents::{DocumentOptions, DocumentWords, Weighting};
pub(crate) use documents::{WordVectors, weighted_mean};
pub use error::VectorsError;
pub use estimates::Source;
pub use expression::Expression;
pub use mean::Lengths;
pub use projection::Projection;
pub use quantization::Quantization;
pub(crate) use quantized::{QuantizedRows, QuantizedValues, Values};
#[cfg(feature = "eval")]
pub(crate) use query::EPSILON;
pub use query::{AnalogyRule, Combine, Neighbor, Query, Term};
pub(crate) use rows::{MappedPair, Rows};
#[cfg(feature = "eval")]
pub(crate) use search::find_best;
pub(crate) use subwords::{BEGIN, END, HASH_SEED, HASHES};
pub use subwords::{SubwordOptions, Subwords};
pub use vectors::{Origin, Vectors};
pub(crate) use words::{WordList, has_upper_case};

use estimates::Estimates;
pub(crate) use table::Counts;
use table::Table;

use crate::corpus::TextOptions;
use crate::kernel::Kernel;
use crate::phrases::{Reading, ReadingMetadata, word_of};
use crate::{Error, Result};

/// Words with their counts and vectors, the most frequent word in row 0.
///
/// A clone shares the memory, so every thread can own one. A vector of zeros has no direction; its similarity to everything is
/// then 0, never NaN.
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
    /// The number of visible rows of the table: all, or the top ones.
    len: usize,
    /// The sum of all counts of the table that decide which words are frequent.
    n_tokens: u64,
    origin: Option<Arc<Origin>>,
    has_counts: bool,
    /// How the model reads text, unless words are just what is between white space, or that is unknown.
    reading: Option<Arc<Reading>>,
    /// Words that can be looked up besides those of the table.
    estimates: Option<Arc<Estimates>>,
    /// What joined vectors have subtracted from target rows, if it is known. Mapped rows know it themselves.
    target_offset: Option<Arc<[f32]>>,
}

impl Embeddings {
    /// Creates embeddings from words with their counts, and the concatenated vectors.
    ///
    /// The rows are sorted: the highest count first, equal counts by word. It is an error if the number of values is not words
    /// times dimensions, if a word occurs twice, or if a value is not finite.
    pub fn new(
        dimensions: usize,
        words: impl IntoIterator<Item = (impl AsRef<str>, u64)>,
        vectors: Vec<f32>,
    ) -> Result<Embeddings> {
        let mut counts = Vec::new();
        let words = words.into_iter().map(|(word, count)| {
            counts.push(count);
            word
        });
        let list = Embeddings::list(words)?;
        Embeddings::from_list(dimensions, list, counts.into(), vectors)
    }

    /// A list of words, which must be distinct.
    pub(crate) fn list(words: impl IntoIterator<Item = impl AsRef<str>>) -> Result<WordList> {
        let mut list = WordList::default();
        for word in words {
            let word = word.as_ref();
            list.push(word).map_err(|earlier| {
                let (first, second) = (earlier + 1, list.len() + 1);
                VectorsError::Duplicate { word: word.to_owned(), first, second }
            })?;
        }
        Ok(list)
    }

    /// Creates embeddings like [`Embeddings::new`], from words without counts. They keep their order.
    pub fn uncounted(
        dimensions: usize,
        words: impl IntoIterator<Item = impl AsRef<str>, IntoIter: ExactSizeIterator>,
        vectors: Vec<f32>,
    ) -> Result<Embeddings> {
        let words = words.into_iter();
        let places = (1..=words.len() as u64).rev();
        Ok(Embeddings::new(dimensions, words.zip(places), vectors)?.without_counts())
    }

    /// Like `new`, for words that are known to be distinct.
    pub(crate) fn from_list(
        dimensions: usize,
        words: WordList,
        counts: Counts,
        vectors: Vec<f32>,
    ) -> Result<Embeddings> {
        Ok(Embeddings::of(Table::sorted(dimensions, words, counts, vectors)?))
    }

    /// Embeddings whose vectors are not checked. `None` if the rows are not sorted.
    ///
    /// A row with a value that is not finite has no direction, and is an error in a query.
    pub(crate) fn in_place(
        words: WordList,
        counts: Counts,
        dimensions: usize,
        rows: Rows,
    ) -> Option<Embeddings> {
        let table = Table { dimensions, words, counts, rows };
        table.is_sorted().then(|| Embeddings::of(table))
    }

    fn of(table: Table) -> Embeddings {
        let n_tokens = table.counts.deciding().iter().fold(0, |sum: u64, &count| sum.saturating_add(count));
        Embeddings {
            len: table.words.len(),
            n_tokens,
            table: Arc::new(table),
            origin: None,
            has_counts: true,
            reading: None,
            estimates: None,
            target_offset: None,
        }
    }

    /// The maximum number of bytes that creating embeddings from sorted words takes.
    pub fn max_bytes(words: usize, dimensions: usize, max_word_bytes: usize) -> u64 {
        let row = size_of::<f32>() * (dimensions + 1);
        // A list that grows has up to twice its size, and its old copy: a word's bytes, its end, its count and its entry in
        // the index. The order takes a number.
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

    /// The words, by row.
    pub fn words(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len).map(|row| self.word(row))
    }

    /// The word of a row.
    ///
    /// # Panics
    /// If the row does not exist.
    pub fn word(&self, row: usize) -> &str {
        match self.estimate(row) {
            Some((estimates, place)) => estimates.words.word(place),
            None => self.table.words.word(self.checked(row)),
        }
    }

    /// Whether counts are known. Most formats of other programs do not have them.
    pub fn has_counts(&self) -> bool {
        self.has_counts
    }

    /// The same embeddings, with counts that only keep the order.
    pub fn without_counts(self) -> Embeddings {
        Embeddings { has_counts: false, ..self }
    }

    /// The count of the word of a row, if known.
    ///
    /// # Panics
    /// If the row does not exist.
    pub fn known_count(&self, row: usize) -> Option<u64> {
        self.has_counts.then(|| self.count(row))
    }

    /// The count of the word of a row; [without counts](Embeddings::has_counts), a number that keeps the order.
    ///
    /// # Panics
    /// If the row does not exist.
    pub fn count(&self, row: usize) -> u64 {
        self.vocabulary_row(row).map_or(0, |row| self.table.counts.all[self.checked(row)])
    }

    /// The count of the word of a row where older occurrences count less, if the model has a
    /// [half-life](crate::HalfLife); otherwise the [count](Embeddings::count). Rows are sorted by it, and a minimum count
    /// is a minimum of it.
    ///
    /// # Panics
    /// If the row does not exist.
    pub fn recent_count(&self, row: usize) -> u64 {
        self.vocabulary_row(row).map_or(0, |row| self.table.counts.deciding()[self.checked(row)])
    }

    /// Whether older occurrences count less in [recent counts](Embeddings::recent_count).
    pub(crate) fn has_recent_counts(&self) -> bool {
        self.table.counts.recent.is_some()
    }

    /// The number of documents that the word of a row has occurred in; 0 where documents were not counted. A service counts
    /// each line as a document.
    ///
    /// # Panics
    /// If the row does not exist.
    pub fn document_count(&self, row: usize) -> u64 {
        let documents = self.table.counts.documents.as_ref();
        self.vocabulary_row(row).zip(documents).map_or(0, |(row, documents)| documents[self.checked(row)])
    }

    /// Whether documents were counted.
    pub(crate) fn has_document_counts(&self) -> bool {
        self.table.counts.documents.is_some()
    }

    /// The vector of a row. It is computed if it is made of two rows of a model that was [opened](Embeddings::open) or is
    /// [quantized](Embeddings::quantized), and borrowed otherwise.
    ///
    /// # Panics
    /// If the row does not exist.
    pub fn vector_at(&self, row: usize) -> Cow<'_, [f32]> {
        match self.estimate(row) {
            Some((estimates, place)) => {
                estimates.vectors[place * self.dimensions()..][..self.dimensions()].into()
            }
            None => self.table.rows.row(self.checked(row), self.dimensions()),
        }
    }

    /// The vectors, by row.
    pub fn vectors(&self) -> impl ExactSizeIterator<Item = Cow<'_, [f32]>> {
        (0..self.len).map(|row| self.vector_at(row))
    }

    /// All vectors, concatenated. The matrix is computed if its rows are, and borrowed otherwise.
    pub fn matrix(&self) -> Cow<'_, [f32]> {
        self.table.rows.matrix(self.len, self.dimensions())
    }

    /// Whether the vectors are memory-mapped, by [`Embeddings::open`].
    pub fn is_mapped(&self) -> bool {
        self.table.rows.is_mapped()
    }

    /// The vector of a row scaled to length 1, or zeros if it has no direction.
    ///
    /// # Panics
    /// If the row does not exist.
    pub fn unit_vector(&self, row: usize) -> Vec<f32> {
        let inverse_norm = self.inverse_norm(row);
        let mut vector = self.vector_at(row).into_owned();
        if inverse_norm == 0.0 {
            let inverse_norm = cosine::wide_inverse_norm(&vector);
            vector.iter_mut().for_each(|value| *value = (f64::from(*value) * inverse_norm) as f32);
        } else {
            vector.iter_mut().for_each(|value| *value *= inverse_norm);
        }
        vector
    }

    /// The row of a word, as it is written or else as the model's text settings write it: a model of text in lower case
    /// finds `Berlin` as `berlin`. A phrase is found as one word: `new york` as `new_york`. A merged word is found as the
    /// word that it was merged into.
    pub fn index_of(&self, word: &str) -> Option<usize> {
        let joiner = self.joiner();
        let find = |word: &str| self.exact_index_of(joiner.meaning(word));
        find(word)
            .or_else(|| find(&self.text()?.only_token(word)?))
            .or_else(|| find(&word_of(word, &self.text().cloned().unwrap_or_default())?))
    }

    /// The row of a word as it is written.
    pub(crate) fn exact_index_of(&self, word: &str) -> Option<usize> {
        self.estimate_of(word).or_else(|| self.table.words.row(word).filter(|&row| row < self.len))
    }

    /// The row of a word, or an error if the word is unknown or its vector is not finite. (Only a file that was
    /// [opened](Embeddings::open) can have such vectors, because opening does not check them.)
    pub fn row_of(&self, word: &str) -> Result<usize> {
        let row = self.index_of(word).ok_or_else(|| Error::UnknownWord { word: word.to_owned() })?;
        self.check_row(row)?;
        Ok(row)
    }

    /// The vector of a row, or an error if it is not finite.
    ///
    /// # Panics
    /// If the row does not exist.
    pub fn checked_vector(&self, row: usize) -> Result<Cow<'_, [f32]>> {
        self.check_row(row)?;
        Ok(self.vector_at(row))
    }

    /// The vector of a word.
    pub fn vector(&self, word: &str) -> Option<Cow<'_, [f32]>> {
        self.index_of(word).map(|row| self.vector_at(row))
    }

    /// The `n` most frequent words as embeddings. The memory is shared.
    pub fn top(&self, n: usize) -> Embeddings {
        Embeddings { len: self.len.min(n), ..self.clone() }
    }

    /// Where the vectors came from, if known.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_deref()
    }

    /// The same embeddings, with another origin.
    pub fn with_origin(self, origin: Option<Origin>) -> Embeddings {
        Embeddings { origin: origin.map(Arc::new), ..self }
    }

    /// How the model splits text into tokens, if that changes words.
    pub fn text(&self) -> Option<&TextOptions> {
        self.reading.as_deref().map(|reading| &reading.text).filter(|text| !text.is_plain())
    }

    /// The same embeddings, of a model that reads text in this way.
    pub(crate) fn with_reading(self, reading: Reading) -> Embeddings {
        Embeddings { reading: (!reading.is_plain()).then(|| Arc::new(reading)), ..self }
    }

    /// The same embeddings without the phrases and the merged words of the model, so that a file of them has no other words
    /// than their own.
    pub fn without_phrases(mut self) -> Embeddings {
        match self.reading.take() {
            Some(reading) => self.with_reading(Reading::of_text(&reading.text)),
            None => self,
        }
    }

    /// How the model reads text, for a file.
    pub(crate) fn reading_metadata(&self) -> ReadingMetadata {
        self.reading.as_deref().map(Reading::metadata).unwrap_or_default()
    }

    /// The same embeddings, whose vectors were composed so.
    pub(crate) fn with_composition(self, composition: &Composition) -> Embeddings {
        Embeddings { target_offset: composition.target_offset().map(Arc::from), ..self }
    }

    /// The cosine between two words, from -1 to 1.
    pub fn similarity(&self, first: &str, second: &str) -> Result<f32> {
        self.similarity_of_rows(self.row_of(first)?, self.row_of(second)?)
    }

    /// The cosine between the words of two rows, from -1 to 1. That of a row with itself is exactly 1.
    ///
    /// # Panics
    /// If the row does not exist.
    pub fn similarity_of_rows(&self, first: usize, second: usize) -> Result<f32> {
        let (left, right) = (self.checked_vector(first)?, self.checked_vector(second)?);
        if first == second && left.iter().any(|&value| value != 0.0) {
            return Ok(1.0);
        }
        let inverse_norms = [self.inverse_norm(first), self.inverse_norm(second)];
        Ok(cosine::cosine_of(Kernel::best(), &left, &right, inverse_norms))
    }

    /// One divided by the norm of a row, or 0 if the vector has no direction or an extreme norm.
    pub(crate) fn inverse_norm(&self, row: usize) -> f32 {
        match self.estimate(row) {
            Some((estimates, place)) => estimates.inverse_norms[place],
            None => self.table.rows.inverse_norm(self.checked(row), self.dimensions()),
        }
    }

    fn check_row(&self, row: usize) -> Result<()> {
        // Estimates are finite.
        match self.estimate(row) {
            Some(_) => Ok(()),
            None => table::check_finite(&self.table.words, row, &self.vector_at(row)),
        }
    }

    /// The row, if it is visible.
    fn checked(&self, row: usize) -> usize {
        assert!(row < self.len, "row {row} of {} words", self.len);
        row
    }
}

/// Shows only the sizes.
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
pub(crate) mod testing {
    use super::Embeddings;
    use crate::random::Random;

    /// Vectors of few different values, so that there are ties and vectors without direction.
    pub(crate) fn random_embeddings(n_words: usize, dimensions: usize) -> Embeddings {
        let mut random = Random::new(9);
        let values =
            (0..n_words * dimensions).map(|_| (random.uniform() * 3.0).floor() as f32 - 1.0).collect();
        Embeddings::uncounted(dimensions, (0..n_words).map(|row| row.to_string()), values).unwrap()
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
        assert!(embeddings.search(&Query::nearest(&[0.0; 3], 5)).unwrap().is_empty());
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
            "`a` occurs twice, as words 1 and 3"
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
