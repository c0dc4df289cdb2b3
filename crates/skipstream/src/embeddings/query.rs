//! Queries: which words are nearest, which complete an analogy.

use std::borrow::Cow;
use std::ops::{ControlFlow, Range};

use serde::{Deserialize, Serialize};

use super::best::Candidate;
use super::search::{find_best, scores};
use super::{Embeddings, Expression, VectorsError};
use crate::config::available_threads;
use crate::{Error, Result};

/// The ε of 3CosMul in Levy and Goldberg (2014).
pub(crate) const EPSILON: f32 = 0.001;

/// With a smaller ε, the scores of 3CosMul could be infinite.
const MIN_EPSILON: f32 = 1e-30;

/// A word or a vector in a query.
#[derive(Clone, Debug, PartialEq)]
pub enum Term<'a> {
    /// The word of a row, which must exist.
    Row(usize),
    /// A vector with the dimensions of the embeddings.
    Vector(Cow<'a, [f32]>),
}

impl<'a, V: Into<Cow<'a, [f32]>>> From<V> for Term<'a> {
    fn from(vector: V) -> Term<'a> {
        Term::Vector(vector.into())
    }
}

/// How a query combines the cosines of its terms with a word into the word's score.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Combine {
    /// The sum: positive terms minus negative ones (3CosAdd). With one term, its cosine.
    #[default]
    Add,
    /// The product of the positive terms divided by the product of the negative ones (3CosMul, Levy and Goldberg 2014).
    /// Cosines are shifted to be between 0 and 1.
    Multiply {
        /// Added to the divisor, so that it is not zero. Levy and Goldberg use 0.001, gensim uses 0.000001.
        epsilon: f32,
    },
    /// The sum of dot products, positive minus negative: vectors keep their lengths.
    Dot,
}

/// A query: the words with the highest scores.
///
/// ```
/// use skipstream::embeddings::{Embeddings, Query};
///
/// let words = [("king", 5), ("queen", 4), ("apple", 3)];
/// let embeddings = Embeddings::new(2, words, vec![1.0, 0.0, 0.8, 0.6, -1.0, 0.2])?;
/// let king = embeddings.row_of("king")?;
/// let nearest = embeddings.search(&Query::nearest(&[2.0, 0.1], 1).excluding([king]))?;
/// assert_eq!(nearest[0].word, "queen");
/// # Ok::<(), skipstream::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Query<'a> {
    /// Terms that a word should be near to.
    pub positive: Vec<Term<'a>>,
    /// Terms that a word should be far from.
    pub negative: Vec<Term<'a>>,
    /// How their cosines become a score.
    pub combine: Combine,
    /// The maximum number of answers.
    pub n: usize,
    /// The rows to search, all by default. Rows are sorted by frequency, so a limit on frequency is a limit on rows:
    /// [`Embeddings::candidates`].
    pub rows: Range<usize>,
    /// Rows that are no answer.
    pub exclude: Vec<usize>,
}

impl<'a> Query<'a> {
    /// The `n` words nearest to a vector or a row, which is not excluded.
    pub fn nearest(term: impl Into<Term<'a>>, n: usize) -> Query<'a> {
        Query {
            positive: vec![term.into()],
            negative: Vec::new(),
            combine: Combine::Add,
            n,
            rows: 0..usize::MAX,
            exclude: Vec::new(),
        }
    }

    /// The `n` words nearest to the word of a row, without that word.
    pub fn neighbors(row: usize, n: usize) -> Query<'a> {
        Query::nearest(Term::Row(row), n).excluding([row])
    }

    /// The query with other rows to search, such as [`Embeddings::candidates`].
    #[must_use]
    pub fn among(self, rows: Range<usize>) -> Query<'a> {
        Query { rows, ..self }
    }

    /// The query without some rows as answers.
    #[must_use]
    pub fn excluding(self, rows: impl Into<Vec<usize>>) -> Query<'a> {
        Query { exclude: rows.into(), ..self }
    }
}

