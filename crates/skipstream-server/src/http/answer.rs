//! What many answers have in common.

use std::panic;
use std::sync::Arc;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use serde::Serialize;
use skipstream::embeddings::{Found, Neighbor};
use tokio::sync::Semaphore;
use tokio::task;
use utoipa::ToSchema;

use super::error::ApiError;
use super::extract::Word;
use crate::published::{Published, Seq};

/// An answer in JSON. It ends with a line end, so that a prompt does not stick to it.
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
                tracing::error!(%error, "an answer cannot be written");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }
}

/// What an answer was made of
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct SnapshotInfo {
    /// All lines up to this one are learned in it
    pub seq: Seq,
    /// When it was published
    pub time: Timestamp,
    /// Words that are known in it
    pub vocabulary: usize,
    /// Words of text that were learned, since the stream began
    pub words: u64,
}

impl From<&Published> for SnapshotInfo {
    fn from(published: &Published) -> SnapshotInfo {
        SnapshotInfo {
            seq: published.seq,
            time: published.time,
            vocabulary: published.embeddings.len(),
            words: published.progress.tokens,
        }
    }
}

/// A word with how often and when it was seen
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct WordInfo {
    /// The word
    pub word: String,
    /// How often it was seen since it is known
    pub count: u64,
    /// 1 for the most frequent word
    pub rank: usize,
    /// The time of the line that brought it
    pub first_seen: Timestamp,
    /// The time of the last line that had it
    pub last_seen: Timestamp,
}

impl WordInfo {
    /// The word of a row.
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

/// A word near to what was asked for
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct NeighborInfo {
    /// The word
    pub word: String,
    /// The cosine to what was asked for, from -1 to 1; of an analogy by multiplication, its score
    pub similarity: f32,
    /// How often it was seen since it is known
    pub count: u64,
    /// 1 for the most frequent word
    pub rank: usize,
    /// The time of the line that brought it
    pub first_seen: Timestamp,
}

impl NeighborInfo {
    /// The word of a row, so near.
    pub fn new(published: &Published, row: usize, similarity: f32) -> NeighborInfo {
        NeighborInfo {
            word: published.embeddings.word(row).to_owned(),
            similarity,
            count: published.embeddings.count(row),
            rank: row + 1,
            first_seen: published.seen[row].first,
        }
    }

    /// The words of the rows that were found.
    pub fn found(published: &Published, found: &[Found]) -> Vec<NeighborInfo> {
        found.iter().map(|found| NeighborInfo::new(published, found.row, found.similarity)).collect()
    }

    /// The words that were found.
    pub fn list(published: &Published, found: &[Neighbor<'_>]) -> Vec<NeighborInfo> {
        let row = |neighbor: &Neighbor<'_>| published.embeddings.index_of(neighbor.word);
        found
            .iter()
            .filter_map(|found| Some(NeighborInfo::new(published, row(found)?, found.similarity)))
            .collect()
    }
}

/// The row of a word that is asked about alone: who misspelled it is told how it may be written.
pub fn row_of(published: &Published, word: &str) -> Result<usize, ApiError> {
    published.embeddings.index_of(word).ok_or_else(|| ApiError::unknown_word_in(published, word))
}

/// As [`row_of`], from a thread that serves connections: only where the word is not known are all words looked at.
pub async fn find_row(published: &Arc<Published>, word: &Word) -> Result<usize, ApiError> {
    if let Some(row) = published.embeddings.index_of(word.as_str()) {
        return Ok(row);
    }
    let (published, word) = (published.clone(), word.clone());
    compute(move || row_of(&published, word.as_str())).await
}

/// Runs work that takes the processor, apart from the threads that serve connections, and only a few at a time. A request
/// that is given up before its turn costs nothing.
pub async fn compute<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    static PLACES: Semaphore = Semaphore::const_new(4);
    let place = PLACES.acquire().await.expect("nobody closes the semaphore");
    let work = move || {
        let _place = place;
        work()
    };
    task::spawn_blocking(work).await.unwrap_or_else(|error| panic::resume_unwind(error.into_panic()))
}
