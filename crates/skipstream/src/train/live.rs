//! Single vectors of a trainer.

use std::sync::OnceLock;

use super::Trainer;
use crate::corpus::Source;
use crate::embeddings::{
    Composition, DocumentOptions, DocumentWords, Subwords, Vectors, WordVectors, has_upper_case,
    weighted_mean,
};
use crate::error::Result;
use crate::phrases::{Joiner, word_of};
use crate::vocabulary::WordId;

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
            total_count: OnceLock::new(),
            is_lowercase: OnceLock::new(),
        }
    }

    /// The count of a word, which is looked up like its vector.
    pub fn count(&self, word: &str) -> Option<u64> {
        self.id_of(word).map(|id| self.vocabulary().count(id))
    }

    fn id_of(&self, word: &str) -> Option<WordId> {
        let (vocabulary, text) = (self.vocabulary(), self.settings().text());
        let id = |word: &str| vocabulary.id(vocabulary.controls().meaning(word));
        id(word).or_else(|| id(&text.only_token(word)?)).or_else(|| id(&word_of(word, text)?))
    }
}

/// The vectors of a trainer's words, read one by one; see [`Trainer::live`].
#[derive(Debug)]
pub struct LiveVectors<'a> {
    trainer: &'a Trainer,
    composition: Composition,
    dimensions: usize,
    total_count: OnceLock<u64>,
    is_lowercase: OnceLock<bool>,
}

impl LiveVectors<'_> {
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

    /// Writes the vector of a text to `mean`, as [`Embeddings::mean_vector`](crate::Embeddings::mean_vector) does for a copy
    /// of the vectors.
    ///
    /// # Panics
    /// If the length of `mean`, or of the estimates, is not that of a vector.
    pub fn mean_vector(
        &self,
        text: &mut dyn Source,
        options: &DocumentOptions<'_>,
        mean: &mut [f32],
    ) -> Result<DocumentWords> {
        assert_eq!(mean.len(), self.dimensions, "a mean is as long as a vector");
        weighted_mean(self, text, options, mean)
    }
}

impl WordVectors for LiveVectors<'_> {
    fn total_count(&self) -> u64 {
        let vocabulary = self.trainer.vocabulary();
        let sum = || vocabulary.ids().map(|id| vocabulary.recent_count(id)).sum();
        *self.total_count.get_or_init(sum)
    }

    fn is_lowercase(&self) -> bool {
        let vocabulary = self.trainer.vocabulary();
        *self.is_lowercase.get_or_init(|| !vocabulary.ids().any(|id| has_upper_case(vocabulary.word(id))))
    }

    fn joiner(&self) -> Joiner<'_> {
        Joiner::of_stream(self.trainer.phrases_of_stream(), self.trainer.controls())
    }

    fn find(&self, word: &str, subwords: Option<&Subwords>, vector: &mut [f32]) -> Result<Option<u64>> {
        let vocabulary = self.trainer.vocabulary();
        let Some(id) = vocabulary.id(word) else { return Ok(None) };
        self.composition.write(self.trainer.rows(id), vector);
        if let Some(blend) = subwords.and_then(|table| table.blend(word, vector, vocabulary.count(id))) {
            vector.copy_from_slice(&blend);
        }
        Ok(Some(vocabulary.recent_count(id)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::corpus::Lines;
    use crate::embeddings::{SubwordOptions, Weighting};

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
    fn the_mean_vector_of_a_text_is_that_of_the_embeddings() {
        let trainer = trainer();
        let subwords =
            Subwords::fit(&trainer.embeddings().unwrap(), &SubwordOptions::default(), None).unwrap();
        for vectors in Vectors::ALL {
            let (live, embeddings) = (trainer.live(vectors), trainer.embeddings_of(vectors).unwrap());
            let dimensions = live.dimensions();
            for subwords in [None, (dimensions == subwords.dimensions()).then_some(&subwords)] {
                for weighting in [Weighting::None, Weighting::Idf, Weighting::Sif] {
                    let lines = || {
                        Lines::new(
                            "tea with
teas"
                                .as_bytes(),
                            "text",
                            trainer.settings().text(),
                        )
                        .unwrap()
                    };
                    let mut means = [vec![1.0; dimensions], vec![2.0; dimensions]];
                    let options = DocumentOptions::default().weighting(weighting).subwords(subwords);
                    let words = [
                        live.mean_vector(&mut lines(), &options, &mut means[0]).unwrap(),
                        embeddings.mean_vector(&mut lines(), &options, &mut means[1]).unwrap(),
                    ];
                    assert_eq!(means[0], means[1]);
                    assert_eq!(words[0], words[1]);
                }
            }
        }
    }

    #[test]
    fn a_mean_is_of_the_known_words_and_zero_where_there_are_none() {
        let trainer = trainer();
        let live = trainer.live(Vectors::Joined);
        let mut mean = vec![1.0; 14];
        let mean_of = |text: &str, mean: &mut [f32]| {
            let mut lines = Lines::new(text.as_bytes(), "text", trainer.settings().text()).unwrap();
            live.mean_vector(&mut lines, &DocumentOptions::default(), mean).unwrap().with_vector
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
