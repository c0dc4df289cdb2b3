//! Lists, adds and removes watched words.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::ApiError;
use crate::http::answer::Json;
use crate::http::extract::{Path, Word};
use crate::http::lanes::Work;
use crate::service::Service;

/// Watched words
#[derive(Debug, Serialize, ToSchema)]
pub struct Watched {
    /// The words, sorted
    pub words: Vec<String>,
}

/// List the watched words
#[utoipa::path(
    get, path = "/v1/watch", tag = "change",
    responses((status = 200, body = Watched))
)]
pub async fn list(State(service): State<Arc<Service>>) -> Json<Watched> {
    Json(Watched { words: service.watch.words() })
}

/// Watch a word
///
/// A `drift` event is sent when it moves. The word need not be in the vocabulary yet. At most 1,000 words can be watched.
#[utoipa::path(
    put, path = "/v1/watch/{word}", tag = "change",
    params(("word" = inline(Word), Path, description = "The word, percent-encoded")),
    responses(
        (status = 200, body = Watched),
        (status = 409, description = "Too many words are watched"),
        (status = 507, description = "The disk is full"),
    )
)]
pub async fn add(
    State(service): State<Arc<Service>>,
    work: Work,
    Path(word): Path<Word>,
) -> Result<Json<Watched>, ApiError> {
    work.run(move |_| {
        service.watch.add(&as_learned(&service, &word))?;
        Ok(Json(Watched { words: service.watch.words() }))
    })
    .await
}

/// The word as the model's text has it, because only such words are ever learned.
fn as_learned(service: &Service, word: &Word) -> String {
    let published = service.published();
    let learned = published.embeddings.text().and_then(|text| text.only_token(word.as_str()));
    learned.unwrap_or_else(|| word.as_str().to_owned())
}

/// Stop watching a word
#[utoipa::path(
    delete, path = "/v1/watch/{word}", tag = "change",
    params(("word" = inline(Word), Path, description = "The word, percent-encoded")),
    responses(
        (status = 200, body = Watched),
        (status = 404, description = "The word is not watched"),
        (status = 507, description = "The disk is full"),
    )
)]
pub async fn remove(
    State(service): State<Arc<Service>>,
    work: Work,
    Path(word): Path<Word>,
) -> Result<Json<Watched>, ApiError> {
    work.run(move |_| {
        if !service.watch.remove(&as_learned(&service, &word))? {
            let message = format!("`{}` is not watched", word.as_str());
            return Err(ApiError::new(StatusCode::NOT_FOUND, "not-watched", message));
        }
        Ok(Json(Watched { words: service.watch.words() }))
    })
    .await
}
