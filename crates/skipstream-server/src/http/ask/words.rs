//! Words: how often and when they were seen, and those that start with some letters.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Answers, answers};
use crate::http::ApiError;
use crate::http::answer::Json;
use crate::http::answer::{SnapshotInfo, WordInfo, compute, row_of};
use crate::http::extract::{Parameters, Path, Word};
use crate::service::Service;

/// Which words are wanted
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Completion {
    /// How the words start; by default all words are meant
    #[serde(default)]
    #[param(max_length = 1000)]
    prefix: String,
    /// How many of them, the most frequent first; 10 by default
    #[param(inline)]
    n: Option<Answers>,
}

/// Words that start alike
#[derive(Debug, Serialize, ToSchema)]
pub struct Words {
    /// What the answer was made of
    pub snapshot: SnapshotInfo,
    /// The words, the most frequent first
    pub words: Vec<WordInfo>,
}

/// The most frequent words, or those that start with some letters
#[utoipa::path(
    get, path = "/v1/words", tag = "questions", params(Completion),
    responses((status = 200, body = Words)), security(("token" = ["read"]))
)]
pub async fn complete(
    State(service): State<Arc<Service>>,
    Parameters(Completion { prefix, n }): Parameters<Completion>,
) -> Result<Json<Words>, ApiError> {
    if prefix.chars().count() > Word::MAX_CHARACTERS {
        let limit = Word::MAX_CHARACTERS;
        return Err(ApiError::bad_request(format!(
            "prefix is too long; it must have at most {limit} characters"
        )));
    }
    let published = service.published();
    let n = answers(n);
    compute(move || {
        let rows: Vec<usize> = if prefix.is_empty() {
            (0..published.embeddings.len().min(n)).collect()
        } else {
            published.complete(&prefix, n)
        };
        let words = rows.into_iter().map(|row| WordInfo::new(&published, row)).collect();
        Ok(Json(Words { snapshot: (&*published).into(), words }))
    })
    .await
}

/// What is known of a word
#[derive(Debug, Serialize, ToSchema)]
pub struct OneWord {
    /// What the answer was made of
    pub snapshot: SnapshotInfo,
    /// The word
    #[serde(flatten)]
    pub info: WordInfo,
    /// Its share of all words that were read, from 0 to 1
    pub share: f64,
}

/// How often a word was seen, and when
#[utoipa::path(
    get, path = "/v1/words/{word}", tag = "questions",
    params(("word" = inline(Word), Path, description = "The word, percent-encoded")),
    responses((status = 200, body = OneWord), (status = 404, description = "The word is not known")),
    security(("token" = ["read"]))
)]
pub async fn word(
    State(service): State<Arc<Service>>,
    Path(word): Path<Word>,
) -> Result<Json<OneWord>, ApiError> {
    let published = service.published();
    compute(move || {
        let info = WordInfo::new(&published, row_of(&published, word.as_str())?);
        let share = info.count as f64 / published.progress.tokens.max(1) as f64;
        Ok(Json(OneWord { snapshot: (&*published).into(), info, share }))
    })
    .await
}
