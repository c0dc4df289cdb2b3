//! Word similarity sets: people's scores of pairs of words against the cosines.

use std::io::BufRead;
use std::path::Path;

use serde::Serialize;

use super::correlation::{Ranked, pearson, spearman};
use super::fields::{MAX_LINE_BYTES, fields, is_comment, without_byte_order_mark};
use super::interval::Interval;
use crate::Result;
use crate::formats::lines::{Line, Lines};

/// Two words and how similar people find them.
#[derive(Clone, Debug, PartialEq)]
pub struct WordPair {
    /// One word.
    pub first: String,
    /// The other word.
    pub second: String,
    /// The mean score of the people who were asked.
    pub score: f64,
}

/// A word similarity set, such as WS353, MEN or SimLex-999.
#[derive(Clone, Debug, PartialEq)]
pub struct WordPairs {
    pairs: Vec<WordPair>,
}

/// How well the cosines agree with the scores of a set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PairScore {
    /// Spearman's correlation, which papers report; nothing if it is not defined.
    pub spearman: Option<f64>,
    /// The 95 % interval of `spearman`: percentiles of 1,000 resamples of the used pairs.
    pub spearman_interval: Option<Interval>,
    /// Pearson's correlation; nothing if it is not defined.
    pub pearson: Option<f64>,
    /// The pairs of which both words are known. The others do not count.
    pub used: usize,
    /// The pairs of the set.
    pub total: usize,
}

impl WordPairs {
    /// Reads lines of two words and a score: the first number behind the words, so that a column between them (a part
    /// of speech, in SimLex-999) does no harm. Tabs, semicolons, commas or spaces separate.
    ///
    /// Blank lines and lines that start with `#` are comments, further columns are ignored, and
    /// the first line may be a header. `name` stands in error messages.
    pub fn read(reader: impl BufRead, name: &Path) -> Result<WordPairs> {
        let mut lines = Lines::new(reader, name, MAX_LINE_BYTES);
        let mut pairs = Vec::new();
        let mut may_be_header = true;
        while let Some(line) = lines.next()? {
            let text = without_byte_order_mark(line.text);
            if is_comment(text) {
                continue;
            }
            match (pair(&fields(text)), may_be_header) {
                (Some(pair), _) => pairs.push(pair),
                (None, true) => {}
                (None, false) => return Err(malformed(line, &fields(text))),
            }
            may_be_header = false;
        }
        Ok(WordPairs { pairs })
    }

    /// The pairs, in the order of the file.
    pub fn pairs(&self) -> &[WordPair] {
        &self.pairs
    }
}

/// What the columns of a line say, if they are two words and a score.
pub(super) fn pair(fields: &[&str]) -> Option<WordPair> {
    let [first, second, others @ ..] = fields else { return None };
    let score = others.iter().find_map(|field| field.parse::<f64>().ok())?;
    let is_pair = score.is_finite() && !first.is_empty() && !second.is_empty();
    is_pair.then(|| WordPair { first: (*first).to_owned(), second: (*second).to_owned(), score })
}

fn malformed(line: Line<'_>, fields: &[&str]) -> crate::Error {
    match fields {
        [_, _, score, ..] => line.error(format!("the score is `{score}`; it must be a finite number")),
        _ => line.error("not two words and a score"),
    }
}

/// People's scores beside the cosines of the same pairs.
#[derive(Debug, Default)]
pub(super) struct Judged {
    pub(super) scores: Vec<f64>,
    pub(super) cosines: Vec<f64>,
}

impl Judged {
    /// How well the two agree, of a set of `total` pairs.
    pub(super) fn score(&self, total: usize) -> PairScore {
        let (people, model) = (Ranked::new(&self.scores), Ranked::new(&self.cosines));
        let spearman = spearman(&self.scores, &self.cosines);
        // What is not defined has no interval: a model that was opened and not verified may hold NaN.
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

    fn read(text: &str) -> Result<WordPairs> {
        WordPairs::read(text.as_bytes(), Path::new("set.tsv"))
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
            "\u{feff}tiger;cat;7.35\n  # people\nbook;paper;7\n",
            "# people\ntiger cat  7.35\n\nbook paper 7",
        ] {
            assert_eq!(read(text).unwrap().pairs(), expected);
        }
    }

    #[test]
    fn a_header_is_passed_over() {
        let found = read("# from 2001\nWord 1,Word 2,Human (mean)\ntiger,cat,7.35\n").unwrap();
        assert_eq!(found.pairs(), [pair("tiger", "cat", 7.35)]);
    }

    #[test]
    fn a_missing_score_is_refused_with_its_line() {
        let message = read("a b 1\n\na b\n").unwrap_err().to_string();
        assert_eq!(message, "set.tsv: line 3: not two words and a score");
    }

    #[test]
    fn a_score_that_is_not_a_number_is_refused_with_its_line() {
        for score in ["high", "NaN", "inf"] {
            let message = read(&format!("a b 1\na b {score}\n")).unwrap_err();
            assert_eq!(
                message.to_string(),
                format!("set.tsv: line 2: the score is `{score}`; it must be a finite number")
            );
        }
    }

    #[test]
    fn the_score_is_the_first_number_behind_the_words() {
        let simlex = "word1\tword2\tPOS\tSimLex999\tconc(w1)\nold\tnew\tA\t1.58\t2.72\n";
        assert_eq!(read(simlex).unwrap().pairs(), [pair("old", "new", 1.58)]);
    }

    #[test]
    fn a_cosine_that_is_not_a_number_leaves_nothing_defined() {
        let scores: Vec<f64> = (0..100).map(f64::from).collect();
        let mut cosines = scores.clone();
        cosines[7] = f64::NAN;
        let score = Judged { scores, cosines }.score(100);
        assert_eq!((score.spearman, score.spearman_interval, score.pearson), (None, None, None));
    }

    #[test]
    fn intervals_are_those_of_the_used_pairs() {
        let scores: Vec<f64> = (0..100).map(f64::from).collect();
        let noisy = |n: f64| n + 40.0 * (n * 12.9898).sin();
        let judged = Judged { cosines: scores.iter().map(|&n| noisy(n)).collect(), scores };
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
