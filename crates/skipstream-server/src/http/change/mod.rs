//! Changes over time: snapshots, and comparisons with them.

pub mod emerging;
pub mod history;
pub mod movers;
pub mod snapshots;
pub mod watch;

use axum::http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use super::ApiError;
use crate::change::{PointInTime, SnapshotInfo, SnapshotName};
use crate::service::Service;

/// What the current version is compared with
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Baseline {
    /// Name of the snapshot; null if there is none
    #[schema(value_type = Option<String>)]
    pub name: Option<SnapshotName>,
    /// When the snapshot was published; without a snapshot, the requested time
    pub time: Timestamp,
}

/// The requested time, 24 hours ago by default, and the snapshot to compare with.
fn resolve(
    service: &Service,
    since: Option<PointInTime>,
) -> Result<(Timestamp, Option<SnapshotInfo>), ApiError> {
    let since = since.unwrap_or(PointInTime::Ago(SignedDuration::from_hours(24)));
    since.resolve(&service.snapshots, Timestamp::now()).ok_or_else(unknown_snapshot)
}

fn unknown_snapshot() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "unknown-snapshot", "there is no snapshot with this name")
}
