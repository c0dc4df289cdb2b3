//! Words that change their meaning, and words that disappear.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::fmt;

use anyhow::Result;
use skipstream::Trainer;

use super::{Look, learn};
use crate::portions::LinedText;

/// Ranks of the words by frequency: frequent enough to have a meaning, and not function words.
const RANKS: std::ops::Range<usize> = 500..2_500;
/// At this interval of ranks there is a pair that is swapped, and then a word that disappears.
const STEP: usize = 50;
/// Words that are compared.
const NEAREST: usize = 10;

/// The nearest words of each swapped word.
pub type Nearest = HashMap<String, HashSet<String>>;

/// Pairs of words that change places, and words that do not occur any more.
pub struct Swaps {
    pairs: Vec<[String; 2]>,
    gone: Vec<String>,
}

impl Swaps {
    /// Pairs of about the same frequency in a text.
    pub fn of(text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text);
        let mut counts: HashMap<&str, u64> = HashMap::new();
        text.split_ascii_whitespace().for_each(|word| *counts.entry(word).or_default() += 1);
        let mut words: Vec<(&str, u64)> = counts.into_iter().collect();
        words.sort_unstable_by_key(|&(word, count)| (Reverse(count), word));
        let word = |rank: usize| words.get(rank).map(|(word, _)| (*word).to_owned());
        let ranks = || RANKS.step_by(STEP);
        Self {
            pairs: ranks().filter_map(|rank| Some([word(rank)?, word(rank + 1)?])).collect(),
            gone: ranks().filter_map(|rank| word(rank + 2)).collect(),
        }
    }

    /// The text with the pairs swapped, and without the words that are gone.
    pub fn apply(&self, text: &[u8]) -> Vec<u8> {
        let both = self.pairs.iter().flat_map(|[one, other]| [(one, other), (other, one)]);
        let swapped: HashMap<&str, &str> = both.map(|(from, to)| (from.as_str(), to.as_str())).collect();
        let gone: HashSet<&str> = self.gone.iter().map(String::as_str).collect();
        let mut changed = String::with_capacity(text.len());
        for line in String::from_utf8_lossy(text).lines() {
            for word in line.split_ascii_whitespace().filter(|word| !gone.contains(word)) {
                changed.push_str(swapped.get(word).copied().unwrap_or(word));
                changed.push(' ');
            }
            changed.push('\n');
        }
        changed.into_bytes()
    }

    /// Streams the changed text into a model, and compares it with the nearest words in a model of that text alone.
    pub fn follow(
        &self,
        mut trainer: Trainer,
        new: &Nearest,
        text: &LinedText,
        words_a_look: u64,
    ) -> Result<Vec<Look>> {
        let mut looks = Vec::new();
        let mut look = |trainer: &Trainer, streamed_words| -> Result<()> {
            let known = self.gone.iter().filter(|word| trainer.vocabulary().id(word).is_some()).count();
            let known = known as f64 / self.gone.len() as f64;
            for (measure, value) in [("overlap", self.overlap(new, trainer)?), ("gone words known", known)] {
                looks.push(Look { streamed_words, measure: measure.into(), value });
            }
            Ok(())
        };
        look(&trainer, 0)?;
        for lines in text.batches(text.all(), words_a_look) {
            learn(&mut trainer, text.lines(&lines))?;
            look(&trainer, text.n_words(&(0..lines.end)))?;
        }
        Ok(looks)
    }

    /// The share of the nearest words of swapped words that a model has in common with another.
    pub fn overlap(&self, of_other: &Nearest, trainer: &Trainer) -> Result<f64> {
        let shared = |(word, nearest): (&String, &HashSet<String>)| {
            of_other.get(word).map_or(0, |of_other| of_other.intersection(nearest).count())
        };
        let shared: usize = self.nearest_in(trainer)?.iter().map(shared).sum();
        Ok(shared as f64 / (NEAREST * 2 * self.pairs.len()) as f64)
    }

    /// The nearest words of each swapped word that is known.
    pub fn nearest_in(&self, trainer: &Trainer) -> Result<Nearest> {
        let (embeddings, mut nearest) = (trainer.embeddings()?, HashMap::new());
        for word in self.pairs.iter().flatten().filter(|word| embeddings.index_of(word).is_some()) {
            let found = embeddings.neighbors(word, NEAREST)?;
            nearest.insert(word.clone(), found.iter().map(|found| found.word.to_owned()).collect());
        }
        Ok(nearest)
    }
}

impl fmt::Display for Swaps {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pairs.iter().try_for_each(|[one, other]| writeln!(out, "{one} {other}"))?;
        self.gone.iter().try_for_each(|word| writeln!(out, "{word}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_change_places_and_gone_words_disappear() {
        let swaps = Swaps { pairs: vec![["tea".into(), "car".into()]], gone: vec!["old".into()] };
        let text = swaps.apply(b"hot tea old car\ntea\n");
        assert_eq!(String::from_utf8(text).unwrap(), "hot car tea \ncar \n");
    }
}
