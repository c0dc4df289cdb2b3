//! Vectors for words that are not in the vocabulary, from their character n-grams.
//!
//! The vector of a word is the mean of rows of a table: those that its n-grams, and the whole word, hash to. The format
//! is that of floret, which spaCy reads. The table is not trained on text. It is fitted to vectors, whatever they come
//! from, so that the words of the vocabulary get about their own vectors ([`fit`]).
//!
//! Invariant: a table is a function of the embeddings and the options. It does not depend on the number of threads or
//! on the instruction set.

mod fit;
mod grams;
mod murmur;

use serde::{Deserialize, Serialize};

use super::Embeddings;
use crate::kernel::Kernel;
use crate::{Error, Result};

pub(crate) use grams::{BEGIN, END, HASH_SEED, HASHES};

/// The size of a table, and which n-grams it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SubwordOptions {
    /// Rows of the table. N-grams share them.
    pub buckets: usize,
    /// Characters of the shortest n-grams, including the marks of the beginning and the end of a word.
    pub min: usize,
    /// Characters of the longest n-grams.
    pub max: usize,
}

impl Default for SubwordOptions {
    fn default() -> SubwordOptions {
        SubwordOptions { buckets: 200_000, min: 3, max: 6 }
    }
}

impl SubwordOptions {
    /// The most rows of a table.
    pub const MAX_BUCKETS: usize = 10_000_000;
    /// The most characters of an n-gram.
    pub const MAX_LENGTH: usize = 20;

    /// An error if an option is out of range.
    pub fn check(&self) -> Result<()> {
        let SubwordOptions { buckets, min, max } = *self;
        if !(1..=Self::MAX_BUCKETS).contains(&buckets) {
            let limit = format!("from 1 to {}", Self::MAX_BUCKETS);
            return Err(Error::setting("subword_buckets", buckets, limit));
        }
        if !(1..=Self::MAX_LENGTH).contains(&max) {
            return Err(Error::setting("subword_max", max, format!("from 1 to {}", Self::MAX_LENGTH)));
        }
        if !(1..=max).contains(&min) {
            return Err(Error::setting("subword_min", min, format!("from 1 to {max}, which is subword_max")));
        }
        Ok(())
    }
}

/// A table of vectors for character n-grams, fitted to word vectors.
///
/// ```
/// use skipstream::Embeddings;
/// use skipstream::embeddings::{SubwordOptions, Subwords};
///
/// let words = [("walking", 9), ("talking", 8), ("walked", 7), ("talked", 6)];
/// let vectors = vec![1.0, 1.0, 0.0, 1.0, 1.0, -1.0, 0.0, -1.0];
/// let embeddings = Embeddings::new(2, words, vectors)?;
/// let subwords = Subwords::fit(&embeddings, &SubwordOptions::default(), None)?;
/// let estimate = subwords.vector("stalking").expect("a word that is not empty");
/// assert!(estimate[1] > 0.0);
/// # Ok::<(), skipstream::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Subwords {
    options: SubwordOptions,
    dimensions: usize,
    /// `buckets` rows.
    table: Vec<f32>,
}

impl Subwords {
    /// Fits a table to vectors, on one thread per core or on the given number.
    pub fn fit(
        embeddings: &Embeddings,
        options: &SubwordOptions,
        threads: Option<usize>,
    ) -> Result<Subwords> {
        Subwords::fit_with(Kernel::best(), embeddings, options, threads)
    }

    fn fit_with(
        kernel: Kernel,
        embeddings: &Embeddings,
        options: &SubwordOptions,
        threads: Option<usize>,
    ) -> Result<Subwords> {
        options.check()?;
        let table = fit::fit(embeddings, options, threads, kernel)?;
        Ok(Subwords { options: *options, dimensions: embeddings.dimensions(), table })
    }

    /// The maximum number of bytes that fitting a table to this number of words takes, including the table.
    pub fn max_bytes(options: &SubwordOptions, words: usize, dimensions: usize, threads: usize) -> u64 {
        (options.buckets * dimensions * size_of::<f32>()) as u64 + fit::max_bytes(options, words, threads)
    }

    /// The options that the table was fitted with.
    pub fn options(&self) -> &SubwordOptions {
        &self.options
    }

