//! The vector of a text: the weighted mean of the vectors of its words.
//!
//! Arora, Liang and Ma (2017) also remove the first principal component of all texts. That needs the texts, and a stream
//! has no last one: the component would change with every text, and vectors that were stored before would no longer be
//! comparable. So it is left to the caller; the Python package does it in its scikit-learn transformer, which is fitted to
//! a corpus.

use serde::{Deserialize, Serialize};

use super::{Embeddings, Subwords, has_upper_case};
use crate::corpus::{Sentence, Source};
use crate::error::{Error, Result};
use crate::phrases::{Joiner, Reading};

/// How much each word of a text counts in the text's vector.
///
/// The share p of a word is its count divided by the sum of the counts of all words of the vocabulary. So it is the same
/// for a trainer, a model file and a vectors file with the same words. A word without an occurrence (it was pinned, or is
/// estimated) counts as one that occurred once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weighting {
    /// All words count the same.
    #[default]
    None,
    /// The logarithm of the inverse share, ln(1 + 1 / p).
    Idf,
    /// The smooth inverse frequency of Arora, Liang and Ma (2017): a / (a + p), with a = 0.001.
    Sif,
}

impl Weighting {
    /// The names.
    pub const NAMES: [&str; 3] = ["none", "idf", "sif"];

    /// The weight of a word with this count, where all words together have the count `total`.
    fn weight(self, count: u64, total: u64) -> f64 {
        const SMOOTHING: f64 = 1e-3;
        let count = count.max(1);
        let share = count as f64 / total.max(count) as f64;
        match self {
            Weighting::None => 1.0,
            Weighting::Idf => (1.0 + 1.0 / share).ln(),
            Weighting::Sif => SMOOTHING / (SMOOTHING + share),
        }
    }
}

/// How the vector of a text is made.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct DocumentOptions<'a> {
    /// How much each word counts. Without [counts](Embeddings::has_counts), all words count the same.
    pub weighting: Weighting,
    /// Whether the vector is scaled to length 1, unless it is zero.
    pub normalize: bool,
    /// Estimates of unknown words, which count as words that occurred once. Rare words are blended with their estimate, as
    /// in [`Embeddings::with_estimates`].
    pub subwords: Option<&'a Subwords>,
}

impl<'a> DocumentOptions<'a> {
    /// The options with a weighting.
    #[must_use]
    pub fn weighting(self, weighting: Weighting) -> DocumentOptions<'a> {
        DocumentOptions { weighting, ..self }
    }

    /// The options with vectors of length 1, or not.
    #[must_use]
    pub fn normalize(self, normalize: bool) -> DocumentOptions<'a> {
        DocumentOptions { normalize, ..self }
    }

    /// The options with estimates, or without.
    #[must_use]
    pub fn subwords(self, subwords: Option<&'a Subwords>) -> DocumentOptions<'a> {
        DocumentOptions { subwords, ..self }
    }
}

/// The words of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentWords {
    /// The number of all tokens.
    pub tokens: usize,
    /// The number of tokens that have a vector, alone or as a part of a phrase. Without any, the vector of the text is
    /// zero.
    pub with_vector: usize,
    /// The distinct tokens that have none, at most [`MAX_MISSED`](Self::MAX_MISSED) of them.
    pub missed: Vec<String>,
}

impl DocumentWords {
    /// The maximum number of missed words that are listed.
    pub const MAX_MISSED: usize = 100;

    fn miss(&mut self, word: &str) {
        if self.missed.len() < Self::MAX_MISSED && !self.missed.iter().any(|missed| missed == word) {
            self.missed.push(word.to_owned());
        }
    }
}

/// Where the vectors and the counts of words come from.
pub(crate) trait WordVectors {
    /// The sum of the counts of all words of the vocabulary.
    fn total_count(&self) -> u64;

    /// Whether no word of the vocabulary has an upper-case letter.
    fn is_lowercase(&self) -> bool;

    /// What makes words of tokens.
    fn joiner(&self) -> Joiner<'_>;

    /// Writes the vector of a word, blended with its estimate if it is rare, and returns its count; `None` if the word is
    /// not in the vocabulary.
    fn find(&self, word: &str, subwords: Option<&Subwords>, vector: &mut [f32]) -> Result<Option<u64>>;
}

