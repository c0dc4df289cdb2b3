//! Lists, saves and deletes snapshots.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::unknown_snapshot;
use crate::change::{SnapshotInfo, SnapshotName};
use crate::http::ApiError;
use crate::http::answer::Json;
use crate::http::extract::{Json as Body, Path};
use crate::http::lanes::Work;
use crate::service::Service;
use crate::status::RolledBack;

/// All snapshots
#[derive(Debug, Serialize, ToSchema)]
pub struct Snapshots {
    /// The snapshots, oldest first
    pub snapshots: Vec<SnapshotInfo>,
}

/// List the snapshots
#[utoipa::path(
    get, path = "/v1/snapshots", tag = "change",
    responses((status = 200, body = Snapshots))
)]
pub async fn list(State(service): State<Arc<Service>>) -> Json<Snapshots> {
    Json(Snapshots { snapshots: service.snapshots.list() })
}

/// A new snapshot
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSnapshot {
    /// Its name: 1 to 64 of the characters A-Z, a-z, 0-9, `.`, `_` and `-`, not starting with `.`
    #[schema(inline)]
    name: SnapshotName,
    /// Whether to keep the state of training as well, so that the service can return to it. This ends a batch, and takes as
    /// much disk space as the model until the snapshot is deleted
    #[serde(default)]
    state: bool,
}

/// Save the current version as a named snapshot
///
/// It stays until it is deleted.
#[utoipa::path(
    post, path = "/v1/snapshots", tag = "change", request_body = NewSnapshot,
    responses(
        (status = 201, body = SnapshotInfo),
        (status = 409, description = "The name is taken, or there are too many named snapshots"),
        (status = 507, description = "The disk is full"),
    )
)]
pub async fn save(
    State(service): State<Arc<Service>>,
    work: Work,
    Body(NewSnapshot { name, state }): Body<NewSnapshot>,
) -> Result<(StatusCode, Json<SnapshotInfo>), ApiError> {
    if state {
        return Ok((StatusCode::CREATED, Json(service.keep(name).await?)));
    }
    work.run(move |_| {
        let most_words = service.settings.snapshot_words;
        let info = service.snapshots.save(&service.published(), Some(name), most_words)?;
        service.events.send("kept", &info);
        Ok((StatusCode::CREATED, Json(info)))
    })
    .await
}

/// The snapshot to return to
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Rollback {
    /// Its name. It must have been saved with `state`
    #[schema(inline)]
    snapshot: SnapshotName,
}

/// Return to a snapshot
///
/// The model is again what it was when the snapshot was saved, words under control included. All text that was accepted since
/// then is skipped: neither learned nor kept. The model is on disk and published when the response is sent.
#[utoipa::path(
    post, path = "/v1/rollback", tag = "change", request_body = Rollback,
    responses(
        (status = 200, body = RolledBack),
        (status = 404, description = "There is no snapshot with this name that was saved with `state`"),
        (status = 507, description = "The disk is full"),
    )
)]
pub async fn roll_back(
    State(service): State<Arc<Service>>,
    Body(Rollback { snapshot }): Body<Rollback>,
) -> Result<Json<RolledBack>, ApiError> {
    Ok(Json(service.roll_back(snapshot).await?))
}

/// Delete a snapshot
#[utoipa::path(
    delete, path = "/v1/snapshots/{name}", tag = "change",
    params(("name" = inline(SnapshotName), Path, description = "Its name")),
    responses(
        (status = 204, description = "Deleted"),
        (status = 404, description = "There is no snapshot with this name")
    )
)]
pub async fn delete(
    State(service): State<Arc<Service>>,
    work: Work,
    Path(name): Path<SnapshotName>,
) -> Result<StatusCode, ApiError> {
    let existed = work.run(move |_| service.snapshots.delete(&name)).await;
    if existed { Ok(StatusCode::NO_CONTENT) } else { Err(unknown_snapshot()) }
}
