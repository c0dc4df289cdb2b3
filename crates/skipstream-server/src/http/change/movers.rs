//! Words that moved.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use skipstream::eval::MovedWord;
use utoipa::{IntoParams, ToSchema};

use super::{Moment, resolve};
use crate::change::Since;
use crate::http::ApiError;
use crate::http::answer::Json;
use crate::http::answer::{SnapshotInfo, compute};
use crate::http::extract::{Number, Parameters};
use crate::service::Service;

// A name, because the macro that writes the schema does not see through numbers among the types' parameters.
type Words = Number<1, 100>;

/// Which words are wanted
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Which {
    /// A duration (`90m`, `24h`, `7d`), a time (RFC 3339) or the name of a kept snapshot; `24h` by default
    #[param(inline)]
    since: Option<Since>,
    /// How many words; 20 by default
    #[param(inline)]
    n: Option<Words>,
}

/// Words that moved
#[derive(Debug, Serialize, ToSchema)]
pub struct Moved {
    /// What the answer was made of; it may be a little older than what is published now
    pub snapshot: SnapshotInfo,
    /// The snapshot with which it was compared; null where none was kept, and no word is listed
    pub since: Option<Moment>,
    /// The words that moved most for their frequency, the first most
    pub movers: Vec<Mover>,
}

/// A word that moved
#[derive(Debug, Serialize, ToSchema)]
pub struct Mover {
    /// The word
    pub word: String,
    /// The cosine between its old vector and its new one, without the rotation that all words have in common
    pub cosine: f64,
    /// How many standard deviations of chance it moved farther than words as frequent as it
    pub surprise: f64,
    /// Whether that is more than chance gives to any word
    pub above_floor: bool,
    /// How often it had been seen then
    pub old_count: Option<u64>,
    /// How often it has been seen now
    pub new_count: Option<u64>,
    /// The share of its nearest words that stayed the same, from 0 to 1
    pub overlap: f64,
    /// The words nearest to it then
    pub neighbors_before: Vec<String>,
    /// The words nearest to it now
    pub neighbors_after: Vec<String>,
}

impl From<&MovedWord> for Mover {
    fn from(moved: &MovedWord) -> Mover {
        let movement = &moved.movement;
        Mover {
            word: movement.word.clone(),
            cosine: movement.cosine,
            surprise: movement.surprise,
            above_floor: movement.above_floor,
            old_count: movement.old_count,
            new_count: movement.new_count,
            overlap: moved.overlap,
            neighbors_before: moved.neighbors_before.clone(),
            neighbors_after: moved.neighbors_after.clone(),
        }
    }
}

/// Words that changed their company
///
/// What is published is held against the last snapshot that was kept before the moment, or else the oldest, among the words
/// that both have and that were seen 20 times in either. How far words of a frequency move by chance is measured from the
/// words themselves.
#[utoipa::path(
    get, path = "/v1/movers", tag = "change", params(Which),
    responses((status = 200, body = Moved), (status = 404, description = "There is no kept snapshot of this name")),
    security(("token" = ["read"]))
)]
pub async fn list(
    State(service): State<Arc<Service>>,
    Parameters(Which { since, n }): Parameters<Which>,
) -> Result<Json<Moved>, ApiError> {
    compute(move || {
        let published = service.published();
        let (_, old) = resolve(&service, since)?;
        let comparison = match old {
            Some(old) => {
                service.movers.since(&service.kept, &old, &published, service.settings.snapshot_words)?
            }
            None => None,
        };
        let Some(comparison) = comparison else {
            return Ok(Json(Moved { snapshot: (&*published).into(), since: None, movers: Vec::new() }));
        };
        let snapshot = SnapshotInfo {
            seq: comparison.seq,
            time: comparison.time,
            vocabulary: comparison.vocabulary,
            words: comparison.words,
        };
        let movers = comparison.drift.moved.iter().take(n.map_or(20, Words::get)).map(Mover::from).collect();
        let since = Moment { name: Some(comparison.old.name.clone()), time: comparison.old.time };
        Ok(Json(Moved { snapshot, since: Some(since), movers }))
    })
    .await
}