/// A word that a query found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Neighbor<'embeddings> {
    /// The word's row.
    #[serde(skip)]
    pub row: usize,
    /// The word.
    pub word: &'embeddings str,
    /// Its score: for the nearest words, the cosine, from -1 to 1; for what comes next, a dot product.
    pub similarity: f32,
    /// The word's count, if known.
    pub count: Option<u64>,
}

/// How an analogy is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnalogyRule {
    /// 3CosAdd: the word nearest to b − a + c, with vectors of length 1.
    #[default]
    Add,
    /// 3CosMul: the word with the highest cos(b) · cos(c) / cos(a), so that no single cosine outweighs the others.
    /// Cosines are shifted to be between 0 and 1.
    Multiply,
}

impl Embeddings {
    /// The answers to a query, the best first. Words with equal scores are sorted by row.
    ///
    /// # Panics
    /// If a row does not exist.
    pub fn search(&self, query: &Query<'_>) -> Result<Vec<Neighbor<'_>>> {
        Ok(self.search_many(std::slice::from_ref(query), None)?.pop().unwrap_or_default())
    }

    /// The answers to many queries, in their order. They are those of [`Embeddings::search`], but the queries share passes
    /// over the vectors. Without a number of threads, large tables are searched on all cores.
    ///
    /// # Panics
    /// If a row does not exist.
    pub fn search_many(
        &self,
        queries: &[Query<'_>],
        threads: Option<usize>,
    ) -> Result<Vec<Vec<Neighbor<'_>>>> {
        let found = self.search_observed(queries, threads, &|_| ControlFlow::Continue(()))?;
        Ok(found.expect("nobody ends the search"))
    }

    /// Searches as [`Embeddings::search_many`] does, and calls `observer` with the finished share, from 0 to 1, after every
    /// few hundred rows, on any thread. If it returns [`ControlFlow::Break`], the search ends with `None`.
    ///
    /// # Panics
    /// If a row does not exist.
    pub fn search_observed(
        &self,
        queries: &[Query<'_>],
        threads: Option<usize>,
        observer: &(dyn Fn(f64) -> ControlFlow<()> + Sync),
    ) -> Result<Option<Vec<Vec<Neighbor<'_>>>>> {
        queries.iter().try_for_each(|query| self.check_query(query))?;
        let threads = threads.unwrap_or_else(available_threads);
        let found = find_best(self, queries.iter().cloned(), threads, observer);
        let neighbors = |best: Vec<Candidate>| best.into_iter().map(|found| self.neighbor(found)).collect();
        Ok(found.map(|found| found.into_iter().map(neighbors).collect()))
    }

    /// The scores of all rows that a query searches, in the order of rows. `n` and `exclude` are not used.
    ///
    /// # Panics
    /// If a row does not exist.
    pub fn scores(&self, query: &Query<'_>) -> Result<Vec<f32>> {
        self.check_query(query)?;
        Ok(scores(self, query.clone()))
    }

    /// The `n` words nearest to `word`, without `word` itself, the nearest first, among the
    /// [default candidates](Embeddings::candidates).
    ///
    /// Words with equal similarities are sorted by row, the more frequent first.
    pub fn neighbors(&self, word: &str, n: usize) -> Result<Vec<Neighbor<'_>>> {
        self.search(&Query::neighbors(self.row_of(word)?, n).among(self.candidates(None, None)))
    }

