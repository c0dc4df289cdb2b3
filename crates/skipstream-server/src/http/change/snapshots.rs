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
    Body(NewSnapshot { name }): Body<NewSnapshot>,
) -> Result<(StatusCode, Json<SnapshotInfo>), ApiError> {
    work.run(move |_| {
        let most_words = service.settings.snapshot_words;
        let info = service.snapshots.save(&service.published(), Some(name), most_words)?;
        service.events.send("kept", &info);
        Ok((StatusCode::CREATED, Json(info)))
    })
    .await
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
