//! Queries on the current version. They never wait for training.
//!
//! A single query with an unknown word is answered with 404 and suggestions. In a batch, each query has its own answer or
//! error.

pub mod analogy;
pub mod embeddings;
pub mod neighbors;
pub mod next;
pub mod odd_one_out;
pub mod phrases;
pub mod similarity;
pub mod vectors;
pub mod words;

use std::ops::Range;

use super::ApiError;
use super::extract::Number;
use crate::published::Published;

/// Number of answers to a query.
pub type Answers = Number<1, 1000>;

/// The minimum count of candidates; 0 for all words.
pub type MinCount = Number<0, 1_000_000_000>;

/// The number of most frequent words among which candidates are.
pub type Top = Number<1, 100_000_000>;

/// Which words may be answers. The words that are asked about may be rarer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Candidates {
    pub min_count: Option<MinCount>,
    pub top: Option<Top>,
}

impl Candidates {
    /// The minimum count, by the rule of the engine if none was given.
    pub fn min_count(self, published: &Published) -> u64 {
        let given = self.min_count.map(|min_count| min_count.get() as u64);
        given.unwrap_or_else(|| published.embeddings.default_min_count())
    }

    /// Their rows.
    pub fn rows(self, embeddings: &skipstream::Embeddings) -> Range<usize> {
        embeddings.candidates(self.min_count.map(|min_count| min_count.get() as u64), self.top.map(Top::get))
    }
}

/// Maximum number of queries in a batch.
pub const MAX_QUERIES: usize = 1_000;

/// Maximum number of answers to a batch.
const MAX_ANSWERS: usize = 100_000;

/// The number of answers, 10 by default.
fn answers(n: Option<Answers>) -> usize {
    n.map_or(10, Answers::get)
}

/// Rejects batches that ask for too many answers.
fn check_batch(queries: usize, n: usize) -> Result<(), ApiError> {
    if queries * n <= MAX_ANSWERS {
        return Ok(());
    }
    Err(ApiError::bad_request(format!(
        "{queries} queries with n = {n} ask for {} answers; the limit is {MAX_ANSWERS}",
        queries * n
    )))
}
