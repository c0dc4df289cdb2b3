//! Path parameters.

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::http::ApiError;

/// A percent-decoded path parameter.
#[derive(Clone, Copy, Debug)]
pub struct Path<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let axum::extract::Path(value) =
            axum::extract::Path::from_request_parts(parts, state).await.map_err(|rejection| {
                let reason = rejection.body_text();
                let reason = reason.strip_prefix("Invalid URL: ").unwrap_or(&reason);
                // Our paths contain strings and whole numbers only.
                let number =
                    reason.strip_prefix("Cannot parse ").and_then(|rest| rest.strip_suffix(" to a `u64`"));
                let reason = number
                    .map_or_else(|| reason.to_owned(), |value| format!("{value} is not a whole number"));
                ApiError::new(StatusCode::BAD_REQUEST, "bad-path", format!("the path: {reason}"))
            })?;
        Ok(Path(value))
    }
}
