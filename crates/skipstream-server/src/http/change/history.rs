//! A word's timeline.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::change::{self, HistoryPoint};
use crate::http::ApiError;
use crate::http::answer::Json;
use crate::http::answer::{SnapshotInfo, compute};
use crate::http::extract::{Number, Parameters, Path, Word};
use crate::service::Service;

// A name, because the macro that writes the schema does not see through numbers among the types' parameters.
type Neighbors = Number<1, 100>;

/// How many neighbours are wanted
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HowMany {
    /// How many neighbours at each point; 10 by default
    #[param(inline)]
    n: Option<Neighbors>,
}

/// What became of a word
#[derive(Debug, Serialize, ToSchema)]
pub struct History {
    /// What is published now
    pub snapshot: SnapshotInfo,
    /// The word
    pub word: String,
    /// The word at each kept snapshot, the oldest first; the last point is what is published now
    pub points: Vec<HistoryPoint>,
}

/// What became of a word
///
/// Its count, its rank and its nearest words at each kept snapshot and now. Movement is the cosine distance between its
/// vector at one point and at the next where it is known; overlap is the share of nearest words that stayed the same.
#[utoipa::path(
    get, path = "/v1/words/{word}/history", tag = "change",
    params(("word" = inline(Word), Path, description = "The word, percent-encoded"), HowMany),
    responses((status = 200, body = History), (status = 404, description = "The word is not known, and never was")),
    security(("token" = ["read"]))
)]
pub async fn of_word(
    State(service): State<Arc<Service>>,
    Path(word): Path<Word>,
    Parameters(HowMany { n }): Parameters<HowMany>,
) -> Result<Json<History>, ApiError> {
    compute(move || {
        let published = service.published();
        let n = n.map_or(10, Neighbors::get);
        let points = change::history(&service.kept, &published, word.as_str(), n)?;
        if !points.iter().any(|point| point.known) {
            return Err(ApiError::unknown_word_in(&published, word.as_str()));
        }
        Ok(Json(History { snapshot: (&*published).into(), word: word.into_string(), points }))
    })
    .await
}
