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

/// What a comparison was asked for, and what there is.
struct Resolved {
    /// The requested time, 24 hours ago by default.
    time: Timestamp,
    /// The snapshot to compare with.
    snapshot: Option<SnapshotInfo>,
    /// Why it is not from before the requested time.
    note: Option<String>,
}

fn resolve(service: &Service, since: Option<PointInTime>) -> Result<Resolved, ApiError> {
    let since = since.unwrap_or(PointInTime::Ago(SignedDuration::from_hours(24)));
    let resolved = since.resolve(&service.snapshots, Timestamp::now());
    let (time, snapshot) = resolved.ok_or_else(unknown_snapshot)?;
    let note = match &snapshot {
        None => Some("there is no snapshot yet".to_owned()),
        Some(oldest) if oldest.time > time => {
            Some(format!("no snapshot is that old; the oldest is `{}` of {}", oldest.name, oldest.time))
        }
        Some(_) => None,
    };
    Ok(Resolved { time, snapshot, note })
}

fn unknown_snapshot() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "unknown-snapshot", "there is no snapshot with this name")
}
