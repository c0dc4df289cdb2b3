//! Word similarity sets: human scores of word pairs, compared with cosines.

use serde::Serialize;

use super::TestSetError;
use super::correlation::{Ranked, pearson, spearman};
use super::interval::Interval;
use super::test_set::{fields, lines};

/// Two words and their similarity as rated by people.
#[derive(Clone, Debug, PartialEq)]
pub struct WordPair {
    /// One word.
    pub first: String,
    /// The other word.
    pub second: String,
    /// The mean human score.
    pub score: f64,
}

/// A word similarity set, such as WS353, MEN or SimLex-999.
#[derive(Clone, Debug, PartialEq)]
pub struct WordPairs {
    /// The pairs, in the order of the file.
    pub pairs: Vec<WordPair>,
}

/// The correlation of cosines with human scores.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairScore {
    /// Spearman's correlation, which papers report; `None` if it is not defined.
    pub spearman: Option<f64>,
    /// The 95 % interval of `spearman`: percentiles of 1,000 resamples of the used pairs.
    pub spearman_interval: Option<Interval>,
    /// Pearson's correlation; `None` if it is not defined.
    pub pearson: Option<f64>,
    /// Pairs whose two words are known. Only these are scored.
    pub used: usize,
    /// All pairs of the set.
    pub total: usize,
}

impl WordPairs {
    pub(super) fn parse(text: &str) -> Result<WordPairs, TestSetError> {
        let mut pairs = Vec::new();
        for (index, (line, text)) in lines(text).enumerate() {
            let fields = fields(text);
            match (pair(&fields), &fields[..]) {
                (Some(pair), _) => pairs.push(pair),
                // The first line may be a header.
                (None, _) if index == 0 => {}
                (None, &[_, _, score, ..]) => {
                    return Err(TestSetError::InvalidScore { line, score: score.to_owned() });
                }
                (None, _) => return Err(TestSetError::NoWordPair { line }),
            }
        }
        Ok(WordPairs { pairs })
    }
}

/// The word pair in the columns of a line, if they are two words and a score.
pub(super) fn pair(fields: &[&str]) -> Option<WordPair> {
    let [first, second, others @ ..] = fields else { return None };
    let score = others.iter().find_map(|field| field.parse::<f64>().ok())?;
    let is_pair = score.is_finite() && !first.is_empty() && !second.is_empty();
    is_pair.then(|| WordPair { first: (*first).to_owned(), second: (*second).to_owned(), score })
}

/// Human scores and the cosines of the same pairs.
#[derive(Debug, Default)]
pub(super) struct ScoredPairs {
    pub(super) scores: Vec<f64>,
    pub(super) cosines: Vec<f64>,
}

impl ScoredPairs {
    /// The correlation of the two, in a set of `total` pairs.
    pub(super) fn score(&self, total: usize) -> PairScore {
        let (people, model) = (Ranked::new(&self.scores), Ranked::new(&self.cosines));
        let spearman = spearman(&self.scores, &self.cosines);
        // Vectors that were opened and not verified may be NaN; then nothing is defined.
        let interval = || Interval::bootstrap(self.scores.len(), |times| people.spearman(&model, times));
        PairScore {
            spearman,
            spearman_interval: spearman.and_then(|_| interval()),
            pearson: pearson(&self.scores, &self.cosines),
            used: self.scores.len(),
            total,
        }
    }
}

/// In `f64`: rounding to `f32` would make ties and swap ranks.
pub(super) fn cosine(first: &[f32], second: &[f32]) -> f64 {
    let dot = |left: &[f32], right: &[f32]| -> f64 {
        let products = left.iter().zip(right);
        products.map(|(&l, &r)| f64::from(l) * f64::from(r)).sum()
    };
    let norms = dot(first, first).sqrt() * dot(second, second).sqrt();
    if norms == 0.0 { 0.0 } else { dot(first, second) / norms }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<WordPairs, TestSetError> {
        WordPairs::parse(text)
    }

    fn pair(first: &str, second: &str, score: f64) -> WordPair {
        let (first, second) = (first.to_owned(), second.to_owned());
        WordPair { first, second, score }
    }

    #[test]
    fn tabs_commas_and_spaces_separate() {
        let expected = [pair("tiger", "cat", 7.35), pair("book", "paper", 7.0)];
        for text in [
            "tiger\tcat\t7.35\r\nbook\tpaper\t7\n",
            "tiger,cat,7.35\nbook, paper, 7, ignored\n",
            "tiger;cat;7.35\n  # people\nbook;paper;7\n",
            "# people\ntiger cat  7.35\n\nbook paper 7",
        ] {
            assert_eq!(read(text).unwrap().pairs, expected);
        }
    }

    #[test]
    fn a_header_is_passed_over() {
        let found = read("# from 2001\nWord 1,Word 2,Human (mean)\ntiger,cat,7.35\n").unwrap();
        assert_eq!(found.pairs, [pair("tiger", "cat", 7.35)]);
    }

    #[test]
    fn a_missing_score_is_refused_with_its_line() {
        let message = read("a b 1\n\na b\n").unwrap_err().to_string();
        assert_eq!(message, "line 3: expected two words and a score");
    }

    #[test]
    fn a_score_that_is_not_a_number_is_refused_with_its_line() {
        for score in ["high", "NaN", "inf"] {
            let message = read(&format!("a b 1\na b {score}\n")).unwrap_err();
            assert_eq!(
                message.to_string(),
                format!("line 2: the score is `{score}`; it must be a finite number")
            );
        }
    }

    #[test]
    fn the_score_is_the_first_number_after_the_words() {
        let simlex = "word1\tword2\tPOS\tSimLex999\tconc(w1)\nold\tnew\tA\t1.58\t2.72\n";
        assert_eq!(read(simlex).unwrap().pairs, [pair("old", "new", 1.58)]);
    }

    #[test]
    fn a_cosine_that_is_not_a_number_leaves_nothing_defined() {
        let scores: Vec<f64> = (0..100).map(f64::from).collect();
        let mut cosines = scores.clone();
        cosines[7] = f64::NAN;
        let score = ScoredPairs { scores, cosines }.score(100);
        assert_eq!((score.spearman, score.spearman_interval, score.pearson), (None, None, None));
    }

    #[test]
    fn intervals_are_those_of_the_used_pairs() {
        let scores: Vec<f64> = (0..100).map(f64::from).collect();
        let noisy = |n: f64| n + 40.0 * (n * 12.9898).sin();
        let judged = ScoredPairs { cosines: scores.iter().map(|&n| noisy(n)).collect(), scores };
        let score = judged.score(120);
        let (spearman, interval) = (score.spearman.unwrap(), score.spearman_interval.unwrap());
        assert!(interval.contains(spearman), "{score:?}");
        // Fisher's interval is ± 1.96 · √(1.06 / 97) on the scale of atanh.
        let half = 1.96 * (1.06f64 / 97.0).sqrt();
        let (low, high) = ((spearman.atanh() - half).tanh(), (spearman.atanh() + half).tanh());
        assert!(
            (interval.low - low).abs() < 0.05 && (interval.high - high).abs() < 0.05,
            "{interval:?} {low} {high}"
        );
        assert_eq!(judged.score(120), score, "the same at every call");
    }
}
