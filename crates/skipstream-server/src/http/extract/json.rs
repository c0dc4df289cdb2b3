//! A body of JSON.

use axum::body::to_bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use http_body_util::LengthLimitError;
use serde::de::DeserializeOwned;

use http_body::Body as _;
use tokio::sync::Semaphore;

use super::place;
use crate::http::ApiError;
use crate::settings::{LONG_JSONS, MAX_JSON_BYTES, SHORT_JSON_BYTES};

/// Long questions take turns, so that they do not fill the memory.
static LONG: Semaphore = Semaphore::const_new(LONG_JSONS);

/// A body of JSON.
#[derive(Clone, Copy, Debug)]
pub struct Json<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        check_type(&request)?;
        let length = request.body().size_hint().exact();
        let _turn = if length.is_some_and(|length| length <= SHORT_JSON_BYTES as u64) {
            None
        } else {
            Some(LONG.acquire().await.expect("it is never closed"))
        };
        let body = to_bytes(request.into_body(), MAX_JSON_BYTES).await.map_err(|error| {
            let too_long =
                std::error::Error::source(&error).is_some_and(|source| source.is::<LengthLimitError>());
            if too_long {
                let message = format!("the body has more than {MAX_JSON_BYTES} bytes");
                return ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", message);
            }
            ApiError::new(StatusCode::BAD_REQUEST, "bad-body", format!("the body could not be read: {error}"))
        })?;
        let refused = |message: String| ApiError::new(StatusCode::BAD_REQUEST, "bad-json", message);
        let mut deserializer = serde_json::Deserializer::from_slice(&body);
        let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
            let place = place(error.path()).map_or_else(String::new, |place| format!(", {place}"));
            refused(format!("the body{place}: {}", error.inner()))
        })?;
        deserializer.end().map_err(|error| refused(format!("the body: {error}")))?;
        Ok(Json(value))
    }
}

fn check_type(request: &Request) -> Result<(), ApiError> {
    let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    if essence.is_empty() {
        let message = "there is no content type; it must be application/json";
        return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported-type", message));
    }
    // What was sent is shown only where it is a type, so that no header finds its way into an answer at any length.
    let given = if essence.len() <= 100 { essence } else { "a long one" };
    let message = format!("the content type is `{given}`; it must be application/json");
    Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported-type", message))
}
