//! Emerging words.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Baseline, Resolved, resolve};
use crate::change::{self, Emerging, PointInTime};
use crate::http::ApiError;
use crate::http::answer::{Answer, compute};
use crate::http::extract::{Number, Parameters};
use crate::http::lanes::Work;
use crate::published::Published;
use crate::service::Service;

type Words = Number<1, 1000>;
type Occurrences = Number<1, 1_000_000_000>;

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
    /// Minimum number of occurrences since then; 5 by default
    #[param(inline)]
    min_gain: Option<Occurrences>,
}

/// Emerging words
#[derive(Debug, Serialize, ToSchema)]
pub struct EmergingWords {
    /// What the current version is compared with
    pub since: Baseline,
    /// Why the comparison is not with a snapshot from before the requested time; null if it is
    pub note: Option<String>,
    /// The words, those that rose most first, and after them those that occurred in one line only
    pub words: Vec<Emerging>,
}

/// New words, and words that became more frequent
///
/// Compares the current version with the last snapshot before the given time, or else with the oldest one (`note`
/// says so). Lists words whose share of the text rose by at least half, and by more than words of the same
/// frequency vary from text to text; they are sorted by `factor`, those that occurred in one line (`documents`)
/// only after the others. The score is Dunning's log-likelihood ratio (with k1 of n1 tokens since and k2 of n2
/// before, and p = (k1 + k2) / (n1 + n2), that is 2 (k1 ln(k1 / n1 / p) + (n1 - k1) ln((1 - k1 / n1) / (1 - p)) +
/// the same for k2 and n2)), divided by how much more than by chance words of the same frequency vary; it is at
/// least 24. In a text in which nothing changes, fewer than one list in 20 has any word. Without a snapshot, it
/// lists words that appeared since the given time, by count, unless all words did.
#[utoipa::path(
    get, path = "/v1/emerging", tag = "change", params(Query),
    responses(
        (status = 200, body = Answer<EmergingWords>),
        (status = 404, description = "There is no snapshot with this name")
    )
)]
pub async fn list(
    State(service): State<Arc<Service>>,
    work: Work,
    Parameters(Query { since, n, min_gain }): Parameters<Query>,
) -> Result<Response, ApiError> {
    let state = service.clone();
    let make = move |published: &Arc<Published>, _: &_| {
        let service = state;
        let Resolved { time, snapshot: info, note } = resolve(&service, since)?;
        // A snapshot that is corrupt, or was just deleted, counts as none.
        let snapshot =
            info.and_then(|info| service.snapshots.embeddings(&info.name).map(|vectors| (info, vectors)));
        let before = snapshot.as_ref().map(|(info, embeddings)| (info, embeddings));
        let min_gain = min_gain.map_or(5, |number| number.get() as u64);
        let words = change::emerging(published, time, before, min_gain, n.map_or(20, Words::get));
        let since = match snapshot {
            Some((info, _)) => Baseline { name: Some(info.name), time: info.time },
            None => Baseline { name: None, time },
        };
        Ok(EmergingWords { since, note, words })
    };
    compute(&work, &service, make).await
}
