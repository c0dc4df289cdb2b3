//! Saving the model now.

use std::sync::Arc;

use axum::extract::State;

use super::ApiError;
use super::stats::CheckpointInfo;
use crate::http::answer::Json;
use crate::service::Service;

/// Saves the model now
///
/// The answer comes when it is safe on disk. The service does so by itself as well, every minute by default.
#[utoipa::path(
    post, path = "/v1/checkpoint", tag = "operations",
    responses(
        (status = 200, body = CheckpointInfo),
        (status = 507, description = "There is no room on the disk")
    ),
    security(("token" = ["admin"]))
)]
pub async fn save(State(service): State<Arc<Service>>) -> Result<Json<CheckpointInfo>, ApiError> {
    let saved = service.checkpoint().await?;
    Ok(Json(CheckpointInfo { seq: saved.seq, time: saved.time }))
}