/// Writes the vector of a text to `mean`; zeros if no word has a vector.
pub(crate) fn weighted_mean(
    vectors: &impl WordVectors,
    text: &mut dyn Source,
    options: &DocumentOptions<'_>,
    mean: &mut [f32],
) -> Result<DocumentWords> {
    let DocumentOptions { weighting, normalize, subwords } = *options;
    assert!(subwords.is_none_or(|table| table.dimensions() == mean.len()), "subwords of other vectors");
    let joiner = vectors.joiner();
    let total_count = if weighting == Weighting::None { 0 } else { vectors.total_count() };
    let mut words = DocumentWords::default();
    // In f64, so that large vectors do not overflow.
    let (mut sums, mut total_weight) = (vec![0.0f64; mean.len()], 0.0);
    let mut vector = vec![0.0; mean.len()];
    let mut add = |word: &str, may_estimate: bool| -> Result<bool> {
        let count = match vectors.find(word, subwords, &mut vector)? {
            Some(count) => count,
            None => {
                let estimate = subwords.filter(|_| may_estimate).and_then(|table| table.vector(word));
                let Some(estimate) = estimate else { return Ok(false) };
                vector = estimate;
                1
            }
        };
        let weight = weighting.weight(count, total_count);
        sums.iter_mut().zip(&vector).for_each(|(sum, &value)| *sum += weight * f64::from(value));
        total_weight += weight;
        Ok(true)
    };
    let mut sentence = Sentence::default();
    while text.read(&mut sentence)?.is_sentence() {
        words.tokens += sentence.len();
        // A vocabulary without upper-case letters has a word in lower case only.
        if sentence.tokens().any(has_upper_case) && vectors.is_lowercase() {
            sentence = lowercase(&sentence);
        }
        joiner.words(&sentence, |word, places| {
            if add(word, places.len() == 1)? {
                words.with_vector += places.len();
            } else if places.len() == 1 {
                words.miss(word);
            } else {
                // A phrase that has not occurred since it was found is not in the vocabulary; its words may be.
                for token in places.map(|place| sentence.token(place)) {
                    let word = joiner.meaning(token);
                    if add(word, true)? {
                        words.with_vector += 1;
                    } else {
                        words.miss(word);
                    }
                }
            }
            Ok::<(), Error>(())
        })?;
    }
    let norm = || sums.iter().map(|sum| sum * sum).sum::<f64>().sqrt();
    let divisor = if normalize { norm() } else { total_weight };
    // Nothing was added, or the vectors cancel each other.
    let scale = if divisor > 0.0 { divisor.recip() } else { 0.0 };
    mean.iter_mut().zip(&sums).for_each(|(value, sum)| *value = (sum * scale) as f32);
    Ok(words)
}

fn lowercase(sentence: &Sentence) -> Sentence {
    let mut lower = Sentence::default();
    sentence.tokens().for_each(|token| lower.push(&token.to_lowercase()));
    lower
}

impl Embeddings {
    /// Writes the vector of a text to `mean`: the weighted mean of the vectors of its words, with phrases joined and merged
    /// words replaced as in training, if the file says how. If no word of the vocabulary has an upper-case letter, the text
    /// is read in lower case. Words out of vocabulary are ignored, unless they are estimated. If no word has a vector,
    /// `mean` is zero.
    ///
    /// The text must have been split as the [text settings](Embeddings::text) of the model say.
    ///
    /// ```
    /// use skipstream::Embeddings;
    /// use skipstream::corpus::Lines;
    /// use skipstream::embeddings::{DocumentOptions, Weighting};
    ///
    /// let embeddings = Embeddings::new(2, [("the", 9_000), ("ship", 10)], vec![1.0, 0.0, 0.0, 1.0])?;
    /// let text = embeddings.text().cloned().unwrap_or_default();
    /// let mut lines = Lines::new("The unseen ship".as_bytes(), "text", &text)?;
    /// let mut mean = [0.0; 2];
    /// let options = DocumentOptions::default().weighting(Weighting::Sif);
    /// let words = embeddings.mean_vector(&mut lines, &options, &mut mean)?;
    /// assert_eq!((words.tokens, words.with_vector), (3, 2));
    /// assert_eq!(words.missed, ["unseen"]);
    /// assert!(mean[1] > 0.99);
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the length of `mean`, or of the estimates, is not that of a vector.
    pub fn mean_vector(
        &self,
        text: &mut dyn Source,
        options: &DocumentOptions<'_>,
        mean: &mut [f32],
    ) -> Result<DocumentWords> {
        assert_eq!(mean.len(), self.dimensions(), "a mean is as long as a vector");
        let weighting = if self.has_counts() { options.weighting } else { Weighting::None };
        weighted_mean(self, text, &options.weighting(weighting), mean)
    }
}

impl WordVectors for Embeddings {
    fn total_count(&self) -> u64 {
        self.n_tokens
    }

    fn is_lowercase(&self) -> bool {
        self.table.words.is_lowercase()
    }

