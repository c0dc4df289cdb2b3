//! JSON request bodies.

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;

use super::field;
use crate::http::ApiError;
use crate::http::lanes::Work;
use crate::settings::{MEMORY_PER_JSON_BYTE, SHORT_BYTES};

#[derive(Clone, Copy, Debug)]
pub struct Json<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send + 'static> FromRequest<S> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        check_type(&request)?;
        let work = request.extensions().get::<Work>().cloned();
        let work = work.ok_or_else(|| ApiError::internal("a route is not in the table"))?;
        let body = read(request.into_body(), &work).await?;
        if body.len() <= SHORT_BYTES {
            return parse(&body);
        }
        work.scan(move || parse(&body)).await
    }
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<Json<T>, ApiError> {
    let refused = |message: String| ApiError::new(StatusCode::BAD_REQUEST, "bad-json", message);
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let value = serde_path_to_error::deserialize(&mut deserializer)
        .map_err(|error| refused(format!("the body{}: {}", field(error.path()), error.inner())))?;
    deserializer.end().map_err(|error| refused(format!("the body: {error}")))?;
    Ok(Json(value))
}

/// The bytes of a body. It takes as much memory as has arrived of it, so that a slow client keeps nobody else waiting.
async fn read(mut body: Body, work: &Work) -> Result<Vec<u8>, ApiError> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            let message = format!("cannot read the body: {error}");
            ApiError::new(StatusCode::BAD_REQUEST, "bad-body", message)
        })?;
        let Some(piece) = frame.data_ref() else { continue };
        let (length, most) = (bytes.len() + piece.len(), work.max_body);
        if length > most {
            let message = format!("the body is larger than {most} bytes, which is the limit");
            return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", message));
        }
        work.reserve(MEMORY_PER_JSON_BYTE * length)?;
        bytes.extend_from_slice(piece);
    }
    Ok(bytes)
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
