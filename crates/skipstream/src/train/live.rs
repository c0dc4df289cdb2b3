//! Single vectors of a trainer.

use serde::{Deserialize, Serialize};

use super::Trainer;
use crate::corpus::{Sentence, Source};
use crate::embeddings::Vectors;
use crate::error::Result;
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
    fn weight(self, count: u64, tokens: u64) -> f32 {
        const SMOOTHING: f64 = 1e-3;
        let share = count as f64 / tokens as f64;
        match self {
            Weighting::Mean => 1.0,
            Weighting::Idf => (1.0 + 1.0 / share).ln() as f32,
            Weighting::Sif => (SMOOTHING / (SMOOTHING + share)) as f32,
        }
    }
}

/// Reads the vectors of a few words without copying all of them.
impl Trainer {
    /// The vector of a word, as it is written or else as the text settings write it; `None` if the word is not in the
    /// vocabulary.
    ///
    /// ```
    /// use skipstream::{Config, Trainer, Vectors, corpus};
    ///
    /// let config = Config { dimensions: 16, ..Config::default() };
    /// let mut lines = corpus::Lines::new("tea with milk".as_bytes(), "text", &config.text)?;
    /// let mut trainer = Trainer::new(config)?;
    /// trainer.train_source(&mut lines)?;
    /// assert_eq!(trainer.vector("tea", Vectors::Sum).map(|vector| vector.len()), Some(16));
    /// assert_eq!(trainer.vector("sugar", Vectors::Sum), None);
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    pub fn vector(&self, word: &str, vectors: Vectors) -> Option<Vec<f32>> {
        let mut vector = vec![0.0; self.settings().dimensions()];
        self.add_vector(self.id_of(word)?, vectors, 1.0, &mut vector);
        Some(vector)
    }

    /// The count of a word, which is looked up like its vector.
    pub fn count(&self, word: &str) -> Option<u64> {
        self.id_of(word).map(|id| self.vocabulary().count(id))
    }

    fn id_of(&self, word: &str) -> Option<WordId> {
        let id = self.vocabulary().id(word);
        id.or_else(|| self.vocabulary().id(&self.settings().text().only_token(word)?))
    }

    /// Writes the weighted mean of the vectors of the words of a text to `mean`, and returns the number of words. Words out
    /// of vocabulary are ignored; if there are no others, the mean is zero.
    ///
    /// # Panics
    /// If the length of `mean` is not that of a vector.
    pub fn mean_vector(
        &self,
        text: &mut dyn Source,
        vectors: Vectors,
        weighting: Weighting,
        mean: &mut [f32],
    ) -> Result<usize> {
        assert_eq!(mean.len(), self.settings().dimensions(), "a mean is as long as a vector");
        mean.fill(0.0);
        let (mut n_known, mut total) = (0, 0.0);
        let tokens = self.progress().tokens;
        let mut sentence = Sentence::default();
        while text.read(&mut sentence)?.is_sentence() {
            for id in sentence.tokens().filter_map(|word| self.vocabulary().id(word)) {
                let weight = weighting.weight(self.vocabulary().count(id), tokens);
                self.add_vector(id, vectors, weight, mean);
                n_known += 1;
                total += weight;
            }
        }
        if n_known > 0 {
            mean.iter_mut().for_each(|value| *value /= total);
        }
        Ok(n_known)
    }

    fn add_vector(&self, id: WordId, vectors: Vectors, weight: f32, sum: &mut [f32]) {
        let (target, context) = (self.parameters().target(id), self.parameters().context(id));
        let mut add = |row: &[f32]| sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += weight * value);
        match vectors {
            Vectors::Target => add(target),
            Vectors::Context => add(context),
            Vectors::Sum => sum
                .iter_mut()
                .zip(target.iter().zip(context))
                .for_each(|(sum, (t, c))| *sum += weight * (t + c)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::corpus::Lines;

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
        for vectors in [Vectors::Target, Vectors::Context, Vectors::Sum] {
            let embeddings = trainer.embeddings_of(vectors).unwrap();
            for row in 0..embeddings.len() {
                let vector = trainer.vector(embeddings.word(row), vectors).unwrap();
                assert_eq!(vector, *embeddings.vector_at(row));
            }
        }
        assert!(trainer.vector("cocoa", Vectors::Sum).is_none());
    }

    #[test]
    fn rare_words_count_more_by_their_inverse_frequency() {
        let trainer = trainer();
        let vector = |word: &str| trainer.vector(word, Vectors::Sum).unwrap();
        for weighting in [Weighting::Idf, Weighting::Sif] {
            let mut mean = vec![0.0; 7];
            let mut lines = Lines::new("tea with".as_bytes(), "text", trainer.settings().text()).unwrap();
            trainer.mean_vector(&mut lines, Vectors::Sum, weighting, &mut mean).unwrap();
            // Of 300 tokens, 50 are `tea` and 100 are `with`.
            let (rare, frequent) = (weighting.weight(50, 300), weighting.weight(100, 300));
            assert!(rare > frequent && frequent > 0.0);
            for (value, (tea, with)) in mean.iter().zip(vector("tea").iter().zip(&vector("with"))) {
                assert!((value - (rare * tea + frequent * with) / (rare + frequent)).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn a_mean_is_of_the_known_words_and_zero_where_there_are_none() {
        let trainer = trainer();
        let mut mean = vec![1.0; 7];
        let mean_of = |text: &str, mean: &mut [f32]| {
            let mut lines = Lines::new(text.as_bytes(), "text", trainer.settings().text()).unwrap();
            trainer.mean_vector(&mut lines, Vectors::Sum, Weighting::Mean, mean).unwrap()
        };
        assert_eq!(mean_of("tea cocoa\nmilk tea", &mut mean), 3);
        let [tea, milk] = ["tea", "milk"].map(|word| trainer.vector(word, Vectors::Sum).unwrap());
        for (value, (tea, milk)) in mean.iter().zip(tea.iter().zip(&milk)) {
            assert!((value - (2.0 * tea + milk) / 3.0).abs() < 1e-6);
        }
        assert_eq!(mean_of("cocoa", &mut mean), 0);
        assert_eq!(mean, [0.0; 7]);
    }
}
