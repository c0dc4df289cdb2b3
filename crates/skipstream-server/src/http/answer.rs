//! What many responses have in common.

use std::panic;
use std::sync::Arc;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::task;
use utoipa::ToSchema;

use super::error::{ApiError, ErrorDetail};
use crate::published::{Published, PublishedInfo};
use crate::search::Hit;
use crate::service::Service;

/// A JSON response. It ends with a line feed, so that a shell prompt starts on a new line.
#[derive(Clone, Copy, Debug)]
pub struct Json<T>(pub T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(mut body) => {
                body.push(b'\n');
                ([(header::CONTENT_TYPE, "application/json")], body).into_response()
            }
            Err(error) => {
                tracing::error!(%error, "cannot serialize a response");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }
}

/// An answer and the version of the vectors it is based on
#[derive(Debug, Serialize, ToSchema)]
pub struct Answer<T> {
    /// The version that the answer is based on
    pub snapshot: PublishedInfo,
    #[serde(flatten)]
    answer: T,
}

impl<T> Answer<T> {
    pub fn new(published: &Published, answer: T) -> Json<Answer<T>> {
        Json(Answer { snapshot: published.into(), answer })
    }
}

/// Answers to the queries of a batch
#[derive(Debug, Serialize, ToSchema)]
pub struct Results<T> {
    /// One result per query, in the same order
    results: Vec<BatchResult<T>>,
}

/// The answer to one query of a batch, or its error
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum BatchResult<T> {
    /// The answer
    Answer(T),
    /// The error
    Failure {
        /// The error
        error: ErrorDetail,
    },
}

/// The result for one word or vector of a batch
#[derive(Debug, Serialize, ToSchema)]
pub struct WordResult<T> {
    /// The word; absent if a vector was sent
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub word: Option<String>,
    /// Its answer, or an error
    #[serde(flatten)]
    pub result: BatchResult<T>,
}

impl<T> From<Result<T, ApiError>> for BatchResult<T> {
    fn from(result: Result<T, ApiError>) -> BatchResult<T> {
        match result {
            Ok(answer) => BatchResult::Answer(answer),
            Err(error) => BatchResult::Failure { error: *error.detail },
        }
    }
}

impl<T> FromIterator<Result<T, ApiError>> for Results<T> {
    fn from_iter<I: IntoIterator<Item = Result<T, ApiError>>>(results: I) -> Results<T> {
        Results { results: results.into_iter().map(BatchResult::from).collect() }
    }
}

/// A word with its count and times
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct WordInfo {
    /// The word
    pub word: String,
    /// Occurrences since it was last admitted to the vocabulary
    pub count: u64,
    /// Rank by frequency, from 1
    pub rank: usize,
    /// Time of the first line that contained it
    pub first_seen: Timestamp,
    /// Time of the last line that contained it
    pub last_seen: Timestamp,
}

impl WordInfo {
    pub fn new(published: &Published, row: usize) -> WordInfo {
        let seen = published.seen[row];
        WordInfo {
            word: published.embeddings.word(row).to_owned(),
            count: published.embeddings.count(row),
            rank: row + 1,
            first_seen: seen.first,
            last_seen: seen.last,
        }
    }
}

/// A neighbor
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct NeighborInfo {
    /// The word
    pub word: String,
    /// Cosine similarity, from -1 to 1; for an analogy by multiplication, its score
    pub similarity: f32,
    /// Occurrences since it was last admitted to the vocabulary
    pub count: u64,
    /// Rank by frequency, from 1
    pub rank: usize,
    /// Time of the first line that contained it
    pub first_seen: Timestamp,
}

impl NeighborInfo {
    fn new(published: &Published, row: usize, similarity: f32) -> NeighborInfo {
        let WordInfo { word, count, rank, first_seen, .. } = WordInfo::new(published, row);
        NeighborInfo { word, similarity, count, rank, first_seen }
    }

    pub fn list(published: &Published, found: &[Hit]) -> Vec<NeighborInfo> {
        found.iter().map(|&(row, similarity)| NeighborInfo::new(published, row, similarity)).collect()
    }
}

/// The row of a word, or an error with suggestions.
pub fn row_of(published: &Published, word: &str) -> Result<usize, ApiError> {
    published.embeddings.index_of(word).ok_or_else(|| ApiError::unknown_word_in(published, word))
}

/// As [`row_of`], for threads that serve connections: suggestions are computed elsewhere.
pub async fn find_row(published: &Arc<Published>, word: &str) -> Result<usize, ApiError> {
    if let Some(row) = published.embeddings.index_of(word) {
        return Ok(row);
    }
    let (published, word) = (published.clone(), word.to_owned());
    compute(move || row_of(&published, &word)).await
}

/// Computes an answer from the current version.
pub async fn answer<T: Send + 'static>(
    service: &Service,
    work: impl FnOnce(&Published) -> Result<T, ApiError> + Send + 'static,
) -> Result<Json<Answer<T>>, ApiError> {
    let published = service.published();
    compute(move || Ok(Answer::new(&published, work(&published)?))).await
}

/// Runs CPU-bound work on other threads than those that serve connections, a few at a time. A request that is cancelled
/// while it waits costs nothing.
pub async fn compute<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    static PERMITS: Semaphore = Semaphore::const_new(4);
    let permit = PERMITS.acquire().await.expect("nobody closes the semaphore");
    let work = move || {
        let _permit = permit;
        work()
    };
    task::spawn_blocking(work).await.unwrap_or_else(|error| panic::resume_unwind(error.into_panic()))
}
