//! Sums and differences of words, such as `king - man + woman`.

use std::fmt;
use std::str::FromStr;

use super::query::EPSILON;
use super::{AnalogyRule, Combine, Embeddings, Neighbor, Query, Term};
use crate::{Error, Result};

/// Words that are added and subtracted.
///
/// It is written with white space around the words. A sign may touch the word that follows it, and hyphens within a word
/// belong to the word.
///
/// ```
/// use skipstream::embeddings::Expression;
///
/// let expression: Expression = "king -man + woman".parse()?;
/// assert_eq!(expression.to_string(), "king - man + woman");
/// assert_eq!(expression, Expression::analogy("man", "king", "woman"));
/// assert!("king queen".parse::<Expression>().is_err());
/// # Ok::<(), skipstream::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    terms: Vec<(Sign, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Plus,
    Minus,
}

impl Sign {
    /// The sign at the beginning of a token, and the rest of the token.
    fn split(token: &str) -> Option<(Sign, &str)> {
        let rest_after = |signs: &[char]| token.strip_prefix(signs);
        // A person may have copied a typographic minus.
        let minus = rest_after(&['-', '−', '–']).map(|rest| (Sign::Minus, rest));
        minus.or_else(|| rest_after(&['+']).map(|rest| (Sign::Plus, rest)))
    }
}

impl Expression {
    /// `b - a + c`: the word that is to `c` as `b` is to `a`.
    pub fn analogy(a: &str, b: &str, c: &str) -> Expression {
        let terms = [(Sign::Plus, b), (Sign::Minus, a), (Sign::Plus, c)];
        Expression { terms: terms.map(|(sign, word)| (sign, word.to_owned())).into() }
    }

    /// Whether any of these tokens begins with a sign, so that they are meant as an expression and not as a list of words.
    pub fn is_meant_by(tokens: &[impl AsRef<str>]) -> bool {
        tokens.iter().any(|token| Sign::split(token.as_ref()).is_some())
    }

    /// The words, in their order.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().map(|(_, word)| word.as_str())
    }

    /// The query for the `n` words that complete the expression, without the words in it. All words are searched.
    pub fn query(&self, embeddings: &Embeddings, n: usize, rule: AnalogyRule) -> Result<Query<'static>> {
        let rows = self.terms.iter().map(|(sign, word)| Ok((*sign, embeddings.row_of(word)?)));
        let rows: Vec<(Sign, usize)> = rows.collect::<Result<_>>()?;
        let query = query(embeddings, &rows, n, rule);
        match &query.positive[..] {
            [Term::Vector(sum)] if sum.iter().all(|&value| value == 0.0) => {
                Err(Error::setting("expression", format!("`{self}`"), "a sum of words that is not zero"))
            }
            _ => Ok(query),
        }
    }
}

fn query(embeddings: &Embeddings, rows: &[(Sign, usize)], n: usize, rule: AnalogyRule) -> Query<'static> {
    let query = match rule {
        AnalogyRule::Add => {
            let mut sum = vec![0.0; embeddings.dimensions()];
            for &(sign, row) in rows {
                for (sum, value) in sum.iter_mut().zip(embeddings.unit_vector(row)) {
                    match sign {
                        Sign::Plus => *sum += value,
                        Sign::Minus => *sum -= value,
                    }
                }
            }
            Query::nearest(sum, n)
        }
        AnalogyRule::Multiply => {
            let terms = |wanted| {
                let of_sign = rows.iter().filter(move |(sign, _)| *sign == wanted);
                of_sign.map(|&(_, row)| Term::Row(row)).collect()
            };
            Query {
                positive: terms(Sign::Plus),
                negative: terms(Sign::Minus),
                combine: Combine::Multiply { epsilon: EPSILON },
                ..Query::nearest(Term::Row(0), n)
            }
        }
    };
    query.excluding(rows.iter().map(|&(_, row)| row).collect::<Vec<usize>>())
}

impl Embeddings {
    /// The `n` words that complete an expression, the best first, without the words in it, among the
    /// [default candidates](Embeddings::candidates).
    ///
    /// The similarity of an answer is its cosine with the sum, or its score by 3CosMul.
    ///
    /// ```
    /// # use skipstream::embeddings::{AnalogyRule, Embeddings};
    /// let words = [("man", 4), ("woman", 3), ("king", 2), ("queen", 1), ("apple", 1)];
    /// let vectors = vec![1.0, 0.1, 0.0, 1.0, 0.1, 1.0, 1.0, 0.8, 0.1, 1.0, 0.8, 1.0, -1.0, 0.0, 0.3];
    /// let embeddings = Embeddings::new(3, words, vectors)?;
    /// let answers = embeddings.solve(&"king - man + woman".parse()?, 1, AnalogyRule::Add)?;
    /// assert_eq!(answers[0].word, "queen");
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    pub fn solve(&self, expression: &Expression, n: usize, rule: AnalogyRule) -> Result<Vec<Neighbor<'_>>> {
        self.search(&expression.query(self, n, rule)?.among(self.candidates(None, None)))
    }

    /// The query of [`Embeddings::analogy`] over all words, with the rows of a, b and c.
    ///
    /// # Panics
    /// If a row does not exist.
    pub fn analogy_query(&self, [a, b, c]: [usize; 3], n: usize, rule: AnalogyRule) -> Query<'static> {
        query(self, &[(Sign::Plus, b), (Sign::Minus, a), (Sign::Plus, c)], n, rule)
    }
}

