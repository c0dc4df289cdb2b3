//! JSON request bodies.

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::field;
use crate::http::ApiError;
use crate::settings::{LONG_JSONS, MAX_JSON_BYTES, SHORT_JSON_BYTES};

/// Memory for long bodies, in units of [`UNIT`]. A body takes as much as has arrived of it, so that a slow client keeps
/// nobody else waiting.
static LONG: Semaphore = Semaphore::const_new(LONG_JSONS * MAX_JSON_BYTES / UNIT);

const UNIT: usize = 16 << 10;

#[derive(Clone, Copy, Debug)]
pub struct Json<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        check_type(&request)?;
        // The memory is held until the value is parsed.
        let (body, _memory) = read(request.into_body()).await?;
        let refused = |message: String| ApiError::new(StatusCode::BAD_REQUEST, "bad-json", message);
        let mut deserializer = serde_json::Deserializer::from_slice(&body);
        let value = serde_path_to_error::deserialize(&mut deserializer)
            .map_err(|error| refused(format!("the body{}: {}", field(error.path()), error.inner())))?;
        deserializer.end().map_err(|error| refused(format!("the body: {error}")))?;
        Ok(Json(value))
    }
}

/// The bytes of a body, and their share of the memory for long ones.
async fn read(mut body: Body) -> Result<(Vec<u8>, Option<SemaphorePermit<'static>>), ApiError> {
    let (mut bytes, mut memory) = (Vec::new(), None);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            let message = format!("cannot read the body: {error}");
            ApiError::new(StatusCode::BAD_REQUEST, "bad-body", message)
        })?;
        let Some(piece) = frame.data_ref() else { continue };
        let length = bytes.len() + piece.len();
        if length > MAX_JSON_BYTES {
            let message = format!("the body is larger than {MAX_JSON_BYTES} bytes, which is the limit");
            return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", message));
        }
        if length > SHORT_JSON_BYTES {
            let held = memory.as_ref().map_or(0, SemaphorePermit::num_permits);
            let more = length.div_ceil(UNIT).saturating_sub(held);
            let more = LONG.try_acquire_many(more as u32).map_err(|_| {
                let short = SHORT_JSON_BYTES >> 10;
                let message = format!(
                    "too many long requests at the same time; those of at most {short} KiB are answered"
                );
                ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message).retry_after(1)
            })?;
            match &mut memory {
                None => memory = Some(more),
                Some(memory) => memory.merge(more),
            }
        }
        bytes.extend_from_slice(piece);
    }
    Ok((bytes, memory))
}

fn check_type(request: &Request) -> Result<(), ApiError> {
    let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    // A header is repeated in a response only if it is short.
    let message = match essence {
        "" => "there is no content type; it must be application/json".to_owned(),
        given if given.len() <= 100 => {
            format!("the content type is `{given}`; it must be application/json")
        }
        _ => "the content type must be application/json".to_owned(),
    };
    Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported-type", message))
}