    /// The length of every vector.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The rows of the table.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.table.chunks_exact(self.dimensions)
    }

    /// The estimate of a word's vector, which is not changed before: the mean of the rows of its n-grams. `None` for the
    /// empty word, which has no n-grams.
    pub fn vector(&self, word: &str) -> Option<Vec<f32>> {
        let mut sums = vec![0.0; self.dimensions];
        let mut n_rows = 0;
        grams::for_each_row(word, &self.options, |row| {
            let values = &self.table[row * self.dimensions..][..self.dimensions];
            sums.iter_mut().zip(values).for_each(|(sum, &value)| *sum += f64::from(value));
            n_rows += 1;
        });
        (n_rows > 0).then(|| sums.iter().map(|sum| (sum / f64::from(n_rows)) as f32).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Every word is a stem and an ending, and its vector is the sum of theirs, and a little noise.
    fn planted() -> (Embeddings, Vec<(String, Vec<f32>)>) {
        const DIMENSIONS: usize = 20;
        let mut random = Random::new(3);
        let mut vector = |scale: f64| -> Vec<f32> {
            (0..DIMENSIONS).map(|_| (scale * (random.uniform() - 0.5)) as f32).collect()
        };
        let letters = ["ka", "lo", "mi", "nu", "pe", "ri", "so", "tu"];
        let stems = letters.iter().flat_map(|first| letters.map(|second| format!("{first}{second}gr")));
        let stems: Vec<(String, Vec<f32>)> = stems.map(|stem| (stem, vector(1.0))).collect();
        let endings: Vec<(&str, Vec<f32>)> =
            ["ing", "ness", "able", "ship", "less"].map(|ending| (ending, vector(1.0))).into();
        let (mut known, mut hidden) = (Vec::new(), Vec::new());
        for (number, (stem, of_stem)) in stems.iter().enumerate() {
            for (place, (ending, of_ending)) in endings.iter().enumerate() {
                let noise = vector(0.1);
                let values = of_stem.iter().zip(of_ending).zip(noise).map(|((a, b), noise)| a + b + noise);
                let word = (format!("{stem}{ending}"), values.collect::<Vec<f32>>());
                if number % 5 == place { hidden.push(word) } else { known.push(word) }
            }
        }
        let words = known.iter().map(|(word, _)| (word, 10));
        let vectors = known.iter().flat_map(|(_, vector)| vector.clone()).collect();
        (Embeddings::new(DIMENSIONS, words, vectors).unwrap(), hidden)
    }

    fn cosine(left: &[f32], right: &[f32]) -> f32 {
        crate::embeddings::cosines(left, right)[0]
    }

    /// The margins: the noise has a twentieth of the variance of the parts, and 64 stems with 4 known forms each are few.
    #[test]
    fn planted_morphology_is_found() {
        let (embeddings, hidden) = planted();
        let subwords = Subwords::fit(&embeddings, &SubwordOptions::default(), None).unwrap();
        let mean = |cosines: Vec<f32>| cosines.iter().sum::<f32>() / cosines.len() as f32;
        let estimate = |word: &str| subwords.vector(word).unwrap();
        let unseen = mean(hidden.iter().map(|(word, vector)| cosine(&estimate(word), vector)).collect());
        assert!(unseen > 0.8, "{unseen}");
        let rows = 0..embeddings.len();
        let fitted = mean(
            rows.map(|row| cosine(&estimate(embeddings.word(row)), &embeddings.vector_at(row))).collect(),
        );
        assert!(fitted > 0.9, "{fitted}");
    }

    #[test]
    fn the_table_depends_neither_on_threads_nor_on_the_instruction_set() {
        let (embeddings, _) = planted();
        let options = SubwordOptions { buckets: 500, ..SubwordOptions::default() };
        let one = Subwords::fit(&embeddings, &options, Some(1)).unwrap();
        for threads in [2, 3, 8] {
            assert_eq!(
                Subwords::fit(&embeddings, &options, Some(threads)).unwrap(),
                one,
                "{threads} threads"
            );
        }
        for kernel in Kernel::available() {
            let fitted = Subwords::fit_with(kernel, &embeddings, &options, Some(2)).unwrap();
            assert_eq!(fitted, one, "{}", kernel.name());
        }
        assert_eq!(one.rows().len(), 500);
    }

    #[test]
    fn words_that_cannot_be_fitted_are_left_out_and_every_word_has_a_finite_estimate() {
        let long = "x".repeat(10_000);
        let words = [("", 9), ("zero", 8), (&long, 7), ("huge", 6), ("\u{1f9c0}e\u{301}", 5)];
        let vectors = vec![1.0, 1.0, 0.0, 0.0, 2.0, 2.0, 1e38, 1e38, 1.0, -1.0];
        let embeddings = Embeddings::new(2, words, vectors).unwrap();
        let subwords = Subwords::fit(&embeddings, &SubwordOptions::default(), None).unwrap();
        assert_eq!(subwords.vector(""), None);
        for word in ["zero", &long, "huge", "\u{1f9c0}e\u{301}", " ", "\u{301}", "\0"] {
            assert!(subwords.vector(word).unwrap().iter().all(|value| value.is_finite()), "{word:?}");
        }
        let estimate = subwords.vector("\u{1f9c0}e\u{301}").unwrap();
        assert!(cosine(&estimate, &[1.0, -1.0]) > 0.99, "{estimate:?}");
        let none = Embeddings::new(2, [("", 1)], vec![1.0, 1.0]).unwrap();
        let none = Subwords::fit(&none, &SubwordOptions::default(), None).unwrap();
        assert_eq!(none.vector("tea").unwrap(), [0.0, 0.0]);
    }

    #[test]
    fn an_option_out_of_range_is_named() {
        let (embeddings, _) = planted();
        let refusal = |buckets, min, max, threads| {
            let options = SubwordOptions { buckets, min, max };
            Subwords::fit(&embeddings, &options, threads).unwrap_err().to_string()
        };
        assert_eq!(refusal(0, 3, 6, None), "subword_buckets is 0; it must be from 1 to 10000000");
        assert_eq!(refusal(9, 3, 21, None), "subword_max is 21; it must be from 1 to 20");
        assert_eq!(refusal(9, 7, 6, None), "subword_min is 7; it must be from 1 to 6, which is subword_max");
        assert_eq!(refusal(9, 3, 6, Some(0)), "threads is 0; it must be at least 1");
    }
}
