//! What can be wrong with a body of text.

use axum::http::StatusCode;

use crate::http::ApiError;

/// What is wrong with a body of text, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A line has too many bytes.
    #[error("line {line} has more than {most} bytes, which is the limit")]
    LongLine {
        /// The line, from 1.
        line: u64,
        /// The limit.
        most: usize,
    },
    /// The body has too many bytes.
    #[error("line {line}: the body has more than {most} bytes, which is the limit")]
    LongBody {
        /// The line at which the limit was passed.
        line: u64,
        /// The limit.
        most: u64,
    },
    /// A line of NDJSON is not what it should be.
    #[error("line {line}: {reason}")]
    Record {
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A line is not UTF-8, and the model's settings refuse such lines.
    #[error("line {line}: byte {offset} of the line is not UTF-8, which this model refuses")]
    InvalidUtf8 {
        /// The line, from 1.
        line: u64,
        /// The byte of the line, from 0.
        offset: usize,
    },
    /// The body says that it is gzip, and is not.
    #[error("line {line}: the body is damaged: {reason}")]
    Gzip {
        /// The line at which it was noticed.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The body ended before its end.
    #[error("line {line}: the body broke off: {reason}")]
    Broken {
        /// The line at which it ended.
        line: u64,
        /// Why.
        reason: String,
    },
    /// Nothing came for too long.
    #[error("line {line}: nothing came for {seconds} seconds, which is the limit")]
    Stalled {
        /// The line that was waited for.
        line: u64,
        /// The limit.
        seconds: u64,
    },
}

impl From<Problem> for ApiError {
    fn from(problem: Problem) -> ApiError {
        let (status, code) = match problem {
            Problem::LongLine { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "line-too-long"),
            Problem::LongBody { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "too-large"),
            Problem::Record { .. } => (StatusCode::BAD_REQUEST, "bad-record"),
            Problem::InvalidUtf8 { .. } => (StatusCode::BAD_REQUEST, "invalid-utf8"),
            Problem::Gzip { .. } => (StatusCode::BAD_REQUEST, "bad-gzip"),
            Problem::Broken { .. } => (StatusCode::BAD_REQUEST, "broken-body"),
            Problem::Stalled { .. } => (StatusCode::REQUEST_TIMEOUT, "stalled"),
        };
        ApiError::new(status, code, problem.to_string())
    }
}
