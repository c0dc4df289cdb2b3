//! Text comes in.
//!
//! A body is read as it comes: bytes are decompressed (`gzip.rs`), cut into lines (`lines.rs`), taken out of their records
//! (`record.rs`), collected in chunks and logged (`body.rs`). Of a body only a chunk, a line and the piece that came last are
//! in memory. While the queue is full no more is read, so that whoever sends has to wait as well.

mod body;
mod gzip;
mod lines;
mod problem;
mod record;
pub mod wait;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::ApiError;
use super::extract::Parameters;
use crate::error::Error;
use crate::http::answer::Json;
use crate::log::IdempotencyKey;
use crate::published::Seq;
use crate::service::Service;
use body::Incoming;
use gzip::Decoder;
use record::Kind;

/// How long an answer is waited for.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Waiting {
    /// Until when the answer waits: until the text is safe on disk (`logged`, the default), or until answers know of it
    /// (`learned`), though not longer than an hour
    #[serde(default)]
    #[param(inline)]
    wait: Until,
}

/// Until when an answer waits
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
enum Until {
    #[default]
    Logged,
    Learned,
}

/// Text was accepted
#[derive(Debug, Serialize, ToSchema)]
pub struct TextAccepted {
    /// The number of the first line; null where there was none
    pub first: Option<Seq>,
    /// The number of the last line; null where there was none. Others' lines may stand between the two
    pub last: Option<Seq>,
    /// The number to wait for: that of the last line, or of the last one of all where there was none
    pub seq: Seq,
    /// How many lines there were
    pub lines: u64,
    /// Whether answers know of them
    pub learned: bool,
}

/// Sends text to be learned
///
/// A line is a sentence. The body is plain text, or NDJSON with lines such as `{"text": "…", "time": "…"}`, where `time`
/// (RFC 3339, or seconds since 1970) may be missing and other fields are passed over; a line end within a text becomes a
/// space. It may be compressed (`Content-Encoding: gzip`) and of any length up to the limit of the service: it is logged
/// as it comes. The answer comes when all of it is safe on disk. (`PUT` is here for `curl -T`, which sends a body as it
/// comes, and does the same.)
///
/// With the header `Idempotency-Key`, a request that is sent again logs only what is not logged yet, and has the same
/// answer. An error says in `accepted` which lines were logged before it; what comes behind them was not.
#[utoipa::path(
    method(post, put), path = "/v1/text", tag = "text",
    params(
        Waiting,
        (
            "Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255, pattern = "^[!-~]+$",
            description = "A name for this request, the same when it is sent again"
        )
    ),
    request_body(
        description = "Lines",
        content((String = "text/plain"), (String = "application/x-ndjson"))
    ),
    responses(
        (status = 200, body = TextAccepted),
        (status = 409, description = "Other lines were sent with this key, or they are being sent now"),
        (status = 413, description = "The body or one of its lines is too long"),
        (status = 429, description = "The queue is full: try again after the time in Retry-After"),
        (status = 507, description = "There is no room on the disk")
    ),
    security(("token" = ["write"]))
)]
pub async fn send(
    State(service): State<Arc<Service>>,
    Parameters(Waiting { wait }): Parameters<Waiting>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<TextAccepted>, ApiError> {
    if service.is_stopping() {
        return Err(Error::Stopping.into());
    }
    let (kind, decoder, key) = (kind(&headers)?, decoder(&headers)?, key(&headers)?);
    let accepted = Incoming::new(&service, kind, decoder).log(body, key).await?;
    let seq = accepted.map_or_else(|| service.log.last(), |accepted| accepted.last);
    if wait == Until::Learned {
        wait::until_learned(&service, seq, wait::LONGEST).await;
    }
    Ok(Json(TextAccepted {
        first: accepted.map(|accepted| accepted.first),
        last: accepted.map(|accepted| accepted.last),
        seq,
        lines: accepted.map_or(0, |accepted| accepted.lines),
        learned: service.published().seq >= seq,
    }))
}

fn kind(headers: &HeaderMap) -> Result<Kind, ApiError> {
    let content_type = headers.get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or("?"));
    Kind::by_type(content_type).ok_or_else(|| {
        let message = "the content type must be text/plain, or application/x-ndjson for lines of JSON";
        ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported-type", message)
    })
}

fn decoder(headers: &HeaderMap) -> Result<Decoder, ApiError> {
    let encoding = headers.get(header::CONTENT_ENCODING).map(|value| value.to_str().unwrap_or("?").trim());
    match encoding.map(str::to_ascii_lowercase).as_deref() {
        None | Some("" | "identity") => Ok(Decoder::Plain),
        Some("gzip" | "x-gzip") => Ok(Decoder::gzip()),
        Some(_) => {
            let message = "the content encoding must be gzip, or none";
            Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported-encoding", message))
        }
    }
}

fn key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, ApiError> {
    let mut keys = headers.get_all(HeaderName::from_static("idempotency-key")).into_iter();
    let (first, second) = (keys.next(), keys.next());
    let Some(first) = first else { return Ok(None) };
    let key = first.to_str().ok().filter(|_| second.is_none()).and_then(IdempotencyKey::new);
    let limit = IdempotencyKey::MOST;
    key.map(Some).ok_or_else(|| {
        ApiError::bad_request(format!(
            "Idempotency-Key must be one key of 1 to {limit} visible ASCII characters"
        ))
    })
}
