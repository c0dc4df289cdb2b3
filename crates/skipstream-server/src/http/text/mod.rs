//! Uploads of text.
//!
//! A body is processed while it arrives: decompressed, cut into lines and collected in chunks (`decoder.rs`), parsed
//! (`record.rs`) and logged (`body.rs`). Memory holds only one chunk, one line and the last piece. While the
//! queue is full nothing is read, so that the client has to wait.

mod body;
mod decoder;
mod problem;
mod record;
pub mod wait;

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::ApiError;
use super::access::Access;
use super::answer::Json;
use super::extract::Parameters;
use crate::auth::Role;
use crate::log::IdempotencyKey;
use crate::places::Place;
use crate::published::Seq;
use crate::service::Service;
pub(crate) use decoder::Decoder;
#[cfg(feature = "brokers")]
pub(crate) use problem::Problem;
pub(crate) use record::Kind;
#[cfg(feature = "brokers")]
pub(crate) use record::read_message;

/// When to respond
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Query {
    /// When to respond: once the text is on disk (`logged`, the default), or once it is learned (`learned`), but at the
    /// latest after an hour
    #[serde(default)]
    #[param(inline)]
    wait: Until,
    /// Whether to learn a body that does not look like text; false by default
    #[serde(default)]
    force_text: bool,
}

/// When to respond
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
enum Until {
    #[default]
    Logged,
    Learned,
}

/// Accepted text
#[derive(Debug, Serialize, ToSchema)]
pub struct TextAccepted {
    /// Number of the first line; null if the body was empty
    pub first: Option<Seq>,
    /// Number of the last line; null if the body was empty. Lines of other requests may be in between
    pub last: Option<Seq>,
    /// Number to wait for: that of the last line, or the last line in the log if the body was empty
    pub seq: Seq,
    /// Number of lines
    pub lines: u64,
    /// Whether the current version contains them
    pub learned: bool,
    /// What is probably wrong with the text, and what to do; absent if nothing is
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub warning: Option<&'static str>,
}

/// Send text to be learned
///
/// Each line is a sentence. The body is plain text, or NDJSON with lines such as `{"text": "…", "time": "…", "weight": 2}`,
/// where `time` (RFC 3339 or Unix seconds) and `weight` (how many times the line is trained on average, from 0 to 10; default 1) are
/// optional and other fields are ignored; a line feed within a text becomes a space. The body may be compressed (`Content-Encoding: gzip`) and is stored while it arrives. The response is sent when all of it is on
/// disk. (`PUT` does the same; it is what `curl -T` sends.)
///
/// With an `Idempotency-Key` header, a retry stores only the lines that are missing and gets the same response. An error
/// lists in `accepted` the lines that were stored before it; later lines were not.
#[utoipa::path(
    method(post, put), path = "/v1/text", tag = "text",
    params(
        Query,
        (
            "Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255, pattern = "^[!-~]+$",
            description = "A name for this request, to be repeated in a retry"
        )
    ),
    request_body(
        description = "Lines of text",
        content((String = "text/plain"), (String = "application/x-ndjson"))
    ),
    responses(
        (status = 200, body = TextAccepted),
        (status = 408, description = "The upload has paused for too long"),
        (status = 409, description = "The key was used with different lines, or is in use"),
        (status = 413, description = "The body or a line is too long"),
        (status = 415, description = "The body is not text, or its type or encoding is not supported"),
        (status = 429, description = "The queue is full; retry after the time in Retry-After"),
        (status = 507, description = "The disk is full")
    )
)]
pub async fn send(
    State(service): State<Arc<Service>>,
    Parameters(Query { wait, force_text }): Parameters<Query>,
    Extension(place): Extension<Arc<Place>>,
    Extension(access): Extension<Arc<Access>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<TextAccepted>, ApiError> {
    service.check_text()?;
    let (kind, is_gzip, key) = (kind(&headers)?, is_gzip(&headers)?, key(&headers)?);
    let mut decoder = Decoder::new(kind, is_gzip, service.model.text.invalid_utf8, &service.settings);
    decoder.force_text = force_text;
    let permission = || access.check_token(&headers, Role::Write);
    let accepted = body::log(&service, decoder, body, key, &place, permission).await?;
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
        warning: service.prose.warning(),
    }))
}

fn kind(headers: &HeaderMap) -> Result<Kind, ApiError> {
    let content_type = headers.get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or("?"));
    Kind::by_type(content_type).ok_or_else(|| {
        let message = "the content type must be text/plain or application/x-ndjson";
        ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported-type", message)
    })
}

fn is_gzip(headers: &HeaderMap) -> Result<bool, ApiError> {
    let encoding = headers.get(header::CONTENT_ENCODING).map(|value| value.to_str().unwrap_or("?").trim());
    match encoding.map(str::to_ascii_lowercase).as_deref() {
        None | Some("" | "identity") => Ok(false),
        Some("gzip" | "x-gzip") => Ok(true),
        Some(_) => {
            let message = "the content encoding must be gzip or none";
            Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported-encoding", message))
        }
    }
}

fn key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, ApiError> {
    let mut keys = headers.get_all(HeaderName::from_static("idempotency-key")).into_iter();
    let (first, second) = (keys.next(), keys.next());
    let Some(first) = first else { return Ok(None) };
    let key = first.to_str().ok().filter(|_| second.is_none()).and_then(IdempotencyKey::new);
    let limit = IdempotencyKey::MAX_CHARACTERS;
    key.map(Some).ok_or_else(|| {
        ApiError::bad_request(format!(
            "Idempotency-Key must be a single value of 1 to {limit} visible ASCII characters"
        ))
    })
}
