//! Single vectors of a trainer.

use serde::{Deserialize, Serialize};

use super::Trainer;
use crate::corpus::{Sentence, Source};
use crate::embeddings::{Composition, Subwords, Vectors};
use crate::error::Result;
use crate::phrases::word_of;
use crate::vocabulary::WordId;

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

impl Trainer {
    /// The vectors of single words, without a copy of all of them.
    ///
    /// If the vectors are [joined](Vectors::Joined), this reads all rows once, because the means depend on every word. So
    /// ask for several words through one value.
    ///
    /// ```
    /// use skipstream::{Config, Trainer, Vectors};
    ///
    /// let mut trainer = Trainer::new(Config { dimensions: 16, ..Config::default() })?;
    /// trainer.train([["tea", "with", "milk"]])?;
    /// assert_eq!(trainer.live(Vectors::Sum).vector("tea").map(|vector| vector.len()), Some(16));
    /// assert_eq!(trainer.live(Vectors::Joined).vector("tea").map(|vector| vector.len()), Some(32));
    /// assert_eq!(trainer.live(Vectors::Sum).vector("sugar"), None);
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    pub fn live(&self, vectors: Vectors) -> LiveVectors<'_> {
        let ids = if vectors.is_centered() { self.ids_by_frequency(usize::MAX) } else { Vec::new() };
        let dimensions = vectors.dimensions(self.settings().dimensions());
        LiveVectors {
            trainer: self,
            composition: self.composition(vectors, &ids),
            dimensions,
            subwords: None,
        }
    }

    /// The count of a word, which is looked up like its vector.
    pub fn count(&self, word: &str) -> Option<u64> {
        self.id_of(word).map(|id| self.vocabulary().count(id))
    }

    fn id_of(&self, word: &str) -> Option<WordId> {
        let (vocabulary, text) = (self.vocabulary(), self.settings().text());
        let id = vocabulary.id(word).or_else(|| vocabulary.id(&text.only_token(word)?));
        id.or_else(|| vocabulary.id(&word_of(word, text)?))
    }
}

/// The vectors of a trainer's words, read one by one; see [`Trainer::live`].
#[derive(Debug)]
pub struct LiveVectors<'a> {
    trainer: &'a Trainer,
    composition: Composition,
    dimensions: usize,
    subwords: Option<&'a Subwords>,
}

