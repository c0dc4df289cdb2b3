//! What comes next: the words that occur with others, where neighbors are the words that are like them.

use super::{Combine, Embeddings, Neighbor, Query, VectorsError};
use crate::{Error, Result};

impl Embeddings {
    /// The `n` words most likely to occur with the given ones, the best first, without the given ones, among the
    /// [default candidates](Embeddings::candidates): the next product of a session, or the rest of a basket.
    ///
    /// The score is the dot product of the mean target vector of the words with the context vector of the answer, up to a
    /// number that is the same for all answers to a question. So the vectors must be [joined](crate::Vectors::Joined) ones of
    /// a trainer or a model file. Training fits these products to how often the two words meet, relative to how often the
    /// answer is drawn as noise; with a `noise_exponent` of 0, they rank the answers by their probability.
    ///
    /// ```
    /// use skipstream::{Config, Trainer, Vectors};
    ///
    /// let mut trainer = Trainer::new(Config { dimensions: 16, subsample: 0.0, noise_exponent: 0.0, ..Config::default() })?;
    /// trainer.train([["bread", "butter"], ["hammer", "nails"]].repeat(200))?;
    /// let embeddings = trainer.embeddings_of(Vectors::Joined)?;
    /// assert_eq!(embeddings.predict_next(&["hammer"], 1)?[0].word, "nails");
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    pub fn predict_next(&self, words: &[&str], n: usize) -> Result<Vec<Neighbor<'_>>> {
        let rows = words.iter().map(|word| self.row_of(word)).collect::<Result<Vec<usize>>>()?;
        self.search(&self.predict_next_query(&rows, n)?.among(self.candidates(None, None)))
    }

    /// The query of [`Embeddings::predict_next`] over all words, with the rows of the given ones.
    ///
    /// # Panics
    /// If a row does not exist.
    pub fn predict_next_query(&self, rows: &[usize], n: usize) -> Result<Query<'static>> {
        let offset = self.target_offset().ok_or(VectorsError::NotBoth)?;
        if rows.is_empty() {
            return Err(Error::setting("the number of words", 0, "at least 1"));
        }
        let mut sum = vec![0.0; offset.len()];
        for &row in rows {
            // The first half is the target row without its offset. The second half of an answer has an offset too, but it
            // adds the same to the score of every answer.
            let targets = self.checked_vector(row)?;
            let targets = targets.iter().zip(offset).map(|(value, offset)| f64::from(value + offset));
            sum.iter_mut().zip(targets).for_each(|(sum, value)| *sum += value);
        }
        let mean = sum.into_iter().map(|sum| (sum / rows.len() as f64) as f32);
        let vector: Vec<f32> = std::iter::repeat_n(0.0, offset.len()).chain(mean).collect();
        Ok(Query { combine: Combine::Dot, ..Query::nearest(vector, n).excluding(rows) })
    }

    /// What joined vectors have subtracted from target rows.
    fn target_offset(&self) -> Option<&[f32]> {
        self.target_offset.as_deref().or_else(|| self.table.rows.composition()?.target_offset())
    }
}

#[cfg(test)]
mod tests {
    use crate::kernel::Kernel;
    use crate::{Config, Embeddings, SettingValues, Trainer, Vectors};

    fn trainer() -> Trainer {
        let mut trainer =
            Trainer::new(Config { dimensions: 8, subsample: 0.0, noise_exponent: 0.0, ..Config::default() })
                .unwrap();
        let baskets = [["tea", "milk", "sugar"], ["nail", "hammer", "saw"], ["tea", "saw", "rope"]];
        trainer.train(baskets.repeat(100)).unwrap();
        trainer
    }

    /// The definition: the order of the dot products of the mean target row with every context row.
    fn naive(trainer: &Trainer, words: &[&str]) -> Vec<(String, f32)> {
        let [targets, contexts] =
            [Vectors::Target, Vectors::Context].map(|kind| trainer.embeddings_of(kind).unwrap());
        let mut mean = vec![0.0; targets.dimensions()];
        for word in words {
            let target = targets.vector(word).unwrap();
            mean.iter_mut().zip(&*target).for_each(|(mean, value)| *mean += value / words.len() as f32);
        }
        let others = contexts.words().filter(|word| !words.contains(word));
        let mut scores: Vec<(String, f32)> = others
            .map(|word| (word.to_owned(), Kernel::best().dot(&mean, &contexts.vector(word).unwrap())))
            .collect();
        scores.sort_by(|one, other| other.1.total_cmp(&one.1));
        scores
    }

    #[test]
    fn scores_are_products_of_targets_and_contexts_loaded_mapped_or_live() {
        let trainer = trainer();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        trainer.save(&path).unwrap();
        let all = [
            trainer.embeddings_of(Vectors::Joined).unwrap(),
            Embeddings::load(&path, Vectors::Joined).unwrap(),
            Embeddings::open(&path, Vectors::Joined).unwrap(),
        ];
        for words in [&["tea"][..], &["hammer", "saw"], &["tea", "tea", "nail", "rope"]] {
            let expected = naive(&trainer, words);
            for embeddings in &all {
                let found = embeddings.predict_next(words, 99).unwrap();
                assert_eq!(found.len(), expected.len());
                let shift = found[0].similarity - expected[0].1;
                for (found, (word, score)) in found.iter().zip(&expected) {
                    assert_eq!(found.word, word);
                    assert!((found.similarity - score - shift).abs() < 1e-4, "{words:?}: {found:?}, {score}");
                }
            }
        }
    }

    #[test]
    fn what_occurs_together_comes_next_although_it_is_not_alike() {
        // The lefts of a group meet all its rights, and never one another. With few items, many blocks leave few negatives.
        let values = SettingValues {
            dimensions: Some(16),
            subsample: Some(0.0),
            blocks: Some(4),
            ..SettingValues::for_items()
        };
        let mut trainer = Trainer::new(values.config().unwrap()).unwrap();
        let pair = |pair: usize| {
            let [group, left, right] = [pair % 5, pair / 5 % 8, pair / 40 % 8];
            [format!("left{group}{left}"), format!("right{group}{right}")]
        };
        trainer.train((0..60 * 320).map(pair)).unwrap();
        let joined = trainer.embeddings_of(Vectors::Joined).unwrap();
        for (group, left) in (0..5).flat_map(|group| (0..8).map(move |left| (group, left))) {
            let next = joined.predict_next(&[&format!("left{group}{left}")], 5).unwrap();
            assert!(next.iter().all(|next| next.word.starts_with(&format!("right{group}"))), "{next:?}");
        }
    }

    #[test]
    fn other_vectors_no_words_and_unknown_words_are_refused() {
        let trainer = trainer();
        let joined = trainer.embeddings_of(Vectors::Joined).unwrap();
        let refusal = |embeddings: &Embeddings, words: &[&str]| {
            embeddings.predict_next(words, 3).unwrap_err().to_string()
        };
        assert_eq!(refusal(&joined, &[]), "the number of words is 0; it must be at least 1");
        assert_eq!(refusal(&joined, &["tea", "gin"]), "`gin` is not in the vocabulary");
        let message = "what comes next follows from the target and the context vector of each word, and these vectors do not have both";
        for vectors in [Vectors::Sum, Vectors::Target, Vectors::Context] {
            assert_eq!(refusal(&trainer.embeddings_of(vectors).unwrap(), &["tea"]), message);
        }
        assert_eq!(refusal(&joined.normalized().unwrap(), &["tea"]), message);
        assert_eq!(joined.top(2).predict_next(&["tea"], 3).unwrap().len(), 1);
    }
}