impl FromStr for Expression {
    type Err = Error;

    fn from_str(text: &str) -> Result<Expression> {
        let invalid = || {
            let limit = "words joined by + and -, such as king - man + woman";
            Error::setting("expression", format!("`{text}`"), limit)
        };
        let mut terms = Vec::new();
        let mut sign = None;
        for token in text.split_whitespace() {
            let word = match Sign::split(token) {
                Some(_) if sign.is_some() => return Err(invalid()),
                Some((own, rest)) => {
                    sign = Some(own);
                    rest
                }
                None => token,
            };
            if !word.is_empty() {
                let implied = terms.is_empty().then_some(Sign::Plus);
                terms.push((sign.take().or(implied).ok_or_else(invalid)?, word.to_owned()));
            }
        }
        // Something must be added: the negative of a word is near to nothing in particular.
        if sign.is_some() || !terms.iter().any(|(sign, _)| *sign == Sign::Plus) {
            return Err(invalid());
        }
        Ok(Expression { terms })
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (sign, word)) in self.terms.iter().enumerate() {
            let symbol = match sign {
                Sign::Plus => '+',
                Sign::Minus => '-',
            };
            // A word that begins with a sign is read as a word only if its own sign touches it.
            let touches = Sign::split(word).is_some();
            match position {
                0 if *sign == Sign::Plus && !touches => write!(formatter, "{word}")?,
                0 => write!(formatter, "{symbol}{word}")?,
                _ if touches => write!(formatter, " {symbol}{word}")?,
                _ => write!(formatter, " {symbol} {word}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_begins_with_a_sign_is_read_as_it_is_written() {
        for text in ["+--- -GiA", "a --b ++c", "-+a +b", "+-x"] {
            let expression: Expression = text.parse().unwrap();
            assert_eq!(expression.to_string().parse::<Expression>().unwrap(), expression, "{text}");
        }
        assert_eq!("+--- −GiA".parse::<Expression>().unwrap().to_string(), "+--- - GiA");
    }

    #[test]
    fn expressions_are_read_as_people_write_them() {
        for (text, read) in [
            ("king - man + woman", "king - man + woman"),
            ("king −man +woman", "king - man + woman"),
            ("-man + king", "-man + king"),
            ("- man +king", "-man + king"),
            ("+ king", "king"),
            (" x-ray  +  t-shirt ", "x-ray + t-shirt"),
            ("king", "king"),
        ] {
            assert_eq!(text.parse::<Expression>().unwrap().to_string(), read, "{text}");
        }
    }

    #[test]
    fn what_is_not_an_expression_is_refused() {
        for text in [
            "",
            " ",
            "king queen",
            "king -",
            "king + + queen",
            "- man",
            "+",
            "king - - man",
            "king + -man",
            "- + king",
        ] {
            let message = text.parse::<Expression>().unwrap_err().to_string();
            let expected = "it must be words joined by + and -, such as king - man + woman";
            assert_eq!(message, format!("expression is `{text}`; {expected}"));
        }
    }

    #[test]
    fn a_sign_tells_an_expression_from_a_list_of_words() {
        assert!(Expression::is_meant_by(&["king", "-", "man"]));
        assert!(Expression::is_meant_by(&["king", "-man"]));
        assert!(!Expression::is_meant_by(&["x-ray", "man", "king"]));
    }

    #[test]
    fn an_expression_is_the_sum_of_directions_without_its_words() {
        let words = [("east", 5), ("north", 4), ("west", 3), ("northeast", 2)];
        let vectors = vec![2.0, 0.0, 0.0, 9.0, -1.0, 0.0, 1.0, 1.0];
        let embeddings = Embeddings::new(2, words, vectors).unwrap();
        let best = |text: &str, rule| {
            let found = embeddings.solve(&text.parse().unwrap(), 1, rule).unwrap();
            found.first().map(|found| (found.word, found.similarity))
        };
        let (word, similarity) = best("north + east", AnalogyRule::Add).unwrap();
        assert!(word == "northeast" && (similarity - 1.0).abs() < 1e-6);
        assert_eq!(best("north + east", AnalogyRule::Multiply).unwrap().0, "northeast");
        assert_eq!(best("north - east", AnalogyRule::Add).unwrap().0, "west");
        assert_eq!(best("north + east + west + northeast", AnalogyRule::Add), None);
        let zero = embeddings.solve(&"north - north".parse().unwrap(), 1, AnalogyRule::Add).unwrap_err();
        assert_eq!(
            zero.to_string(),
            "expression is `north - north`; it must be a sum of words that is not zero"
        );
        let unknown = embeddings.solve(&"north + up".parse().unwrap(), 1, AnalogyRule::Add);
        assert_eq!(unknown.unwrap_err().to_string(), "`up` is not in the vocabulary");
    }
}
