//! JSON request bodies.

use axum::body::to_bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use http_body_util::LengthLimitError;
use serde::de::DeserializeOwned;

use http_body::Body as _;
use tokio::sync::Semaphore;

use super::field;
use crate::http::ApiError;
use crate::settings::{LONG_JSONS, MAX_JSON_BYTES, SHORT_JSON_BYTES};

/// Long bodies take turns, to limit memory.
static LONG: Semaphore = Semaphore::const_new(LONG_JSONS);

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
            Some(LONG.acquire().await.expect("nobody closes the semaphore"))
        };
        let body = to_bytes(request.into_body(), MAX_JSON_BYTES).await.map_err(|error| {
            if std::error::Error::source(&error).is_some_and(|source| source.is::<LengthLimitError>()) {
                let message = format!("the body is larger than {MAX_JSON_BYTES} bytes, which is the limit");
                return ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", message);
            }
            ApiError::new(StatusCode::BAD_REQUEST, "bad-body", format!("cannot read the body: {error}"))
        })?;
        let refused = |message: String| ApiError::new(StatusCode::BAD_REQUEST, "bad-json", message);
        let mut deserializer = serde_json::Deserializer::from_slice(&body);
        let value = serde_path_to_error::deserialize(&mut deserializer)
            .map_err(|error| refused(format!("the body{}: {}", field(error.path()), error.inner())))?;
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
