//! Words whose movements are told.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use super::disk_full;
use crate::change::WatchError;
use crate::http::ApiError;
use crate::http::answer::Json;
use crate::http::answer::compute;
use crate::http::extract::{Path, Word};
use crate::service::Service;

/// Words that are watched
#[derive(Debug, Serialize, ToSchema)]
pub struct Watched {
    /// The words, in alphabetical order
    pub words: Vec<String>,
}

/// Words whose movements are told as events
#[utoipa::path(
    get, path = "/v1/watch", tag = "change",
    responses((status = 200, body = Watched)), security(("token" = ["read"]))
)]
pub async fn list(State(service): State<Arc<Service>>) -> Json<Watched> {
    Json(Watched { words: service.watch.words() })
}

/// Watches a word
///
/// The word need not be known yet. At most 1,000 words are watched.
#[utoipa::path(
    put, path = "/v1/watch/{word}", tag = "change",
    params(("word" = inline(Word), Path, description = "The word, percent-encoded")),
    responses(
        (status = 200, body = Watched),
        (status = 409, description = "Too many words are watched"),
        (status = 507, description = "There is no room on the disk"),
    ),
    security(("token" = ["write"]))
)]
pub async fn add(
    State(service): State<Arc<Service>>,
    Path(word): Path<Word>,
) -> Result<Json<Watched>, ApiError> {
    compute(move || {
        service.watch.add(word.as_str()).map_err(refusal)?;
        Ok(Json(Watched { words: service.watch.words() }))
    })
    .await
}

/// Watches a word no longer
#[utoipa::path(
    delete, path = "/v1/watch/{word}", tag = "change",
    params(("word" = inline(Word), Path, description = "The word, percent-encoded")),
    responses(
        (status = 200, body = Watched),
        (status = 404, description = "The word is not watched"),
        (status = 507, description = "There is no room on the disk"),
    ),
    security(("token" = ["write"]))
)]
pub async fn remove(
    State(service): State<Arc<Service>>,
    Path(word): Path<Word>,
) -> Result<Json<Watched>, ApiError> {
    compute(move || {
        if !service.watch.remove(word.as_str()).map_err(refusal)? {
            let message = format!("`{}` is not watched", word.as_str());
            return Err(ApiError::new(StatusCode::NOT_FOUND, "not-watched", message));
        }
        Ok(Json(Watched { words: service.watch.words() }))
    })
    .await
}

fn refusal(error: WatchError) -> ApiError {
    match error {
        WatchError::TooMany => ApiError::new(StatusCode::CONFLICT, "too-many", error.to_string()),
        WatchError::DiskFull => disk_full(error.to_string()),
        error => ApiError::internal(error),
    }
}
