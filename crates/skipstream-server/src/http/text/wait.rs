//! Waits until lines are learned.

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
use crate::http::answer::Answer;
use crate::http::extract::{Number, Parameters, Path};
use crate::published::Seq;
use crate::service::Service;

pub(super) const LONGEST: Duration = Duration::from_secs(3600);

/// Interval at which the shutdown is noticed.
const CHECK_EVERY: Duration = Duration::from_secs(1);

/// Timeout
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Query {
    /// Timeout in seconds; 30 by default
    #[param(inline)]
    timeout: Option<Seconds>,
}

type Seconds = Number<0, 3600>;

/// The number of a line. Numbers of no line give 404.
type LineNumber = Number<0, { i64::MAX as u64 }>;

/// Whether a line is learned
#[derive(Debug, Serialize, ToSchema)]
pub struct Learned {
    /// Number of the line
    pub seq: Seq,
    /// Whether the current version contains it
    pub learned: bool,
}

/// Wait until a line is learned
#[utoipa::path(
    get, path = "/v1/text/{seq}/wait", tag = "text",
    params(("seq" = inline(LineNumber), Path, description = "Number of the line"), Query),
    responses(
        (status = 200, body = Answer<Learned>, description = "The current version contains the line"),
        (status = 202, body = Answer<Learned>, description = "Timeout: the line is not learned yet"),
        (status = 404, description = "There is no line with this number")
    )
)]
pub async fn wait(
    State(service): State<Arc<Service>>,
    Path(seq): Path<LineNumber>,
    Parameters(Query { timeout }): Parameters<Query>,
) -> Result<Response, ApiError> {
    let (seq, last) = (seq.get() as Seq, service.log.last());
    if !(1..=last).contains(&seq) {
        let message = format!("there is no line {seq}; the last line is {last}");
        return Err(ApiError::new(StatusCode::NOT_FOUND, "unknown-line", message));
    }
    let seconds = timeout.map_or(30, Seconds::get) as u64;
    until_learned(&service, seq, Duration::from_secs(seconds)).await;
    let published = service.published();
    let learned = published.seq >= seq;
    let status = if learned { StatusCode::OK } else { StatusCode::ACCEPTED };
    Ok((status, Answer::new(&published, Learned { seq, learned })).into_response())
}

/// Returns when a line is learned, at the timeout, or when nothing is learned any more.
pub(super) async fn until_learned(service: &Service, seq: Seq, time: Duration) {
    let until = Instant::now() + time;
    let mut learned = pin!(service.learned(seq));
    while !service.is_stopping() && service.lifecycle.check_learning().is_ok() {
        let left = until.saturating_duration_since(Instant::now()).min(CHECK_EVERY);
        if timeout(left, &mut learned).await.is_ok() || until <= Instant::now() {
            return;
        }
    }
}
