//! What was kept, by itself or by name.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{disk_full, unknown_snapshot};
use crate::change::{KeepError, SnapshotName};
use crate::events::{Event, KeptInfo};
use crate::http::ApiError;
use crate::http::answer::Json;
use crate::http::answer::compute;
use crate::http::extract::{Json as Body, Path};
use crate::service::Service;

/// The kept snapshots
#[derive(Debug, Serialize, ToSchema)]
pub struct Snapshots {
    /// The snapshots, the oldest first
    pub snapshots: Vec<KeptInfo>,
}

/// The kept snapshots
#[utoipa::path(
    get, path = "/v1/snapshots", tag = "change",
    responses((status = 200, body = Snapshots)), security(("token" = ["read"]))
)]
pub async fn list(State(service): State<Arc<Service>>) -> Json<Snapshots> {
    Json(Snapshots { snapshots: service.kept.list() })
}

/// What a snapshot is to be called
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSnapshot {
    /// The name: from 1 to 64 of the characters A-Z, a-z, 0-9, `.`, `_` and `-`, the first of them not `.`
    #[schema(inline)]
    name: SnapshotName,
}

/// Keeps what is published now, until somebody deletes it
#[utoipa::path(
    post, path = "/v1/snapshots", tag = "change", request_body = NewSnapshot,
    responses(
        (status = 201, body = KeptInfo),
        (status = 409, description = "There is a snapshot of this name, or there are too many"),
        (status = 507, description = "There is no room on the disk"),
    ),
    security(("token" = ["admin"]))
)]
pub async fn keep(
    State(service): State<Arc<Service>>,
    Body(NewSnapshot { name }): Body<NewSnapshot>,
) -> Result<(StatusCode, Json<KeptInfo>), ApiError> {
    compute(move || {
        let kept = service.kept.keep(&service.published(), Some(name), service.settings.snapshot_words);
        let info = kept.map_err(|error| match error {
            KeepError::NameTaken(_) => ApiError::new(StatusCode::CONFLICT, "name-taken", error.to_string()),
            KeepError::TooMany => ApiError::new(StatusCode::CONFLICT, "too-many", error.to_string()),
            KeepError::DiskFull => disk_full(error.to_string()),
            error => ApiError::internal(error),
        })?;
        service.events.tell(Event::Kept(info.clone()));
        Ok((StatusCode::CREATED, Json(info)))
    })
    .await
}

/// Deletes a kept snapshot
#[utoipa::path(
    delete, path = "/v1/snapshots/{name}", tag = "change",
    params(("name" = inline(SnapshotName), Path, description = "Its name")),
    responses((status = 204, description = "It is gone"), (status = 404, description = "There is none of this name")),
    security(("token" = ["admin"]))
)]
pub async fn delete(
    State(service): State<Arc<Service>>,
    Path(name): Path<SnapshotName>,
) -> Result<StatusCode, ApiError> {
    compute(
        move || {
            if service.kept.delete(&name) { Ok(StatusCode::NO_CONTENT) } else { Err(unknown_snapshot()) }
        },
    )
    .await
}
