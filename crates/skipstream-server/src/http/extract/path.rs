//! What stands in the path.

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::http::ApiError;

/// What stands in the path, after percent signs were decoded.
#[derive(Clone, Copy, Debug)]
pub struct Path<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let axum::extract::Path(value) =
            axum::extract::Path::from_request_parts(parts, state).await.map_err(|rejection| {
                let reason = rejection.body_text();
                let reason = reason.strip_prefix("Invalid URL: ").unwrap_or(&reason);
                ApiError::new(StatusCode::BAD_REQUEST, "bad-path", format!("the path: {reason}"))
            })?;
        Ok(Path(value))
    }
}
