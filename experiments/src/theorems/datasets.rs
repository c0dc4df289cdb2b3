//! Datasets of n words, and their differences.

use serde::{Deserialize, Serialize};
use skipstream::unstable::Random;

use super::difference::{Batches, Differences, differences};
use super::expansion::Theta;
use super::vocabulary::{Pieces, ReducedText};
use crate::parallel::in_parallel;

/// How the words of a dataset are drawn.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Each word from its own random position: what Theorem 1 assumes.
    Independent,
    /// Sentences drawn at random, with replacement, as in the paper.
    Sentences,
    /// Whole paragraphs drawn at random.
    Paragraphs,
    /// Consecutive words from a random position, wrapping around at the end.
    Consecutive,
}

/// A corpus and its pieces.
pub struct Population {
    pub text: ReducedText,
    pub sentences: Pieces,
    pub paragraphs: Pieces,
}

impl Kind {
    pub const ALL: [Self; 4] = [Self::Independent, Self::Sentences, Self::Paragraphs, Self::Consecutive];
}

impl Population {
    /// Draws a dataset of exactly n words: the last piece is cut.
    pub fn draw(&self, kind: Kind, n: usize, random: &mut Random) -> Vec<u16> {
        let words = &self.text.words;
        let mut dataset = Vec::with_capacity(n);
        while dataset.len() < n {
            let room = n - dataset.len();
            match kind {
                Kind::Independent => dataset.push(words[random.below(words.len())]),
                Kind::Sentences | Kind::Paragraphs => {
                    let pieces = if kind == Kind::Sentences { &self.sentences } else { &self.paragraphs };
                    let piece = self.text.piece(pieces, random.below(pieces.len()));
                    dataset.extend_from_slice(&piece[..piece.len().min(room)]);
                }
                Kind::Consecutive => {
                    let start = if dataset.is_empty() { random.below(words.len()) } else { 0 };
                    let rest = &words[start..];
                    dataset.extend_from_slice(&rest[..rest.len().min(room)]);
                }
            }
        }
        dataset
    }

    /// The differences of many datasets. Each has its own seed, so that the number of threads changes nothing.
    pub fn differences(
        &self,
        sample: Sample,
        theta: &Theta,
        batches: Batches,
        threads: usize,
    ) -> Vec<Differences> {
        in_parallel(threads, sample.datasets, |index| {
            let words = self.draw(sample.kind, sample.n, &mut sample.random(index));
            differences(theta, &words, batches)
        })
    }
}

/// A number of datasets of one kind and size.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub kind: Kind,
    pub n: usize,
    pub datasets: usize,
    pub seed: u64,
}

impl Sample {
    /// The generator of one dataset.
    fn random(&self, index: usize) -> Random {
        let parts = [self.seed, self.kind as u64, self.n as u64, index as u64];
        Random::new(parts.into_iter().fold(0, |hash, part| Random::new(hash ^ part).bits()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn population() -> Population {
        let text = ReducedText::new(vec![0, 1, 2, 3, 4, 5, 6], 7, vec![5, 7]);
        let (sentences, paragraphs) = (text.pieces(2), text.pieces(5));
        Population { text, sentences, paragraphs }
    }

    #[test]
    fn datasets_have_the_order_of_their_kind() {
        let population = population();
        let mut random = Random::new(1);
        for _ in 0..100 {
            let independent = population.draw(Kind::Independent, 9, &mut random);
            let consecutive = population.draw(Kind::Consecutive, 9, &mut random);
            let sentences = population.draw(Kind::Sentences, 9, &mut random);
            let paragraphs = population.draw(Kind::Paragraphs, 9, &mut random);
            assert!(
                [&independent, &consecutive, &sentences, &paragraphs].iter().all(|words| words.len() == 9)
            );
            assert!(consecutive.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 7));
            for pair in sentences.windows(2) {
                assert!([0, 2, 4, 5].contains(&pair[1]) || pair[1] == pair[0] + 1, "{sentences:?}");
            }
            for pair in paragraphs.windows(2) {
                assert!([0, 5].contains(&pair[1]) || pair[1] == pair[0] + 1, "{paragraphs:?}");
            }
        }
    }

    #[test]
    fn threads_change_nothing() {
        let population = population();
        let theta = Theta::random(7, 1, &population.text.shares());
        let batches = [1, 10, 100, 1000];
        for kind in Kind::ALL {
            let sample = Sample { kind, n: 50, datasets: 20, seed: 3 };
            let by = |threads| population.differences(sample, &theta, batches, threads);
            assert_eq!(by(1), by(3));
        }
    }
}
