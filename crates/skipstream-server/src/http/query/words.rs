//! The vocabulary: counts and times of words, and words by prefix.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Answers, Candidates, MinCount, Top, answers};
use crate::http::ApiError;
use crate::http::answer::{Answer, Json, WordInfo, compute, find_row};
use crate::http::extract::{Parameters, Path, Word};
use crate::http::lanes::Work;
use crate::published::Published;
use crate::service::Service;

/// A prefix
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Query {
    /// Only words that start with this; empty by default
    #[serde(default)]
    #[param(max_length = 1000)]
    prefix: String,
    /// Number of words; 10 by default
    #[param(inline)]
    n: Option<Answers>,
    /// Minimum count of the words; by default 1 per 200,000 tokens, from 1 to 20. 0 allows all words
    #[param(inline)]
    min_count: Option<MinCount>,
    /// Only words among this many most frequent words; all by default
    #[param(inline)]
    top: Option<Top>,
}

/// Words with a common prefix
#[derive(Debug, Serialize, ToSchema)]
pub struct Words {
    /// Minimum count of the words
    pub min_count: u64,
    /// The words, most frequent first
    pub words: Vec<WordInfo>,
}

/// The most frequent words, optionally with a prefix
#[utoipa::path(
    get, path = "/v1/words", tag = "queries", params(Query),
    responses((status = 200, body = Answer<Words>))
)]
pub async fn complete(
    State(service): State<Arc<Service>>,
    work: Work,
    Parameters(Query { prefix, n, min_count, top }): Parameters<Query>,
) -> Result<Response, ApiError> {
    let (length, limit) = (prefix.chars().count(), Word::MAX_CHARACTERS);
    if length > limit {
        return Err(ApiError::bad_request(format!("prefix has {length} characters; the limit is {limit}")));
    }
    let n = answers(n);
    let candidates = Candidates { min_count, top };
    let make = move |published: &Arc<Published>, _: &_| {
        let rows = candidates.rows(&published.embeddings);
        let rows: Vec<usize> = if prefix.is_empty() {
            rows.take(n).collect()
        } else {
            // As it is written or, if nothing begins so, as the model's text would have it.
            let found = published.complete(&prefix, rows.clone(), n);
            let normal = published.embeddings.text().and_then(|text| text.only_token(&prefix));
            match normal.filter(|_| found.is_empty()) {
                Some(normal) => published.complete(&normal, rows, n),
                None => found,
            }
        };
        let words = rows.into_iter().map(|row| WordInfo::new(published, row)).collect();
        Ok(Words { min_count: candidates.min_count(published), words })
    };
    compute(&work, &service, make).await
}

/// A word and its share of the text
#[derive(Debug, Serialize, ToSchema)]
pub struct OneWord {
    #[serde(flatten)]
    info: WordInfo,
    /// Share of all tokens read, from 0 to 1
    share: f64,
}

/// Count, rank and times of a word
#[utoipa::path(
    get, path = "/v1/words/{word}", tag = "queries",
    params(("word" = inline(Word), Path, description = "The word, percent-encoded")),
    responses(
        (status = 200, body = Answer<OneWord>),
        (status = 404, description = "The word is not in the vocabulary")
    )
)]
pub async fn word(
    State(service): State<Arc<Service>>,
    work: Work,
    Path(word): Path<Word>,
) -> Result<Json<Answer<OneWord>>, ApiError> {
    let published = service.published();
    let info = WordInfo::new(&published, find_row(&work, &published, word.as_str()).await?);
    let share = info.count as f64 / published.progress.tokens.max(1) as f64;
    Ok(Answer::new(&published, OneWord { info, share }))
}
