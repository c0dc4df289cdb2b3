//! Words that moved.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use skipstream::eval::{Drift, DriftWarning, MovedWord};
use utoipa::{IntoParams, ToSchema};

use super::{Baseline, Resolved, resolve};
use crate::change::PointInTime;
use crate::http::ApiError;
use crate::http::answer::Json;
use crate::http::extract::{Number, Parameters};
use crate::http::lanes::Work;
use crate::published::PublishedInfo;
use crate::service::Service;

type Words = Number<1, 100>;

/// Which words to list
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Query {
    /// A duration (`90m`, `24h`, `7d`), an RFC 3339 time or the name of a snapshot; `24h` by default
    #[param(inline)]
    since: Option<PointInTime>,
    /// Number of words; 20 by default
    #[param(inline)]
    n: Option<Words>,
}

/// Words that moved
#[derive(Debug, Serialize, ToSchema)]
pub struct Moved {
    /// The version that was compared; it may be a little older than the current one
    pub snapshot: PublishedInfo,
    /// The snapshot it was compared with; null if there is none, and then no word is listed
    pub since: Option<Baseline>,
    /// Why the comparison is not with a snapshot from before the requested time; null if it is
    pub note: Option<String>,
    /// Number of compared words that occurred at least 5 times since then; only these can have moved
    pub ranked: usize,
    /// Reasons not to trust the comparison: `too-little-text` (no word is listed then), `not-one-model`, `swapped`
    #[schema(value_type = Vec<String>)]
    pub warnings: Vec<DriftWarning>,
    /// The words that moved most for their frequency, strongest first
    #[schema(value_type = Vec<Mover>)]
    pub movers: Vec<MovedWord>,
}

/// A word that moved
#[derive(ToSchema)]
#[allow(dead_code, reason = "documents `MovedWord`")]
pub struct Mover {
    /// The word
    pub word: String,
    /// Cosine between its old and new vector, without the rotation common to all words
    pub cosine: f64,
    /// How many standard deviations it moved beyond words of the same frequency: by the cosine distance, or by that distance
    /// times the lengths of both vectors, whichever is less
    pub surprise: f64,
    /// Whether that is more than chance explains
    pub above_floor: bool,
    /// Occurrences then
    pub old_count: Option<u64>,
    /// Occurrences now
    pub new_count: Option<u64>,
    /// Occurrences since then
    pub new_occurrences: Option<u64>,
    /// Share of nearest neighbors in common, from 0 to 1
    pub overlap: f64,
    /// Nearest neighbors then
    pub neighbors_before: Vec<String>,
    /// Nearest neighbors now
    pub neighbors_after: Vec<String>,
}

/// Words whose meaning moved
///
/// Compares the current version with the last snapshot before the given time, or else with the oldest one (`note` says so), on the words
/// that both contain and that occurred at least 20 times in each. A word that did not occur since then has not moved by
/// itself, so only words with at least 5 new occurrences are listed. How far words move by chance is estimated from words of
/// the same frequency; if fewer than 10 words have new occurrences, there is too little text to tell.
#[utoipa::path(
    get, path = "/v1/movers", tag = "change", params(Query),
    responses(
        (status = 200, body = Moved),
        (status = 404, description = "There is no snapshot with this name")
    )
)]
pub async fn list(
    State(service): State<Arc<Service>>,
    work: Work,
    Parameters(Query { since, n }): Parameters<Query>,
) -> Result<Json<Moved>, ApiError> {
    work.run(move |cancel| {
        let published = service.published();
        let Resolved { snapshot, note, .. } = resolve(&service, since)?;
        let comparison = match snapshot {
            Some(old) => {
                let most_words = service.settings.snapshot_words;
                let go_on = || !cancel.is_cancelled();
                service.movers.since(&service.snapshots, &old, &published, most_words, &go_on)?
            }
            None => None,
        };
        let Some(comparison) = comparison else {
            let snapshot = (&*published).into();
            return Ok(Json(Moved {
                snapshot,
                since: None,
                note,
                ranked: 0,
                warnings: Vec::new(),
                movers: Vec::new(),
            }));
        };
        let movers = comparison.drift.moved.iter().take(n.map_or(20, Words::get)).cloned().collect();
        let since = Baseline { name: Some(comparison.old.name.clone()), time: comparison.old.time };
        let Drift { ranked, warnings, .. } = &comparison.drift;
        Ok(Json(Moved {
            snapshot: comparison.new.clone(),
            since: Some(since),
            note,
            ranked: *ranked,
            warnings: warnings.clone(),
            movers,
        }))
    })
    .await
}