    fn joiner(&self) -> Joiner<'_> {
        self.reading.as_deref().map_or(Joiner::NOTHING, Reading::joiner)
    }

    fn find(&self, word: &str, subwords: Option<&Subwords>, vector: &mut [f32]) -> Result<Option<u64>> {
        let Some(row) = self.exact_index_of(word) else { return Ok(None) };
        match subwords.and_then(|subwords| self.blend(subwords, row)) {
            Some(blend) => vector.copy_from_slice(&blend),
            None => vector.copy_from_slice(&self.checked_vector(row)?),
        }
        Ok(Some(self.recent_count(row)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Lines;
    use crate::embeddings::SubwordOptions;
    use crate::vocabulary::Control;
    use crate::{Config, Trainer, Vectors};

    fn embeddings() -> Embeddings {
        let words = [("the", 2_000), ("walking", 1_500), ("walked", 90), ("tea", 10)];
        Embeddings::new(2, words, vec![1.0, 1.0, 0.3, 1.0, 1.0, -1.0, -2.3, -1.0]).unwrap()
    }

    fn mean_of(
        embeddings: &Embeddings,
        text: &str,
        options: DocumentOptions<'_>,
    ) -> (Vec<f32>, DocumentWords) {
        let text_options = embeddings.text().cloned().unwrap_or_default();
        let mut lines = Lines::new(text.as_bytes(), "text", &text_options).unwrap();
        let mut mean = vec![9.0; embeddings.dimensions()];
        let words = embeddings.mean_vector(&mut lines, &options, &mut mean).unwrap();
        (mean, words)
    }

    fn mean(text: &str, weighting: Weighting, subwords: Option<&Subwords>) -> (Vec<f32>, DocumentWords) {
        mean_of(&embeddings(), text, weighted(weighting).subwords(subwords))
    }

    fn weighted<'a>(weighting: Weighting) -> DocumentOptions<'a> {
        DocumentOptions::default().weighting(weighting)
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
        assert_eq!(words, DocumentWords { tokens: 4, with_vector: 3, missed: vec!["unknown".to_owned()] });
        let weight = |count: f64| 1e-3 / (1e-3 + count / 3_600.0);
        let (the, tea) = (weight(2_000.0), 2.0 * weight(10.0));
        assert_near(&found, [(the - 2.3 * tea) / (the + tea), (the - tea) / (the + tea)]);
        assert_near(&mean("the tea tea", Weighting::None, None).0, [-3.6 / 3.0, -1.0 / 3.0]);
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
        let (mean, _) = mean_of(&uncounted, "the tea", weighted(Weighting::Sif));
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
        let (mean, _) = mean_of(&estimated, "walks", weighted(Weighting::Idf));
        let expected = estimated.vector("walks").unwrap();
        assert_near(&mean, [expected[0].into(), expected[1].into()]);
    }

    #[test]
    fn a_vector_can_have_unit_length() {
        let (raw, _) = mean("the the tea", Weighting::Sif, None);
        let (unit, _) = mean_of(&embeddings(), "the the tea", weighted(Weighting::Sif).normalize(true));
        let norm = raw.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
        assert!(norm > 1.5, "{raw:?}");
        assert_near(&unit, [f64::from(raw[0]) / norm, f64::from(raw[1]) / norm]);
        let (none, _) = mean_of(&embeddings(), "unknown", DocumentOptions::default().normalize(true));
        assert_eq!(none, [0.0, 0.0]);
    }

    #[test]
    fn a_vocabulary_in_lower_case_reads_texts_in_lower_case() {
        let lower = mean("the tea", Weighting::None, None);
        assert_eq!(mean("The TEA", Weighting::None, None), lower);
        let words = [("The", 2_000), ("the", 1_000), ("tea", 10)];
        let cased = Embeddings::new(1, words, vec![1.0, 3.0, 7.0]).unwrap();
        let (found, words) = mean_of(&cased, "The TEA", DocumentOptions::default());
        assert_eq!((&found[..], &words.missed[..]), (&[1.0][..], &["TEA".to_owned()][..]));
    }

    #[test]
    fn missed_words_are_listed_once_and_up_to_a_limit() {
        assert_eq!(mean("b the a b", Weighting::None, None).1.missed, ["b", "a"]);
        let many: String = (0..1_000).map(|number| format!("unknown{number} ")).collect();
        let words = mean(&many, Weighting::None, None).1;
        assert_eq!((words.tokens, words.with_vector), (1_000, 0));
        assert_eq!(words.missed.len(), DocumentWords::MAX_MISSED);
    }

    /// The vectors of a model that joins *new york*, merges *colour* into *color*, and has a pinned word that has not
    /// occurred: of the trainer, of the model file read and mapped, and of a vectors file.
    fn everywhere(check: impl Fn(&str, &dyn Fn(&str, DocumentOptions<'_>) -> (Vec<f32>, DocumentWords))) {
        let config = Config { dimensions: 6, subsample: 0.0, ..Config::default() };
        let mut trainer = Trainer::new(config.clone()).unwrap();
        trainer.add_phrases(["new york", "old york"]).unwrap();
        let controls = [
            Control::Merge { word: "colour".into(), into: "color".into() },
            Control::Pin { word: "pinned".into() },
        ];
        trainer.control(controls).unwrap();
        let text = "new york has a color\na new colour has york\n".repeat(60);
        trainer.train_source(&mut Lines::new(text.as_bytes(), "text", &config.text).unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let [model, vectors] = ["model", "vectors"].map(|name| folder.path().join(name));
        trainer.save(&model).unwrap();
        let own = trainer.embeddings().unwrap();
        own.save(&vectors).unwrap();
        let kind = Vectors::default();
        let loaded = [&model, &vectors].map(|path| Embeddings::load(path, kind).unwrap());
        let opened = [&model, &vectors].map(|path| Embeddings::open(path, kind).unwrap());
        check("live", &|text, options| {
            let mut lines = Lines::new(text.as_bytes(), "text", &config.text).unwrap();
            let mut mean = vec![9.0; 6];
            let words = trainer.live(kind).mean_vector(&mut lines, &options, &mut mean).unwrap();
            (mean, words)
        });
        assert_eq!(trainer.count("colour"), trainer.count("color"));
        for embeddings in loaded.iter().chain(&opened).chain([&own]) {
            assert_eq!(embeddings.index_of("colour"), embeddings.index_of("color"));
        }
        for (place, embeddings) in loaded.iter().chain(&opened).chain([&own]).enumerate() {
            check(&format!("embeddings {place}"), &|text, options| mean_of(embeddings, text, options));
        }
    }

    #[test]
    fn phrases_are_joined_and_merged_words_replaced_everywhere() {
        everywhere(|place, mean| {
            for weighting in [Weighting::None, Weighting::Idf, Weighting::Sif] {
                let options = weighted(weighting);
                let (joined, words) = mean("new york", options);
                assert_eq!((words.tokens, words.with_vector), (2, 2), "{place}");
                assert_eq!(joined, mean("new_york", options).0, "{place}");
                assert_ne!(joined, mean("york new", options).0, "{place}");
                assert_eq!(mean("a colour", options), mean("a color", options), "{place}");
                // The phrase has not occurred, so its words count.
                assert_eq!(mean("old york", options).0, mean("york", options).0, "{place}");
                assert_eq!(mean("old york", options).1.missed, ["old"], "{place}");
            }
        });
    }

    #[test]
    fn all_places_have_the_same_vectors_of_texts() {
        let reference = std::cell::RefCell::new(Vec::new());
        everywhere(|place, mean| {
            let means: Vec<_> = [Weighting::None, Weighting::Idf, Weighting::Sif]
                .into_iter()
                .flat_map(|weighting| {
                    ["new york has colour", "a has pinned", "none"]
                        .map(|text| mean(text, weighted(weighting)))
                })
                .collect();
            let mut reference = reference.borrow_mut();
            if reference.is_empty() {
                *reference = means;
            } else {
                assert_eq!(means, *reference, "{place}");
            }
        });
    }

    #[test]
    fn a_pinned_word_that_has_not_occurred_has_a_finite_weight() {
        everywhere(|place, mean| {
            for weighting in [Weighting::Idf, Weighting::Sif] {
                for text in ["pinned", "pinned color"] {
                    let (found, words) = mean(text, weighted(weighting));
                    assert_eq!(words.tokens, words.with_vector, "{place}");
                    assert!(found.iter().all(|value| value.is_finite()), "{place}: {found:?}");
                    assert!(found.iter().any(|&value| value != 0.0), "{place}: {found:?}");
                }
            }
        });
        // Nothing was learned: all counts are zero, and so is their sum.
        let mut trainer = Trainer::new(Config { dimensions: 6, ..Config::default() }).unwrap();
        trainer.control([Control::Pin { word: "pinned".into() }]).unwrap();
        let (live, embeddings) =
            (trainer.live(Vectors::Target), trainer.embeddings_of(Vectors::Target).unwrap());
        for weighting in [Weighting::Idf, Weighting::Sif] {
            let mut lines = Lines::new("pinned".as_bytes(), "text", trainer.settings().text()).unwrap();
            let mut found = vec![0.0; 6];
            live.mean_vector(&mut lines, &weighted(weighting), &mut found).unwrap();
            assert_eq!(found, live.vector("pinned").unwrap());
            assert_eq!(mean_of(&embeddings, "pinned", weighted(weighting)).0, found);
        }
    }

    #[test]
    fn large_vectors_do_not_overflow() {
        let large = Embeddings::new(1, [("a", 2), ("b", 1)], vec![3e38, 3e38]).unwrap();
        assert_eq!(mean_of(&large, "a b a", DocumentOptions::default()).0, [3e38]);
        assert_eq!(mean_of(&large, "a b a", DocumentOptions::default().normalize(true)).0, [1.0]);
    }
}
