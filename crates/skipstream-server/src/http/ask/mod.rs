//! Questions about what was published last. They never wait for training.
//!
//! A question that stands alone is answered by a status: 404 for a word that is not known, with suggestions. Of many
//! questions at once each has its own answer or error, in the order in which they were asked.

pub mod analogy;
pub mod neighbors;
pub mod odd_one_out;
pub mod similarity;
pub mod vectors;
pub mod words;

use serde::Serialize;
use utoipa::ToSchema;

use super::ApiError;
use super::error::ErrorDetail;
use super::extract::Number;

/// How many answers are wanted.
pub type Answers = Number<1, 1000>;

/// Questions that may be asked at once.
pub const MAX_QUESTIONS: usize = 1_000;

/// Where nobody says how many answers they want.
const ANSWERS: usize = 10;

fn answers(n: Option<Answers>) -> usize {
    n.map_or(ANSWERS, Answers::get)
}

/// Its own answer or error for one of many questions.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum Outcome<T> {
    /// The answer
    Answer(T),
    /// What is wrong with the question
    Failure {
        /// What is wrong
        error: ErrorDetail,
    },
}

impl<T, E: Into<ApiError>> From<Result<T, E>> for Outcome<T> {
    fn from(result: Result<T, E>) -> Outcome<T> {
        match result {
            Ok(answer) => Outcome::Answer(answer),
            Err(error) => Outcome::Failure { error: *error.into().detail },
        }
    }
}
