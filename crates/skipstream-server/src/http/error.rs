//! What goes wrong → a status and a JSON body.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::Error;

/// An answer that says what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// The status.
    pub status: StatusCode,
    /// A name for programs.
    pub code: &'static str,
    /// A sentence for people: what is wrong, where, and what the limit is.
    pub message: String,
    /// Seconds after which to try again.
    pub retry_after: Option<u64>,
}

/// The body of an answer that says what is wrong
#[derive(Debug, Serialize, ToSchema)]
pub struct ErrorBody {
    /// What is wrong.
    pub error: ErrorDetail,
}

/// What is wrong
#[derive(Debug, Serialize, ToSchema)]
pub struct ErrorDetail {
    /// A name for programs
    pub code: String,
    /// A sentence for people
    pub message: String,
}

impl ApiError {
    /// An error with a name for programs and a sentence for people.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> ApiError {
        ApiError { status, code, message: message.into(), retry_after: None }
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> ApiError {
        let message = error.to_string();
        match error {
            Error::QueueFull { retry_after, .. } => ApiError {
                retry_after: Some(retry_after.as_secs().max(1)),
                ..ApiError::new(StatusCode::TOO_MANY_REQUESTS, "queue-full", message)
            },
            Error::DiskFull => ApiError::new(StatusCode::INSUFFICIENT_STORAGE, "disk-full", message),
            Error::Stopping => ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", message),
            Error::Log(_) | Error::Engine(_) => {
                ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
            }
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let detail = ErrorDetail { code: self.code.to_owned(), message: self.message };
        let mut response = (self.status, Json(ErrorBody { error: detail })).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
