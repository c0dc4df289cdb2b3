//! Waiting until lines are learned.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, timeout};
use utoipa::{IntoParams, ToSchema};

use crate::http::ApiError;
use crate::http::answer::Json;
use crate::http::answer::SnapshotInfo;
use crate::http::extract::{Number, Parameters, Path};
use crate::published::Seq;
use crate::service::Service;

/// Nobody is kept waiting longer.
pub(super) const LONGEST: Duration = Duration::from_secs(3600);

/// Whether the service is stopping is looked at so often.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How long to wait
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Patience {
    /// Seconds; 30 by default
    #[param(inline)]
    timeout: Option<Seconds>,
}

type Seconds = Number<0, 3600>;

/// The number of a line: 0 and numbers that were not given yet are not found.
type LineNumber = Number<0, { i64::MAX as u64 }>;

/// Whether a line is learned
#[derive(Debug, Serialize, ToSchema)]
pub struct Learned {
    /// The line
    pub seq: Seq,
    /// Whether answers know of it
    pub learned: bool,
    /// What questions are answered from
    pub snapshot: SnapshotInfo,
}

/// Waits until a line is learned
#[utoipa::path(
    get, path = "/v1/text/{seq}/wait", tag = "text",
    params(("seq" = inline(LineNumber), Path, description = "The number of the line"), Patience),
    responses(
        (status = 200, body = Learned, description = "Answers know of the line"),
        (status = 202, body = Learned, description = "The time is over, and they do not yet"),
        (status = 404, description = "No line has this number")
    ),
    security(("token" = ["read"]))
)]
pub async fn wait(
    State(service): State<Arc<Service>>,
    Path(seq): Path<LineNumber>,
    Parameters(Patience { timeout }): Parameters<Patience>,
) -> Result<Response, ApiError> {
    let (seq, last) = (seq.get() as Seq, service.log.last());
    if !(1..=last).contains(&seq) {
        let message = format!("no line has the number {seq}; the last one has {last}");
        return Err(ApiError::new(StatusCode::NOT_FOUND, "unknown-line", message));
    }
    let seconds = timeout.map_or(30, Seconds::get) as u64;
    until_learned(&service, seq, Duration::from_secs(seconds)).await;
    let published = service.published();
    let learned = published.seq >= seq;
    let status = if learned { StatusCode::OK } else { StatusCode::ACCEPTED };
    Ok((status, Json(Learned { seq, learned, snapshot: (&*published).into() })).into_response())
}

/// Comes back when answers know of a line, when the time is over, or when the service stops.
pub(super) async fn until_learned(service: &Service, seq: Seq, time: Duration) {
    let until = Instant::now() + time;
    let mut learned = pin!(service.learned(seq));
    while !service.is_stopping() {
        let left = until.saturating_duration_since(Instant::now()).min(LOOK_EVERY);
        if timeout(left, &mut learned).await.is_ok() || until <= Instant::now() {
            return;
        }
    }
}
