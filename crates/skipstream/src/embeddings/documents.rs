//! The vector of a text: the weighted mean of the vectors of its words.
//!
//! Arora, Liang and Ma (2017) also remove the first principal component of all texts. That needs the texts, and a stream
//! has no last one: the component would change with every text, and vectors that were stored before would no longer be
//! comparable. So it is left to the caller; the Python package does it in its scikit-learn transformer, which is fitted to
//! a corpus.

use serde::{Deserialize, Serialize};

use super::{Embeddings, Subwords};
use crate::corpus::{Sentence, Source};
use crate::error::Result;

/// How much each word of a text counts in the text's mean vector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weighting {
    /// All the same.
    #[default]
    Mean,
    /// The logarithm of the inverse frequency of the word, ln(1 + tokens / count).
    Idf,
    /// The smooth inverse frequency of Arora, Liang and Ma (2017): a / (a + count / tokens), with a = 0.001.
    Sif,
}

impl Weighting {
    fn weight(self, frequency: u64, total: u64) -> f32 {
        const SMOOTHING: f64 = 1e-3;
        let share = frequency as f64 / total as f64;
        match self {
            Weighting::Mean => 1.0,
            Weighting::Idf => (1.0 + 1.0 / share).ln() as f32,
            Weighting::Sif => (SMOOTHING / (SMOOTHING + share)) as f32,
        }
    }
}

/// The number of words of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DocumentWords {
    /// All of them.
    pub tokens: usize,
    /// Those that have a vector. Without any, the vector of the text is zero.
    pub with_vector: usize,
}

/// Where the vectors and the frequencies of words come from.
pub(crate) trait WordVectors {
    /// The frequency of all words.
    fn total_frequency(&self) -> u64;

    /// Writes the vector of a word and returns its frequency; `None` if the word has no vector.
    fn find(&self, word: &str, vector: &mut Vec<f32>) -> Result<Option<u64>>;
}

/// Writes the weighted mean of the vectors of the words of a text to `mean`; zeros if no word has a vector.
pub(crate) fn weighted_mean(
    vectors: &impl WordVectors,
    text: &mut dyn Source,
    weighting: Weighting,
    mean: &mut [f32],
) -> Result<DocumentWords> {
    mean.fill(0.0);
    let (mut words, mut total_weight) = (DocumentWords::default(), 0.0);
    let total_frequency = vectors.total_frequency();
    let (mut sentence, mut vector) = (Sentence::default(), vec![0.0; mean.len()]);
    while text.read(&mut sentence)?.is_sentence() {
        for word in sentence.tokens() {
            words.tokens += 1;
            let Some(frequency) = vectors.find(word, &mut vector)? else { continue };
            let weight = weighting.weight(frequency, total_frequency);
            mean.iter_mut().zip(&vector).for_each(|(sum, value)| *sum += weight * value);
            words.with_vector += 1;
            total_weight += weight;
        }
    }
    if words.with_vector > 0 {
        mean.iter_mut().for_each(|value| *value /= total_weight);
    }
    Ok(words)
}

impl Embeddings {
    /// Writes the weighted mean of the vectors of the words of a text to `mean`. Words out of vocabulary are ignored. With
    /// `subwords` they are estimated, with the weight of a word that occurred once, and rare words are blended with their
    /// estimate, as in [`Embeddings::with_estimates`]. If no word has a vector, `mean` is zero. Without
    /// [counts](Embeddings::has_counts), all words have the same weight.
    ///
    /// The text must have been split as the [text settings](Embeddings::text) of the model say.
    ///
    /// ```
    /// use skipstream::Embeddings;
    /// use skipstream::corpus::Lines;
    /// use skipstream::embeddings::Weighting;
    ///
    /// let embeddings = Embeddings::new(2, [("the", 9_000), ("ship", 10)], vec![1.0, 0.0, 0.0, 1.0])?;
    /// let options = embeddings.text().cloned().unwrap_or_default();
    /// let mut text = Lines::new("the unseen ship".as_bytes(), "text", &options)?;
    /// let mut mean = [0.0; 2];
    /// let words = embeddings.mean_vector(&mut text, Weighting::Sif, None, &mut mean)?;
    /// assert_eq!((words.tokens, words.with_vector), (3, 2));
    /// assert!(mean[1] > 0.99);
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the length of `mean`, or of the estimates, is not that of a vector.
    pub fn mean_vector(
        &self,
        text: &mut dyn Source,
        weighting: Weighting,
        subwords: Option<&Subwords>,
        mean: &mut [f32],
    ) -> Result<DocumentWords> {
        assert_eq!(mean.len(), self.dimensions(), "a mean is as long as a vector");
        assert!(subwords.is_none_or(|table| table.dimensions() == mean.len()), "subwords of other vectors");
        let weighting = if self.has_counts() { weighting } else { Weighting::Mean };
        weighted_mean(&Estimating { embeddings: self, subwords }, text, weighting, mean)
    }
}

/// Embeddings whose unknown and rare words may be estimated.
struct Estimating<'a> {
    embeddings: &'a Embeddings,
    subwords: Option<&'a Subwords>,
}

