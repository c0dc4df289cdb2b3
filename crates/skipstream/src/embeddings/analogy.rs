//! a is to b as c is to what?

use serde::{Deserialize, Serialize};

use super::{Embeddings, Neighbor};
use crate::Result;

/// Levy and Goldberg's (2014) guard against division by zero in 3CosMul.
pub(crate) const EPSILON: f32 = 0.001;

/// How the answer to an analogy is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnalogyRule {
    /// 3CosAdd: the word nearest to b − a + c, of vectors of length 1.
    #[default]
    Add,
    /// 3CosMul: the word with the highest cos(b) · cos(c) / cos(a), so that no single cosine outweighs the others.
    /// Cosines are shifted to lie between 0 and 1.
    Multiply,
}

impl Embeddings {
    /// The `n` best answers to "`a` is to `b` as `c` is to ?", the best first, without the three words.
    ///
    /// The similarity of an answer is its cosine with b − a + c, or the score of 3CosMul.
    ///
    /// ```
    /// # use skipstream::embeddings::{AnalogyRule, Embeddings};
    /// let words = [("man", 4), ("woman", 3), ("king", 2), ("queen", 1), ("apple", 1)];
    /// let vectors = vec![1.0, 0.1, 0.0, 1.0, 0.1, 1.0, 1.0, 0.8, 0.1, 1.0, 0.8, 1.0, -1.0, 0.0, 0.3];
    /// let embeddings = Embeddings::new(3, words, vectors)?;
    /// assert_eq!(embeddings.analogy("man", "king", "woman", 1, AnalogyRule::Add)?[0].word, "queen");
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    pub fn analogy(
        &self,
        a: &str,
        b: &str,
        c: &str,
        n: usize,
        rule: AnalogyRule,
    ) -> Result<Vec<Neighbor<'_>>> {
        let rows = [self.row_of(a)?, self.row_of(b)?, self.row_of(c)?];
        let [a, b, c] = rows.map(|row| self.unit_vector(row));
        match rule {
            AnalogyRule::Add => {
                let sought: Vec<f32> = a.iter().zip(&b).zip(&c).map(|((a, b), c)| b - a + c).collect();
                self.neighbors_of_vector(&sought, n, &rows)
            }
            AnalogyRule::Multiply => {
                let shifted = |cosine: f32| (cosine + 1.0) / 2.0;
                Ok(self.best(0..self.len(), n, &rows, [(&a, 1.0), (&b, 1.0), (&c, 1.0)], |[a, b, c]| {
                    shifted(b) * shifted(c) / (shifted(a) + EPSILON)
                }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Random;

    fn embeddings(n_words: usize, dimensions: usize) -> Embeddings {
        let mut random = Random::new(5);
        let values = (0..n_words * dimensions).map(|_| random.uniform() as f32 - 0.5).collect();
        let words = (0..n_words).map(|row| (row.to_string(), (n_words - row) as u64));
        Embeddings::new(dimensions, words, values).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn both_rules_give_what_word_by_word_search_gives(
            n_words in 4usize..90,
            dimensions in 2usize..40,
            picks in any::<[prop::sample::Index; 3]>(),
        ) {
            let embeddings = embeddings(n_words, dimensions);
            let rows = picks.map(|pick| pick.index(n_words));
            let words = rows.map(|row| embeddings.word(row));
            let units: Vec<Vec<f64>> = (0..n_words)
                .map(|row| embeddings.unit_vector(row).into_iter().map(f64::from).collect())
                .collect();
            let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
            for rule in [AnalogyRule::Add, AnalogyRule::Multiply] {
                let score = |row: usize| {
                    let [a, b, c] = rows.map(|cue| dot(&units[cue], &units[row]));
                    let shifted = |cosine: f64| (cosine + 1.0) / 2.0;
                    match rule {
                        AnalogyRule::Add => b - a + c,
                        AnalogyRule::Multiply => shifted(b) * shifted(c) / (shifted(a) + 0.001),
                    }
                };
                let answers = embeddings.analogy(words[0], words[1], words[2], 3, rule).unwrap();
                prop_assert!(answers.iter().all(|answer| !words.contains(&answer.word)));
                let best = (0..n_words).filter(|row| !rows.contains(row)).map(score).fold(f64::MIN, f64::max);
                let found = score(embeddings.index_of(answers[0].word).unwrap());
                prop_assert!((found - best).abs() < 1e-4, "{} {}", found, best);
            }
        }
    }

    /// gensim 4.4: most_similar(positive=["king", "woman"], negative=["man"]), and most_similar_cosmul, which guards
    /// against division by zero with 1e-6 instead of Levy and Goldberg's 0.001.
    #[test]
    fn the_answers_are_those_of_gensim() {
        let words = [("man", 6), ("woman", 5), ("king", 4), ("queen", 3), ("apple", 2), ("prince", 1)];
        let vectors =
            vec![1.0, 0.1, 0.0, 1.0, 0.1, 1.0, 1.0, 0.8, 0.1, 1.0, 0.8, 1.0, -1.0, 0.0, 0.3, 0.9, 0.6, -0.4];
        let embeddings = Embeddings::new(3, words, vectors).unwrap();
        let answer = |rule| embeddings.analogy("man", "king", "woman", 3, rule).unwrap();
        let add = answer(AnalogyRule::Add);
        let expected = [("queen", 0.979_537), ("prince", 0.381_493), ("apple", -0.221_501)];
        for (found, (word, similarity)) in add.iter().zip(expected) {
            assert!(found.word == word && (found.similarity - similarity).abs() < 1e-6, "{found:?}");
        }
        let multiply = answer(AnalogyRule::Multiply);
        let words: Vec<&str> = multiply.iter().map(|found| found.word).collect();
        assert_eq!(words, ["apple", "queen", "prince"]);
        assert!((multiply[1].similarity - 1.050_147).abs() < 0.002);
    }

    #[test]
    fn any_of_the_three_words_may_be_unknown() {
        let embeddings = embeddings(4, 2);
        for words in [["x", "1", "2"], ["1", "x", "2"], ["1", "2", "x"]] {
            let error = embeddings.analogy(words[0], words[1], words[2], 1, AnalogyRule::Add).unwrap_err();
            assert_eq!(error.to_string(), "`x` is not in the vocabulary");
        }
    }

    #[test]
    fn no_other_word_is_no_answer() {
        let embeddings = embeddings(3, 2);
        for rule in [AnalogyRule::Add, AnalogyRule::Multiply] {
            assert!(embeddings.analogy("0", "1", "2", 5, rule).unwrap().is_empty());
        }
    }
}