    /// The `n` best answers to "`a` is to `b` as `c` is to …", the best first, without the three words, among the
    /// [default candidates](Embeddings::candidates).
    ///
    /// The similarity of an answer is its cosine with b − a + c, or its score by 3CosMul.
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
        self.solve(&Expression::analogy(a, b, c), n, rule)
    }

    /// The rows whose words are nearer to the word of `row` than that of `other` is, in the order of rows.
    ///
    /// # Panics
    /// If a row does not exist.
    pub fn closer_than(&self, row: usize, other: usize) -> Result<Vec<usize>> {
        let similarities = self.scores(&Query::nearest(Term::Row(row), 0))?;
        let bar = match similarities.get(other) {
            _ if row == other => 1.0,
            Some(&similarity) => similarity,
            None => self.similarity_of_rows(row, other)?,
        };
        let itself = self.vocabulary_row(row);
        let closer = |&candidate: &usize| Some(candidate) != itself && similarities[candidate] > bar;
        Ok((0..self.len()).filter(closer).collect())
    }

    /// An error if a vector of the query does not have the dimensions of the embeddings or is not finite, or if ε is out
    /// of range.
    pub fn check_query(&self, query: &Query<'_>) -> Result<()> {
        if let Combine::Multiply { epsilon } = query.combine
            && !(MIN_EPSILON..=1.0).contains(&epsilon)
        {
            return Err(Error::setting("epsilon", epsilon, format!("from {MIN_EPSILON:e} to 1")));
        }
        query.positive.iter().chain(&query.negative).try_for_each(|term| match term {
            Term::Row(row) => self.check_row(*row),
            Term::Vector(vector) => self.check_vector(vector),
        })
    }

    /// An error if a vector does not have the dimensions of the embeddings or is not finite.
    pub(super) fn check_vector(&self, vector: &[f32]) -> Result<()> {
        if vector.len() != self.dimensions() {
            let (values, dimensions) = (vector.len(), self.dimensions());
            return Err(VectorsError::QueryLength { values, dimensions }.into());
        }
        match vector.iter().position(|value| !value.is_finite()) {
            Some(position) => {
                let value = vector[position];
                Err(VectorsError::QueryNotFinite { position: position + 1, value }.into())
            }
            None => Ok(()),
        }
    }

    fn neighbor(&self, Candidate { row, similarity }: Candidate) -> Neighbor<'_> {
        Neighbor { row, word: self.word(row), similarity, count: self.known_count(row) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compass() -> Embeddings {
        let words = [("north", 9), ("northeast", 8), ("east", 7), ("west", 6), ("south", 5), ("nowhere", 4)];
        let vectors = vec![0.0, 2.0, 1.0, 1.0, 3.0, 0.0, -1.0, 0.0, 0.0, -1.0, 0.0, 0.0];
        Embeddings::new(2, words, vectors).unwrap()
    }

    fn royals() -> Embeddings {
        let words = [("man", 6), ("woman", 5), ("king", 4), ("queen", 3), ("apple", 2), ("prince", 1)];
        let vectors =
            vec![1.0, 0.1, 0.0, 1.0, 0.1, 1.0, 1.0, 0.8, 0.1, 1.0, 0.8, 1.0, -1.0, 0.0, 0.3, 0.9, 0.6, -0.4];
        Embeddings::new(3, words, vectors).unwrap()
    }

    fn words_of<'a>(neighbors: &[Neighbor<'a>]) -> Vec<&'a str> {
        neighbors.iter().map(|neighbor| neighbor.word).collect()
    }

    #[test]
    fn the_word_itself_is_not_its_neighbor_and_ties_keep_row_order() {
        let compass = compass();
        let nearest = compass.neighbors("north", 10).unwrap();
        assert_eq!(words_of(&nearest), ["northeast", "east", "west", "nowhere", "south"]);
        assert!((nearest[0].similarity - 0.5f32.sqrt()).abs() < 1e-6);
        assert_eq!(nearest[3].similarity, 0.0);
        assert_eq!((nearest[0].row, nearest[0].count), (1, Some(8)));
    }

    #[test]
    fn only_n_neighbors_are_given() {
        let compass = compass();
        assert_eq!(words_of(&compass.neighbors("north", 2).unwrap()), ["northeast", "east"]);
        assert!(compass.neighbors("north", 0).unwrap().is_empty());
        assert_eq!(compass.neighbors("north", usize::MAX).unwrap().len(), 5);
    }

    #[test]
    fn the_top_words_are_the_only_neighbors() {
        let top = compass().top(3);
        assert_eq!(words_of(&top.neighbors("north", 9).unwrap()), ["northeast", "east"]);
        assert!(top.neighbors("south", 9).is_err());
    }

    #[test]
    fn a_range_of_rows_is_searched() {
        let compass = compass();
        let query = |rows| Query { rows, ..Query::nearest(&[0.0, 1.0], 9).excluding([2]) };
        let within = |rows| words_of(&compass.search(&query(rows)).unwrap());
        assert_eq!(within(1..4), ["northeast", "west"]);
        assert_eq!(within(4..99), ["nowhere", "south"]);
        assert!(within(7..99).is_empty());
        assert_eq!(compass.scores(&query(2..99)).unwrap(), [0.0, 0.0, -1.0, 0.0]);
    }

    #[test]
    fn closer_words_are_those_before_the_other() {
        let compass = compass();
        let row = |word| compass.index_of(word).unwrap();
        assert_eq!(compass.closer_than(row("north"), row("south")).unwrap(), [1, 2, 3, 5]);
        assert_eq!(compass.closer_than(row("north"), row("east")).unwrap(), [1]);
        assert!(compass.closer_than(row("north"), row("north")).unwrap().is_empty());
    }

    #[test]
    fn an_unknown_word_is_named() {
        let message = compass().neighbors("up", 1).unwrap_err().to_string();
        assert_eq!(message, "`up` is not in the vocabulary");
        let royals = royals();
        for words in [["x", "man", "king"], ["man", "x", "king"], ["man", "king", "x"]] {
            let error = royals.analogy(words[0], words[1], words[2], 1, AnalogyRule::Add).unwrap_err();
            assert_eq!(error.to_string(), "`x` is not in the vocabulary");
        }
    }

    #[test]
    fn a_query_that_cannot_be_answered_is_refused() {
        let refusal = |query: Query<'_>| compass().search(&query).unwrap_err().to_string();
        let message = refusal(Query::nearest(&[1.0], 1));
        assert_eq!(message, "the query vector has 1 values; the embeddings have 2 dimensions");
        let message = refusal(Query::nearest(&[1.0, f32::NAN], 1));
        assert_eq!(message, "value 2 of the query vector is NaN; it must be finite");
        for epsilon in [0.0, -1.0, f32::NAN, 2.0] {
            let combine = Combine::Multiply { epsilon };
            let message = refusal(Query { combine, ..Query::neighbors(0, 1) });
            assert_eq!(message, format!("epsilon is {epsilon}; it must be from 1e-30 to 1"));
        }
    }

    /// gensim 4.4: most_similar(positive=["king", "woman"], negative=["man"]), and most_similar_cosmul, whose ε is 1e-6.
    #[test]
    fn the_answers_to_an_analogy_are_those_of_gensim() {
        let royals = royals();
        let answer = |rule| royals.analogy("man", "king", "woman", 3, rule).unwrap();
        let expected = [("queen", 0.979_537), ("prince", 0.381_493), ("apple", -0.221_501)];
        for (found, (word, similarity)) in answer(AnalogyRule::Add).iter().zip(expected) {
            assert!(found.word == word && (found.similarity - similarity).abs() < 1e-6, "{found:?}");
        }
        let multiply = answer(AnalogyRule::Multiply);
        assert_eq!(words_of(&multiply), ["apple", "queen", "prince"]);
        assert!((multiply[1].similarity - 1.050_147).abs() < 0.002);
        let gensim = Query {
            combine: Combine::Multiply { epsilon: 1e-6 },
            ..royals.analogy_query([0, 2, 1], 3, AnalogyRule::Multiply)
        };
        assert!((royals.search(&gensim).unwrap()[1].similarity - 1.050_147).abs() < 1e-6);
    }

    #[test]
    fn an_analogy_without_other_words_has_no_answer() {
        let three = royals().top(3);
        for rule in [AnalogyRule::Add, AnalogyRule::Multiply] {
            assert!(three.analogy("man", "king", "woman", 5, rule).unwrap().is_empty());
        }
    }
}
