//! Words under control.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use skipstream::vocabulary::Control;
use utoipa::ToSchema;

use super::ApiError;
use super::answer::Json;
use super::extract::Json as Body;
use crate::service::Service;

/// Words under control
#[derive(Debug, Serialize, ToSchema)]
pub struct ControlLists {
    /// Words that never leave the vocabulary
    pinned: BTreeSet<String>,
    /// Words that never enter it
    blocked: BTreeSet<String>,
    /// Number of forgotten words that never enter it again
    kept_out: usize,
    /// Words whose occurrences count as another word
    merged: BTreeMap<String, String>,
}

/// List the words under control
#[utoipa::path(
    get, path = "/v1/controls", tag = "operations",
    responses((status = 200, body = ControlLists))
)]
pub async fn list(State(service): State<Arc<Service>>) -> Json<ControlLists> {
    let controls = service.controls.load();
    Json(ControlLists {
        pinned: controls.pinned.clone(),
        blocked: controls.blocked.clone(),
        kept_out: controls.kept_out.len(),
        merged: controls.merged.clone(),
    })
}

/// Controls to carry out, all or none
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewControls {
    /// Each is an object with one key: `{"pin": {"word": "cocoa"}}`, or `unpin`, `block`, `unblock`, `unmerge` in the same
    /// way, `{"merge": {"word": "colour", "into": "color"}}`, or `{"forget": {"word": "jdoe", "keep_out": true}}`
    #[schema(value_type = Vec<Object>, min_items = 1)]
    controls: Vec<Control>,
}

/// What the controls did
#[derive(Debug, Serialize, ToSchema)]
pub struct ControlReports {
    /// In the order of the request
    controls: Vec<ControlReport>,
}

/// What a control did
#[derive(Debug, Serialize, ToSchema)]
pub struct ControlReport {
    /// The word, as the text settings of the model write it
    word: String,
    /// Whether anything changed
    changed: bool,
    /// The count that the word had, if it has left the vocabulary
    left: Option<u64>,
}

/// Pin, block, merge or forget words
///
/// The controls act after the last line that was accepted, so the request waits until the text before them is learned. They
/// are on disk and published when the response is sent. If the connection is lost before that, they act all the same.
///
/// After `forget`, the word is in no file of the service: all text up to there is learned and deleted from the log, and
/// snapshots are written without the word. It is learned as a new word if it occurs again, unless `keep_out` is set.
#[utoipa::path(
    post, path = "/v1/controls", tag = "operations", request_body = NewControls,
    responses(
        (status = 200, body = ControlReports),
        (status = 409, description = "The controls contradict each other or earlier ones, or the limit is reached"),
        (status = 507, description = "The disk is full"),
    )
)]
pub async fn control(
    State(service): State<Arc<Service>>,
    Body(NewControls { controls }): Body<NewControls>,
) -> Result<Json<ControlReports>, ApiError> {
    if controls.is_empty() {
        return Err(ApiError::bad_request("`controls` is empty; it must have at least one item"));
    }
    let done = service.control(controls).await?.into_iter();
    let controls =
        done.map(|one| ControlReport { word: one.word, changed: one.changed, left: one.left }).collect();
    Ok(Json(ControlReports { controls }))
}
