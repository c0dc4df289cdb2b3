//! What goes wrong → a status and a JSON body.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::Error;
use crate::http::answer::Json;
use crate::log;
use crate::published::{Published, Seq};

/// An answer that says what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// The status.
    pub status: StatusCode,
    /// What is wrong.
    pub detail: Box<ErrorDetail>,
    /// Seconds after which to try again.
    pub retry_after: Option<u64>,
}

/// The body of an answer that says what is wrong
#[derive(Debug, Serialize, ToSchema)]
pub struct ErrorBody {
    /// What is wrong
    pub error: ErrorDetail,
}

/// What is wrong
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ErrorDetail {
    /// A name for programs
    pub code: String,
    /// A sentence for people: what is wrong, where, and what the limit is
    pub message: String,
    /// Words that are spelled nearly like one that is not known
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub suggestions: Option<Vec<String>>,
    /// Lines of a text that were accepted before something went wrong; null where none were
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Option<Accepted>>,
}

impl From<log::Accepted> for Accepted {
    fn from(accepted: log::Accepted) -> Accepted {
        let log::Accepted { first, last, lines } = accepted;
        Accepted { first, last, lines }
    }
}

/// Lines that were accepted
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Accepted {
    /// The number of the first
    pub first: Seq,
    /// The number of the last
    pub last: Seq,
    /// How many they are
    pub lines: u64,
}

impl ApiError {
    /// An error with a name for programs and a sentence for people.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> ApiError {
        let detail =
            ErrorDetail { code: code.to_owned(), message: message.into(), suggestions: None, accepted: None };
        ApiError { status, detail: Box::new(detail), retry_after: None }
    }

    /// The request says something that cannot be.
    pub fn bad_request(message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::BAD_REQUEST, "bad-request", message)
    }

    /// A word that is not known.
    pub fn unknown_word(word: &str) -> ApiError {
        let message = skipstream::Error::UnknownWord { word: word.to_owned() }.to_string();
        ApiError::new(StatusCode::NOT_FOUND, "unknown-word", message)
    }

    /// A word that is not known, with some that are spelled nearly like it. All words are looked at for these.
    pub fn unknown_word_in(published: &Published, word: &str) -> ApiError {
        let suggestions = published.embeddings.suggestions(word, 5).into_iter().map(str::to_owned).collect();
        let mut error = ApiError::unknown_word(word);
        error.detail.suggestions = Some(suggestions);
        error
    }

    /// The same, to be tried again after some seconds.
    pub fn retry_after(self, seconds: u64) -> ApiError {
        ApiError { retry_after: Some(seconds.max(1)), ..self }
    }

    /// Something that should not have happened. What it was is for the log, since it may name files.
    pub fn internal(error: impl std::fmt::Display) -> ApiError {
        tracing::error!(%error, "a request could not be answered");
        ApiError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "something went wrong; the log says what",
        )
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> ApiError {
        let message = error.to_string();
        match error {
            Error::QueueFull { retry_after, .. } => {
                ApiError::new(StatusCode::TOO_MANY_REQUESTS, "queue-full", message)
                    .retry_after(retry_after.as_secs())
            }
            Error::DiskFull => ApiError::new(StatusCode::INSUFFICIENT_STORAGE, "disk-full", message),
            Error::Busy { .. } => {
                ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message).retry_after(1)
            }
            Error::Stopping => {
                ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", message).retry_after(5)
            }
            Error::KeyInUse { .. } => {
                ApiError::new(StatusCode::CONFLICT, "key-in-use", message).retry_after(1)
            }
            Error::KeyConflict { .. } => ApiError::new(StatusCode::CONFLICT, "key-conflict", message),
            Error::Engine(error) => error.into(),
            error => ApiError::internal(error),
        }
    }
}

impl From<skipstream::Error> for ApiError {
    fn from(error: skipstream::Error) -> ApiError {
        use skipstream::Error;
        match error {
            Error::UnknownWord { word } => ApiError::unknown_word(&word),
            Error::Setting { .. }
            | Error::Vectors(_)
            | Error::InvalidVectors { .. }
            | Error::Unsupported(_) => ApiError::bad_request(error.to_string()),
            error => ApiError::internal(error),
        }
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
