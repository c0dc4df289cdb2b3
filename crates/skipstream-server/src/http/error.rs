//! Maps errors to a status and a JSON body.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::answer::Json;
use crate::error::Error;
use crate::log::Accepted;
use crate::published::Published;

/// An error response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    pub status: StatusCode,
    pub detail: Box<ErrorDetail>,
    /// Seconds in `Retry-After`.
    pub retry_after: Option<u64>,
}

/// The body of an error response
#[derive(Debug, Serialize, ToSchema)]
pub struct ErrorBody {
    /// The error
    pub error: ErrorDetail,
}

/// An error
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ErrorDetail {
    /// A stable code for programs
    pub code: String,
    /// A message for people: what is wrong, where, and the limit
    pub message: String,
    /// The word that is not in the vocabulary
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub word: Option<String>,
    /// Known words with a similar spelling
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub suggestions: Option<Vec<String>>,
    /// The distinct unknown words of a text, at most 100 of them
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub missed: Option<Vec<String>>,
    /// Lines of an upload that were accepted before the error; null if there are none
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Option<Accepted>>,
}

impl ApiError {
    /// An error with a code for programs and a message for people.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> ApiError {
        let (code, message) = (code.to_owned(), message.into());
        let detail =
            ErrorDetail { code, message, word: None, suggestions: None, missed: None, accepted: None };
        ApiError { status, detail: Box::new(detail), retry_after: None }
    }

    pub fn bad_request(message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::BAD_REQUEST, "bad-request", message)
    }

    /// An unknown word, with suggestions. It looks at the whole vocabulary.
    pub fn unknown_word_in(published: &Published, word: &str) -> ApiError {
        let suggestions = published.embeddings.suggestions(word, 5).into_iter().map(str::to_owned).collect();
        let mut error = ApiError::from(skipstream::Error::UnknownWord { word: word.to_owned() });
        error.detail.suggestions = Some(suggestions);
        error
    }

    pub fn retry_after(self, seconds: u64) -> ApiError {
        ApiError { retry_after: Some(seconds), ..self }
    }

    /// The body of its response.
    pub fn into_json(self) -> String {
        serde_json::to_string(&ErrorBody { error: *self.detail }).unwrap_or_default()
    }

    /// An unexpected error. The details go to the log, since they may name files.
    pub fn internal(error: impl std::fmt::Display) -> ApiError {
        tracing::error!(%error, "a request failed");
        let message = "internal error; see the log of the service";
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> ApiError {
        let (status, code, retry_after) = match &error {
            // About the time in which a few megabytes are learned.
            Error::QueueFull { .. } => (StatusCode::TOO_MANY_REQUESTS, "queue-full", Some(2)),
            Error::DiskFull => (StatusCode::INSUFFICIENT_STORAGE, "disk-full", None),
            Error::Busy { .. } => (StatusCode::SERVICE_UNAVAILABLE, "busy", Some(1)),
            Error::NotReady(_) => (StatusCode::SERVICE_UNAVAILABLE, "not-ready", Some(5)),
            Error::Stopping => (StatusCode::SERVICE_UNAVAILABLE, "stopping", Some(5)),
            Error::KeyInUse(_) => (StatusCode::CONFLICT, "key-in-use", Some(1)),
            Error::KeyConflict(_) => (StatusCode::CONFLICT, "key-conflict", None),
            Error::NameTaken(_) => (StatusCode::CONFLICT, "name-taken", None),
            Error::NoState(_) => (StatusCode::NOT_FOUND, "no-state", None),
            Error::TooMany { .. } => (StatusCode::CONFLICT, "too-many", None),
            Error::Engine(engine) => match engine_status(engine) {
                Some((status, code)) => (status, code, None),
                None => return ApiError::internal(error),
            },
            _ => return ApiError::internal(error),
        };
        let mut answer = ApiError { retry_after, ..ApiError::new(status, code, error.to_string()) };
        if let Error::Engine(skipstream::Error::UnknownWord { word }) = error {
            answer.detail.word = Some(word);
        }
        answer
    }
}

/// The status of an engine error that the client caused; `None` for all others.
fn engine_status(error: &skipstream::Error) -> Option<(StatusCode, &'static str)> {
    use skipstream::Error;
    use skipstream::vocabulary::ControlError;
    match error {
        Error::UnknownWord { .. } => Some((StatusCode::NOT_FOUND, "unknown-word")),
        Error::Control(ControlError::NotAToken { .. }) => Some((StatusCode::BAD_REQUEST, "not-a-token")),
        Error::Control(_) => Some((StatusCode::CONFLICT, "control-refused")),
        Error::Setting { .. } | Error::Vectors(_) => Some((StatusCode::BAD_REQUEST, "bad-request")),
        _ => None,
    }
}

impl From<skipstream::Error> for ApiError {
    fn from(error: skipstream::Error) -> ApiError {
        Error::from(error).into()
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(ErrorBody { error: *self.detail })).into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
