//! Words that can be looked up although the vectors do not have them: estimates from subwords.
//!
//! Estimates have rows after those of the vocabulary. Everything that takes a row takes theirs, so every query can be
//! about them, but a search never finds them: it searches the vocabulary.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::cosine::inverse_norm;
use super::words::WordList;
use super::{Embeddings, Query, Subwords, Term};
use crate::kernel::Kernel;

/// With n occurrences, the vector of a rare word counts n, and its estimate this much. On RW, anything from 100 to 1,000
/// scores the same, 7 points more than the word's own vector.
const ESTIMATE_WEIGHT: f64 = 200.0;

/// A word with as many occurrences keeps its own vector.
const FREQUENT: u64 = 1_000;

/// Where the vector of a word comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// It is the word's own.
    Vocabulary,
    /// It is the mean of the word's own, which has few occurrences, and an estimate from its subwords.
    Blend,
    /// The word is not in the vocabulary: it is estimated from its subwords.
    Subwords,
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Source::Vocabulary => "vocabulary",
            Source::Blend => "blend",
            Source::Subwords => "subwords",
        })
    }
}

/// Words with estimated vectors.
#[derive(Default)]
pub(super) struct Estimates {
    pub words: WordList,
    pub vectors: Vec<f32>,
    pub inverse_norms: Vec<f32>,
    /// The rows of the words in the vocabulary, if they have one.
    pub rows: Vec<Option<usize>>,
    /// The estimates of rows of the vocabulary.
    of_rows: HashMap<usize, usize>,
}

impl Estimates {
    /// Adds a word, unless it is there.
    fn push(&mut self, word: &str, row: Option<usize>, vector: &[f32]) {
        let place = self.words.len();
        if self.words.push(word).is_ok() {
            self.vectors.extend_from_slice(vector);
            self.inverse_norms.push(inverse_norm(Kernel::best().dot(vector, vector)));
            self.rows.push(row);
            self.of_rows.extend(row.map(|row| (row, place)));
        }
    }
}

impl Subwords {
    /// The mean of the vector of a word with this count and its estimate, in which the vector counts the more the more often
    /// the word occurred. `None` if the word is frequent.
    pub(crate) fn blend(&self, word: &str, own: &[f32], count: u64) -> Option<Vec<f32>> {
        let estimate = if count < FREQUENT { self.vector(word)? } else { return None };
        let share = ESTIMATE_WEIGHT / (ESTIMATE_WEIGHT + count as f64);
        let mix = |(&own, estimate)| ((1.0 - share) * f64::from(own) + share * f64::from(estimate)) as f32;
        Some(own.iter().zip(estimate).map(mix).collect())
    }
}

