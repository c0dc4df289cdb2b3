//! How near two words are.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{MAX_QUESTIONS, Outcome};
use crate::http::ApiError;
use crate::http::answer::Json;
use crate::http::answer::{SnapshotInfo, compute, row_of};
use crate::http::extract::{Json as Body, List, Parameters, Word};
use crate::published::Published;
use crate::service::Service;

/// Two words
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Pair {
    /// A word
    #[param(inline)]
    a: Word,
    /// Another one
    #[param(inline)]
    b: Word,
}

/// How near two words are
#[derive(Debug, Serialize, ToSchema)]
pub struct Similarity {
    /// What the answer was made of
    pub snapshot: SnapshotInfo,
    /// The answer
    #[serde(flatten)]
    pub found: PairSimilarity,
}

/// How near two words are
#[derive(Debug, Serialize, ToSchema)]
pub struct PairSimilarity {
    /// As it was asked
    pub a: String,
    /// As it was asked
    pub b: String,
    /// The cosine, from -1 to 1
    pub similarity: f32,
}

/// How near two words are
#[utoipa::path(
    get, path = "/v1/similarity", tag = "questions", params(Pair),
    responses((status = 200, body = Similarity), (status = 404, description = "One of the words is not known")),
    security(("token" = ["read"]))
)]
pub async fn one(
    State(service): State<Arc<Service>>,
    Parameters(Pair { a, b }): Parameters<Pair>,
) -> Result<Json<Similarity>, ApiError> {
    let published = service.published();
    compute(move || {
        for word in [&a, &b] {
            row_of(&published, word.as_str())?;
        }
        let found = compare(&published, a, b)?;
        Ok(Json(Similarity { snapshot: (&*published).into(), found }))
    })
    .await
}

// A name, because the macro that writes the schema does not see through numbers among the types' parameters.
type Several = List<List<Word, 2, 2>, 0, MAX_QUESTIONS>;

/// Pairs of words
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Pairs {
    /// The pairs
    #[schema(inline)]
    pairs: Several,
}

/// How near the words of each pair are
#[derive(Debug, Serialize, ToSchema)]
pub struct Similarities {
    /// What the answers were made of
    pub snapshot: SnapshotInfo,
    /// An answer for each pair, in their order
    pub results: Vec<Outcome<PairSimilarity>>,
}

/// How near the words of many pairs are
///
/// A pair with a word that is not known has an error of its own among the results.
#[utoipa::path(
    post, path = "/v1/similarity", tag = "questions", request_body = Pairs,
    responses((status = 200, body = Similarities)), security(("token" = ["read"]))
)]
pub async fn many(
    State(service): State<Arc<Service>>,
    Body(Pairs { pairs: List(pairs) }): Body<Pairs>,
) -> Result<Json<Similarities>, ApiError> {
    let published = service.published();
    compute(move || {
        let compared = pairs.into_iter().map(|List(words)| {
            let [a, b] = <[Word; 2]>::try_from(words).expect("the limits of the list are those of a pair");
            compare(&published, a, b).into()
        });
        let results = compared.collect();
        Ok(Json(Similarities { snapshot: (&*published).into(), results }))
    })
    .await
}

fn compare(published: &Published, a: Word, b: Word) -> Result<PairSimilarity, ApiError> {
    let similarity = published.embeddings.similarity(a.as_str(), b.as_str())?;
    Ok(PairSimilarity { a: a.into_string(), b: b.into_string(), similarity })
}
