//! The history of a word.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use skipstream::Embeddings;
use utoipa::{IntoParams, ToSchema};

use crate::change::{self, HistoryPoint};
use crate::http::ApiError;
use crate::http::answer::{Answer, compute};
use crate::http::extract::{Number, Parameters, Path, Word};
use crate::http::lanes::{Cancel, Work};
use crate::http::query::{Candidates, MinCount, Top};
use crate::published::Published;
use crate::service::Service;

type Neighbors = Number<1, 100>;

/// Which neighbors
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Query {
    /// Number of neighbors at each point; 10 by default
    #[param(inline)]
    n: Option<Neighbors>,
    /// Minimum count of the neighbors; by default, for each point, 1 per 200,000 tokens, from 1 to 20. 0 allows all words
    #[param(inline)]
    min_count: Option<MinCount>,
    /// Only neighbors among this many most frequent words; all by default
    #[param(inline)]
    top: Option<Top>,
}

/// The history of a word
#[derive(Debug, Serialize, ToSchema)]
pub struct History {
    /// The word
    pub word: String,
    /// The word in each snapshot, oldest first; the last point is the current version
    pub points: Vec<HistoryPoint>,
}

/// History of a word
///
/// Its count, rank and nearest neighbors in each snapshot and now. Movement is the cosine distance between its vectors at
/// consecutive points where it is known; overlap is the share of neighbors in common.
#[utoipa::path(
    get, path = "/v1/words/{word}/history", tag = "change",
    params(("word" = inline(Word), Path, description = "The word, percent-encoded"), Query),
    responses(
        (status = 200, body = Answer<History>),
        (status = 404, description = "The word is in neither the vocabulary nor a snapshot")
    )
)]
pub async fn of_word(
    State(service): State<Arc<Service>>,
    work: Work,
    Path(word): Path<Word>,
    Parameters(Query { n, min_count, top }): Parameters<Query>,
) -> Result<Response, ApiError> {
    let state = service.clone();
    let make = move |published: &Arc<Published>, cancel: &Cancel| {
        let n = n.map_or(10, Neighbors::get);
        let candidates = Candidates { min_count, top };
        let among = |embeddings: &Embeddings| candidates.rows(embeddings);
        let go_on = || !cancel.is_cancelled();
        let points = change::history(&state.snapshots, published, word.as_str(), n, &among, &go_on);
        let points = points.ok_or_else(Cancel::error)?;
        if !points.iter().any(|point| point.known) {
            return Err(ApiError::unknown_word_in(published, word.as_str()));
        }
        Ok(History { word: word.into_string(), points })
    };
    compute(&work, &service, make).await
}
