//! Queries on the current version. They never wait for training.
//!
//! A single query with an unknown word is answered with 404 and suggestions. In a batch, each query has its own answer or
//! error.

pub mod analogy;
pub mod neighbors;
pub mod odd_one_out;
pub mod similarity;
pub mod vectors;
pub mod words;

use super::ApiError;
use super::extract::Number;

/// Number of answers to a query.
pub type Answers = Number<1, 1000>;

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