impl Embeddings {
    /// The embeddings with estimates of some words, for queries about them. The memory of all others is shared.
    ///
    /// A word that is not in the vocabulary gets the vector of its subwords. A word with fewer than 1,000 occurrences gets
    /// a mean of its own vector and that of its subwords, in which its own counts the more the more often it occurred. All
    /// others, and words without counts, keep their own. [`Embeddings::source`] tells which is which. Estimates are never
    /// answers. Earlier estimates are dropped.
    ///
    /// ```
    /// use skipstream::Embeddings;
    /// use skipstream::embeddings::{Source, SubwordOptions, Subwords};
    ///
    /// let words = [("walking", 9), ("walked", 7), ("tea", 6)];
    /// let embeddings = Embeddings::new(2, words, vec![1.0, 0.2, 1.0, -0.1, -0.5, 1.0])?;
    /// let subwords = Subwords::fit(&embeddings, &SubwordOptions::default(), None)?;
    /// assert!(embeddings.neighbors("walk", 2).is_err());
    /// let embeddings = embeddings.with_estimates(&subwords, ["walk"]);
    /// assert_eq!(embeddings.source(embeddings.row_of("walk")?), Source::Subwords);
    /// assert_ne!(embeddings.neighbors("walk", 2)?[0].word, "tea");
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the vectors of the subwords have other dimensions.
    pub fn with_estimates(
        &self,
        subwords: &Subwords,
        words: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Embeddings {
        assert_eq!(subwords.dimensions(), self.dimensions(), "subwords of other vectors");
        let own = self.without_estimates();
        let mut estimates = Estimates::default();
        for word in words {
            let word = word.as_ref();
            match own.index_of(word) {
                Some(row) => {
                    if let Some(vector) = own.blend(subwords, row) {
                        estimates.push(own.word(row), Some(row), &vector);
                    }
                }
                None => {
                    let normal = own.text().and_then(|text| text.only_token(word));
                    let word = normal.as_deref().unwrap_or(word);
                    if let Some(vector) = subwords.vector(word) {
                        estimates.push(word, None, &vector);
                    }
                }
            }
        }
        Embeddings { estimates: Some(Arc::new(estimates)), ..own }
    }

    /// The embeddings without estimates.
    #[must_use]
    pub(crate) fn without_estimates(&self) -> Embeddings {
        Embeddings { estimates: None, ..self.clone() }
    }

    /// Where the vector of a row comes from.
    ///
    /// # Panics
    /// If the row does not exist.
    pub fn source(&self, row: usize) -> Source {
        match self.estimate(row) {
            Some((estimates, place)) if estimates.rows[place].is_some() => Source::Blend,
            Some(_) => Source::Subwords,
            None => {
                self.checked(row);
                Source::Vocabulary
            }
        }
    }

    /// A query that can be put to the same embeddings without estimates: the rows of estimates are replaced by their vectors.
    ///
    /// # Panics
    /// If a row does not exist.
    #[must_use]
    pub fn without_estimated_rows(&self, query: Query<'static>) -> Query<'static> {
        let term = |term| match term {
            Term::Row(row) if self.estimate(row).is_some() => self.vector_at(row).into_owned().into(),
            term => term,
        };
        Query {
            positive: query.positive.into_iter().map(term).collect(),
            negative: query.negative.into_iter().map(term).collect(),
            exclude: query.exclude.into_iter().filter_map(|row| self.vocabulary_row(row)).collect(),
            ..query
        }
    }

    /// The blend of a word's own vector and its estimate, if it is rare.
    pub(super) fn blend(&self, subwords: &Subwords, row: usize) -> Option<Vec<f32>> {
        // A vector that is not finite stays what it is: an error.
        let own = self.checked_vector(row).ok()?;
        subwords.blend(self.word(row), &own, self.known_count(row)?)
    }

    /// The estimates, and the place of a row in them, if it is a row of theirs.
    pub(super) fn estimate(&self, row: usize) -> Option<(&Estimates, usize)> {
        let place = row.checked_sub(self.table.words.len())?;
        let estimates = self.estimates.as_deref()?;
        (place < estimates.words.len()).then_some((estimates, place))
    }

    /// The row of a word's estimate.
    pub(crate) fn estimate_of(&self, word: &str) -> Option<usize> {
        Some(self.table.words.len() + self.estimates.as_deref()?.words.row(word)?)
    }

    /// The row of the estimate for a row of the vocabulary, or the row itself if there is none.
    #[cfg(feature = "eval")]
    pub(crate) fn estimate_of_row(&self, row: usize) -> usize {
        let place = self.estimates.as_deref().and_then(|estimates| estimates.of_rows.get(&row));
        place.map_or(row, |place| self.table.words.len() + place)
    }

    /// The row in the vocabulary of the word of a row, if there is one.
    pub(crate) fn vocabulary_row(&self, row: usize) -> Option<usize> {
        self.estimate(row).map_or(Some(row), |(estimates, place)| estimates.rows[place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::TextOptions;
    use crate::embeddings::{AnalogyRule, Expression, SubwordOptions};
    use crate::phrases::Reading;

    fn embeddings() -> Embeddings {
        let words = [("walking", 2_000), ("talking", 1_500), ("walked", 900), ("tea", 1)];
        // Their mean is zero.
        let vectors = vec![1.0, 1.0, 0.3, 1.0, 1.0, -1.0, -2.3, -1.0];
        Embeddings::new(2, words, vectors).unwrap()
    }

    fn subwords() -> Subwords {
        Subwords::fit(&embeddings(), &SubwordOptions { buckets: 1_000, min: 3, max: 5 }, None).unwrap()
    }

    fn estimated(words: &[&str]) -> Embeddings {
        embeddings().with_estimates(&subwords(), words)
    }

    #[test]
    fn every_query_can_be_about_an_estimate_but_none_is_an_answer() {
        let embeddings = estimated(&["stalking", "walks", "tea"]);
        let row = embeddings.row_of("stalking").unwrap();
        assert_eq!((row, embeddings.len(), embeddings.word(row)), (4, 4, "stalking"));
        assert_eq!((embeddings.known_count(row), embeddings.recent_count(row)), (Some(0), 0));
        assert_eq!(embeddings.vector_at(row), subwords().vector("stalking").unwrap());
        let all = Query::neighbors(row, 9).among(embeddings.candidates(Some(0), None));
        assert_eq!(embeddings.search(&all).unwrap().len(), 4);
        assert_eq!(embeddings.search(&all).unwrap()[0].word, "talking");
        assert_eq!(embeddings.similarity("stalking", "stalking").unwrap(), 1.0);
        assert!(embeddings.similarity("stalking", "talking").unwrap() > 0.5);
        let found = embeddings.analogy("talking", "stalking", "walked", 9, AnalogyRule::Add).unwrap();
        assert!(found.iter().all(|found| !["talking", "walked"].contains(&found.word)), "{found:?}");
        assert!(embeddings.analogy("talking", "stalking", "walks", 9, AnalogyRule::Multiply).is_ok());
        assert_eq!(embeddings.odd_one_out(&["stalking", "talking", "tea"]).unwrap()[0].word, "tea");
        assert_eq!(embeddings.closer_than(row, 1).unwrap(), [0; 0]);
        assert_eq!(embeddings.closer_than(1, row).unwrap(), [0; 0]);
        assert!(embeddings.row_of("other").is_err());
        assert_eq!(embeddings.words().len(), 4);
    }

    #[test]
    fn a_rare_word_is_blended_and_not_its_own_neighbor() {
        let embeddings = estimated(&["tea", "walking"]);
        let row = embeddings.row_of("tea").unwrap();
        assert_eq!((embeddings.source(row), embeddings.count(row)), (Source::Blend, 1));
        let (own, estimate) = ([-2.3f32, -1.0], subwords().vector("tea").unwrap());
        for (value, (own, estimate)) in embeddings.vector_at(row).iter().zip(own.iter().zip(estimate)) {
            assert!((value - (own + 200.0 * estimate) / 201.0).abs() < 1e-6);
        }
        let all = Query::neighbors(row, 9).among(0..usize::MAX);
        assert!(embeddings.search(&all).unwrap().iter().all(|found| found.word != "tea"));
        let row = embeddings.row_of("walking").unwrap();
        assert_eq!((row, embeddings.source(row)), (0, Source::Vocabulary));
        let uncounted = embeddings.without_counts().with_estimates(&subwords(), ["tea"]);
        assert_eq!(uncounted.source(uncounted.row_of("tea").unwrap()), Source::Vocabulary);
    }

    #[test]
    fn a_query_about_estimates_can_be_put_to_the_vocabulary() {
        let embeddings = estimated(&["stalking", "tea"]);
        for rule in [AnalogyRule::Add, AnalogyRule::Multiply] {
            let query =
                Expression::analogy("tea", "stalking", "walking").query(&embeddings, 9, rule).unwrap();
            let plain = embeddings.without_estimated_rows(query.clone());
            let found = embeddings.search(&query).unwrap();
            assert_eq!(self::embeddings().search(&plain).unwrap(), found);
            assert_eq!(found.len(), 2);
        }
    }

    #[test]
    fn a_selection_keeps_estimates_and_hidden_words_are_estimated() {
        let embeddings = estimated(&["stalking", "tea"]);
        let rows = ["stalking", "tea", "walking"].map(|word| embeddings.row_of(word).unwrap());
        let selected = embeddings.select(&rows).unwrap();
        assert!(selected.words().eq(["walking", "tea", "stalking"]));
        assert_eq!(selected.count(1), 1);
        assert_eq!(selected.vector("stalking"), embeddings.vector("stalking"));
        let top = self::embeddings().top(2).with_estimates(&subwords(), ["tea"]);
        assert_eq!(top.source(top.row_of("tea").unwrap()), Source::Subwords);
    }

    #[test]
    fn an_unknown_word_is_estimated_as_the_text_would_have_it() {
        let lower = TextOptions { lowercase: true, ..TextOptions::default() };
        let embeddings = embeddings()
            .with_reading(Reading::of_text(&lower))
            .with_estimates(&subwords(), ["Stalking", "", ""]);
        let row = embeddings.row_of("STALKING").unwrap();
        assert_eq!(embeddings.word(row), "stalking");
        assert!(embeddings.row_of("").is_err());
    }
}