impl WordVectors for Estimating<'_> {
    /// That of the words in the vocabulary: those that left it are not counted.
    fn total_frequency(&self) -> u64 {
        self.embeddings.n_tokens
    }

    fn find(&self, word: &str, vector: &mut Vec<f32>) -> Result<Option<u64>> {
        let Estimating { embeddings, subwords } = self;
        let (found, frequency) = match embeddings.exact_index_of(word) {
            Some(row) => {
                let blend = subwords.and_then(|subwords| embeddings.blend(subwords, row));
                let found = match blend {
                    Some(blend) => blend.into(),
                    None => embeddings.checked_vector(row)?,
                };
                (found, embeddings.recent_count(row).max(1))
            }
            None => match subwords.and_then(|subwords| subwords.vector(word)) {
                Some(estimate) => (estimate.into(), 1),
                None => return Ok(None),
            },
        };
        vector.copy_from_slice(&found);
        Ok(Some(frequency))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::{Lines, TextOptions};
    use crate::embeddings::SubwordOptions;

    fn embeddings() -> Embeddings {
        let words = [("the", 2_000), ("walking", 1_500), ("walked", 90), ("tea", 10)];
        Embeddings::new(2, words, vec![1.0, 1.0, 0.3, 1.0, 1.0, -1.0, -2.3, -1.0]).unwrap()
    }

    fn mean(text: &str, weighting: Weighting, subwords: Option<&Subwords>) -> (Vec<f32>, DocumentWords) {
        let embeddings = embeddings();
        let mut lines = Lines::new(text.as_bytes(), "text", &TextOptions::default()).unwrap();
        let mut mean = vec![9.0; 2];
        let words = embeddings.mean_vector(&mut lines, weighting, subwords, &mut mean).unwrap();
        (mean, words)
    }

    fn assert_near(found: &[f32], expected: [f64; 2]) {
        assert!(
            found.iter().zip(expected).all(|(&found, expected)| (f64::from(found) - expected).abs() < 1e-6),
            "{found:?} instead of {expected:?}"
        );
    }

    #[test]
    fn a_word_counts_the_less_the_more_frequent_it_is() {
        let (found, words) = mean("the tea\nunknown tea", Weighting::Sif, None);
        assert_eq!(words, DocumentWords { tokens: 4, with_vector: 3 });
        let weight = |count: f64| 1e-3 / (1e-3 + count / 3_600.0);
        let (the, tea) = (weight(2_000.0), 2.0 * weight(10.0));
        assert_near(&found, [(the - 2.3 * tea) / (the + tea), (the - tea) / (the + tea)]);
        assert_near(&mean("the tea tea", Weighting::Mean, None).0, [-3.6 / 3.0, -1.0 / 3.0]);
        let weight = |count: f64| (1.0 + 3_600.0 / count).ln();
        let (the, tea) = (weight(2_000.0), weight(10.0));
        let (found, _) = mean("the tea", Weighting::Idf, None);
        assert_near(&found, [(the - 2.3 * tea) / (the + tea), (the - tea) / (the + tea)]);
    }

    #[test]
    fn a_text_without_a_known_word_is_zero() {
        for text in ["", "\n\n", "unknown words"] {
            let (found, words) = mean(text, Weighting::Sif, None);
            assert_eq!((&found[..], words.with_vector), (&[0.0, 0.0][..], 0));
            assert_eq!(words.tokens, text.split_whitespace().count());
        }
    }

    #[test]
    fn without_counts_all_words_have_the_same_weight() {
        let uncounted = embeddings().without_counts();
        let mut lines = Lines::new("the tea".as_bytes(), "text", &TextOptions::default()).unwrap();
        let mut mean = vec![0.0; 2];
        uncounted.mean_vector(&mut lines, Weighting::Sif, None, &mut mean).unwrap();
        assert_near(&mean, [-1.3 / 2.0, 0.0]);
    }

    #[test]
    fn with_subwords_unknown_words_are_estimated_and_rare_ones_blended() {
        let options = SubwordOptions { buckets: 1_000, ..SubwordOptions::default() };
        let subwords = Subwords::fit(&embeddings(), &options, None).unwrap();
        let estimated = embeddings().with_estimates(&subwords, ["walks", "tea"]);
        for word in ["walks", "tea"] {
            let (found, words) = mean(word, Weighting::Sif, Some(&subwords));
            assert_eq!(words.with_vector, 1);
            let expected = estimated.vector(word).unwrap();
            assert_near(&found, [expected[0].into(), expected[1].into()]);
        }
        // An estimate of the embeddings themselves is a word, too.
        let mut lines = Lines::new("walks".as_bytes(), "text", &TextOptions::default()).unwrap();
        let mut mean = vec![0.0; 2];
        estimated.mean_vector(&mut lines, Weighting::Idf, None, &mut mean).unwrap();
        let expected = estimated.vector("walks").unwrap();
        assert_near(&mean, [expected[0].into(), expected[1].into()]);
    }
}
