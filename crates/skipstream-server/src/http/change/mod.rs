//! What changed over time: kept snapshots, and what is published now held against them.

pub mod emerging;
pub mod history;
pub mod movers;
pub mod snapshots;
pub mod watch;

use axum::http::StatusCode;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::ApiError;
use crate::change::Since;
use crate::events::KeptInfo;
use crate::service::Service;

/// Where nobody says since when.
const A_DAY: &str = "24h";

/// The moment with which things are compared
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Moment {
    /// The kept snapshot that shows how things were then; null where there is none
    pub name: Option<String>,
    /// When that was published; without a snapshot, the time that was asked for
    pub time: Timestamp,
}

/// The moment that is meant, and the snapshot that shows how things were then.
fn resolve(service: &Service, since: Option<Since>) -> Result<(Timestamp, Option<KeptInfo>), ApiError> {
    let since = match since {
        Some(since) => since,
        None => A_DAY.parse().map_err(ApiError::bad_request)?,
    };
    since.resolve(&service.kept, Timestamp::now()).ok_or_else(unknown_snapshot)
}

fn unknown_snapshot() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "unknown-snapshot", "there is no kept snapshot of this name")
}

fn disk_full(message: String) -> ApiError {
    ApiError::new(StatusCode::INSUFFICIENT_STORAGE, "disk-full", message)
}