impl<'a> LiveVectors<'a> {
    /// Estimates unknown words of texts from their n-grams, and blends rare ones with their estimate, as
    /// [`Embeddings::with_estimates`](crate::Embeddings::with_estimates) does.
    ///
    /// ```
    /// use skipstream::corpus::{Lines, TextOptions};
    /// use skipstream::embeddings::{SubwordOptions, Subwords};
    /// use skipstream::train::Weighting;
    /// use skipstream::{Config, Trainer, Vectors};
    ///
    /// let mut trainer = Trainer::new(Config { dimensions: 16, ..Config::default() })?;
    /// trainer.train([["walking", "home"], ["walked", "away"]])?;
    /// let subwords = Subwords::fit(&trainer.embeddings()?, &SubwordOptions::default(), None)?;
    /// let live = trainer.live(Vectors::Sum).with_subwords(&subwords);
    /// let mut text = Lines::new("walks".as_bytes(), "text", &TextOptions::default())?;
    /// assert_eq!(live.mean_vector(&mut text, Weighting::Mean, &mut vec![0.0; 16])?, 1);
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the estimates have other dimensions.
    #[must_use]
    pub fn with_subwords(self, subwords: &'a Subwords) -> LiveVectors<'a> {
        assert_eq!(subwords.dimensions(), self.dimensions, "subwords of other vectors");
        LiveVectors { subwords: Some(subwords), ..self }
    }

    /// The length of every vector.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The vector of a word, as it is written or else as the text settings write it; `None` if the word is not in the
    /// vocabulary.
    pub fn vector(&self, word: &str) -> Option<Vec<f32>> {
        let mut vector = vec![0.0; self.dimensions];
        self.composition.write(self.trainer.rows(self.trainer.id_of(word)?), &mut vector);
        Some(vector)
    }

    /// Writes the weighted mean of the vectors of the words of a text to `mean`, and returns the number of words. Words out
    /// of vocabulary are ignored, unless they are [estimated](LiveVectors::with_subwords): then they have the weight of a word
    /// that occurred once. If there are no words, the mean is zero.
    ///
    /// # Panics
    /// If the length of `mean` is not that of a vector.
    pub fn mean_vector(
        &self,
        text: &mut dyn Source,
        weighting: Weighting,
        mean: &mut [f32],
    ) -> Result<usize> {
        assert_eq!(mean.len(), self.dimensions, "a mean is as long as a vector");
        mean.fill(0.0);
        let (mut n_known, mut total) = (0, 0.0);
        let vocabulary = self.trainer.vocabulary();
        let (mut sentence, mut vector) = (Sentence::default(), vec![0.0; self.dimensions]);
        while text.read(&mut sentence)?.is_sentence() {
            for word in sentence.tokens() {
                let mut frequency = 1;
                if let Some(id) = vocabulary.id(word) {
                    frequency = vocabulary.frequency(id);
                    self.composition.write(self.trainer.rows(id), &mut vector);
                    let blend = |subwords: &Subwords| subwords.blend(word, &vector, vocabulary.count(id));
                    if let Some(blend) = self.subwords.and_then(blend) {
                        vector = blend;
                    }
                } else if let Some(estimate) = self.subwords.and_then(|subwords| subwords.vector(word)) {
                    vector = estimate;
                } else {
                    continue;
                }
                let weight = weighting.weight(frequency, vocabulary.total_frequency());
                mean.iter_mut().zip(&vector).for_each(|(sum, value)| *sum += weight * value);
                n_known += 1;
                total += weight;
            }
        }
        if n_known > 0 {
            mean.iter_mut().for_each(|value| *value /= total);
        }
        Ok(n_known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::corpus::Lines;
    use crate::embeddings::SubwordOptions;

    fn trainer() -> Trainer {
        let config = Config { dimensions: 7, subsample: 0.0, ..Config::default() };
        let mut trainer = Trainer::new(config.clone()).unwrap();
        let text = "tea with milk\ncoffee with sugar\n".repeat(50);
        trainer.train_source(&mut Lines::new(text.as_bytes(), "text", &config.text).unwrap()).unwrap();
        trainer
    }

    #[test]
    fn single_vectors_are_those_of_the_embeddings() {
        let trainer = trainer();
        for vectors in Vectors::ALL {
            let (live, embeddings) = (trainer.live(vectors), trainer.embeddings_of(vectors).unwrap());
            for row in 0..embeddings.len() {
                assert_eq!(live.vector(embeddings.word(row)).unwrap(), *embeddings.vector_at(row));
            }
            assert!(live.vector("cocoa").is_none());
        }
    }

    #[test]
    fn rare_words_count_more_by_their_inverse_frequency() {
        let trainer = trainer();
        let live = trainer.live(Vectors::Sum);
        let vector = |word: &str| live.vector(word).unwrap();
        for weighting in [Weighting::Idf, Weighting::Sif] {
            let mut mean = vec![0.0; 7];
            let mut lines = Lines::new("tea with".as_bytes(), "text", trainer.settings().text()).unwrap();
            live.mean_vector(&mut lines, weighting, &mut mean).unwrap();
            // Of 300 tokens, 50 are `tea` and 100 are `with`.
            let (rare, frequent) = (weighting.weight(50, 300), weighting.weight(100, 300));
            assert!(rare > frequent && frequent > 0.0);
            for (value, (tea, with)) in mean.iter().zip(vector("tea").iter().zip(&vector("with"))) {
                assert!((value - (rare * tea + frequent * with) / (rare + frequent)).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn with_subwords_unknown_words_are_estimated_and_rare_ones_blended() {
        let trainer = trainer();
        let embeddings = trainer.embeddings().unwrap();
        let subwords = Subwords::fit(&embeddings, &SubwordOptions::default(), None).unwrap();
        let live = trainer.live(Vectors::Sum).with_subwords(&subwords);
        let mut lines = Lines::new("teas tea".as_bytes(), "text", trainer.settings().text()).unwrap();
        let mut mean = vec![0.0; 7];
        assert_eq!(live.mean_vector(&mut lines, Weighting::Mean, &mut mean).unwrap(), 2);
        let estimated = embeddings.with_estimates(&subwords, ["teas", "tea"]);
        let [teas, tea] = ["teas", "tea"].map(|word| estimated.vector(word).unwrap().into_owned());
        for (value, (teas, tea)) in mean.iter().zip(teas.iter().zip(&tea)) {
            assert!((value - (teas + tea) / 2.0).abs() < 1e-6);
        }
        let mut lines = Lines::new("teas tea".as_bytes(), "text", trainer.settings().text()).unwrap();
        live.mean_vector(&mut lines, Weighting::Sif, &mut mean).unwrap();
        let [once, often] = [1, 50].map(|count| Weighting::Sif.weight(count, 300));
        assert!(once > often);
        for (value, (teas, tea)) in mean.iter().zip(teas.iter().zip(&tea)) {
            assert!((value - (once * teas + often * tea) / (once + often)).abs() < 1e-6);
        }
    }

    #[test]
    fn a_mean_is_of_the_known_words_and_zero_where_there_are_none() {
        let trainer = trainer();
        let live = trainer.live(Vectors::Joined);
        let mut mean = vec![1.0; 14];
        let mean_of = |text: &str, mean: &mut [f32]| {
            let mut lines = Lines::new(text.as_bytes(), "text", trainer.settings().text()).unwrap();
            live.mean_vector(&mut lines, Weighting::Mean, mean).unwrap()
        };
        assert_eq!(mean_of("tea cocoa\nmilk tea", &mut mean), 3);
        let [tea, milk] = ["tea", "milk"].map(|word| live.vector(word).unwrap());
        for (value, (tea, milk)) in mean.iter().zip(tea.iter().zip(&milk)) {
            assert!((value - (2.0 * tea + milk) / 3.0).abs() < 1e-6);
        }
        assert_eq!(mean_of("cocoa", &mut mean), 0);
        assert_eq!(mean, [0.0; 14]);
    }
}
