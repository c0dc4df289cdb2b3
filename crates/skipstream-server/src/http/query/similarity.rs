//! Cosine similarity of two words.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use skipstream::Embeddings;
use utoipa::{IntoParams, ToSchema};

use super::MAX_QUERIES;
use crate::http::ApiError;
use crate::http::answer::{Answer, AskedWords, Json, Results, Sources, View, compute_about};
use crate::http::extract::{Json as Body, List, Parameters, Word};
use crate::http::lanes::Work;
use crate::service::Service;

/// Two words
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Query {
    /// The first word
    #[param(inline)]
    a: Word,
    /// The second word
    #[param(inline)]
    b: Word,
    /// Whether to estimate unknown words from their spelling, and blend rare ones with their estimate; false by default. The
    /// service must have been started with `--subword-buckets`
    subwords: Option<bool>,
}

/// The similarity of two words
#[derive(Debug, Serialize, ToSchema)]
pub struct PairSimilarity {
    /// The first word
    pub a: String,
    /// The second word
    pub b: String,
    /// Cosine similarity, from -1 to 1
    pub similarity: f32,
}

/// Cosine similarity of two words
#[utoipa::path(
    get, path = "/v1/similarity", tag = "queries", params(Query),
    responses(
        (status = 200, body = Answer<PairSimilarity>),
        (status = 404, description = "A word is not in the vocabulary")
    )
)]
pub async fn one(
    State(service): State<Arc<Service>>,
    work: Work,
    Parameters(Query { a, b, subwords }): Parameters<Query>,
) -> Result<Json<Answer<PairSimilarity>>, ApiError> {
    let asked = AskedWords::find(&work, &service, &[a.as_str(), b.as_str()], subwords).await?;
    let similarity = compare(&asked.embeddings, a, b)?;
    Ok(Answer::about(&asked.published, asked.sources, similarity))
}

type Batch = List<List<Word, 2, 2>, 0, MAX_QUERIES>;

/// A batch of pairs
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Pairs {
    /// The pairs
    #[schema(inline)]
    pairs: Batch,
    /// Whether to estimate unknown words from their spelling, and blend rare ones with their estimate; false by default. The
    /// service must have been started with `--subword-buckets`
    subwords: Option<bool>,
}

/// Cosine similarity of many pairs of words
///
/// A pair with an unknown word has an error in its result.
#[utoipa::path(
    post, path = "/v1/similarity", tag = "queries", request_body = Pairs,
    responses((status = 200, body = Answer<Results<PairSimilarity>>))
)]
pub async fn many(
    State(service): State<Arc<Service>>,
    work: Work,
    Body(Pairs { pairs: List(pairs), subwords }): Body<Pairs>,
) -> Result<Response, ApiError> {
    let make = move |view: &View, sources: &mut Sources, _: &_| {
        let compare = |List(words): List<Word, 2, 2>| {
            let [a, b] = <[Word; 2]>::try_from(words).expect("the list has exactly two words");
            compare(&view.embeddings(&[a.as_str(), b.as_str()], sources), a, b)
        };
        Ok(pairs.into_iter().map(compare).collect::<Results<_>>())
    };
    compute_about(&work, &service, subwords, make).await
}

fn compare(embeddings: &Embeddings, a: Word, b: Word) -> Result<PairSimilarity, ApiError> {
    let similarity = embeddings.similarity(a.as_str(), b.as_str())?;
    Ok(PairSimilarity { a: a.into_string(), b: b.into_string(), similarity })
}
