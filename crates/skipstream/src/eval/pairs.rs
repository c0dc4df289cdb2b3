//! Word similarity sets: people's scores of pairs of words against the cosines.

use std::io::BufRead;
use std::path::Path;

use serde::Serialize;

use super::correlation::{pearson, spearman};
use super::{Case, MAX_LINE_BYTES};
use crate::Result;
use crate::embeddings::Embeddings;
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
    /// Pearson's correlation; nothing if it is not defined.
    pub pearson: Option<f64>,
    /// The pairs of which both words are known. The others do not count.
    pub used: usize,
    /// The pairs of the set.
    pub total: usize,
}

impl WordPairs {
    /// Reads lines of two words and a score, separated by tabs, commas or spaces.
    ///
    /// Blank lines and lines that start with `#` are comments, further columns are ignored, and
    /// the first line may be a header. `name` stands in error messages.
    pub fn read(reader: impl BufRead, name: &Path, case: Case) -> Result<WordPairs> {
        let mut lines = Lines::new(reader, name, MAX_LINE_BYTES);
        let mut pairs = Vec::new();
        let mut may_be_header = true;
        while let Some(line) = lines.next()? {
            if line.text.starts_with('#') {
                continue;
            }
            let [first, second, score] = fields(line)?;
            match score.parse::<f64>() {
                Ok(score) if score.is_finite() => {
                    pairs.push(WordPair { first: case.apply(first), second: case.apply(second), score })
                }
                Err(_) if may_be_header => {}
                _ => {
                    return Err(line.error(format!("the score is `{score}`; it must be a finite number")));
                }
            }
            may_be_header = false;
        }
        Ok(WordPairs { pairs })
    }

    /// The pairs, in the order of the file.
    pub fn pairs(&self) -> &[WordPair] {
        &self.pairs
    }

    /// Compares the scores with the cosines of the given vectors.
    pub fn evaluate(&self, embeddings: &Embeddings) -> PairScore {
        let (scores, cosines): (Vec<f64>, Vec<f64>) = self
            .pairs
            .iter()
            .filter_map(|pair| {
                let first = embeddings.vector(&pair.first)?;
                let second = embeddings.vector(&pair.second)?;
                Some((pair.score, cosine(&first, &second)))
            })
            .unzip();
        PairScore {
            spearman: spearman(&scores, &cosines),
            pearson: pearson(&scores, &cosines),
            used: scores.len(),
            total: self.pairs.len(),
        }
    }
}

fn fields(line: Line<'_>) -> Result<[&str; 3]> {
    let text = line.text;
    let fields: Vec<&str> = if text.contains('\t') {
        text.split('\t').map(str::trim).collect()
    } else if text.contains(',') {
        text.split(',').map(str::trim).collect()
    } else {
        text.split_whitespace().collect()
    };
    match fields[..] {
        [first, second, score, ..] => Ok([first, second, score]),
        _ => Err(line.error("not two words and a score")),
    }
}

/// In `f64`: rounding to `f32` would make ties and swap ranks.
fn cosine(first: &[f32], second: &[f32]) -> f64 {
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
        WordPairs::read(text.as_bytes(), Path::new("set.tsv"), Case::Keep)
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
    fn words_are_put_into_lower_case_on_demand() {
        let found = WordPairs::read("FBI\tÄrger\t1".as_bytes(), Path::new("x"), Case::Lower);
        assert_eq!(found.unwrap().pairs(), [pair("fbi", "ärger", 1.0)]);
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
    fn pairs_with_an_unknown_word_do_not_count() {
        let words = [("x", 4), ("near", 3), ("far", 2), ("zero", 1)];
        let vectors = vec![1.0, 0.0, 1.0, 0.1, 0.0, 1.0, 0.0, 0.0];
        let embeddings = Embeddings::new(2, words, vectors).unwrap();
        let set = read("x near 9\nx far 2\nx zero 1\nx unknown 5\nx x 10\n").unwrap();
        let score = set.evaluate(&embeddings);
        assert_eq!((score.used, score.total), (4, 5));
        // The zero vector ties with the orthogonal one: ranks 3, 1.5, 1.5, 4
        // against 3, 2, 1, 4, of which this is SciPy's correlation.
        assert!((score.spearman.unwrap() - 0.9486832980505139).abs() < 1e-12);
    }

    #[test]
    fn nothing_known_is_no_score() {
        let none: [(&str, u64); 0] = [];
        let empty = Embeddings::new(1, none, Vec::new()).unwrap();
        let score = read("a b 1\nc d 2\n").unwrap().evaluate(&empty);
        assert_eq!(score.spearman, None);
        assert_eq!((score.used, score.total), (0, 2));
    }
}
