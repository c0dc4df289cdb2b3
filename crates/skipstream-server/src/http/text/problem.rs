//! Defects of an upload.

use axum::http::StatusCode;

use crate::http::ApiError;

/// A defect of an upload and the line where it was noticed, from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("line {line} is longer than {most} bytes, which is the limit")]
    LongLine { line: u64, most: usize },
    #[error("line {line}: the body is larger than {most} bytes, which is the limit")]
    LongBody { line: u64, most: u64 },
    #[error("line {line}: {reason}")]
    Record { line: u64, reason: String },
    #[error("the body is {what}; send text, or force_text=true to learn it anyway")]
    Binary { what: String },
    /// The model's settings reject invalid UTF-8.
    #[error("line {line}: byte {offset} is not valid UTF-8")]
    InvalidUtf8 { line: u64, offset: usize },
    #[error("line {line}: the gzip data is corrupt: {reason}")]
    Gzip { line: u64, reason: String },
    #[error("line {line}: the connection broke: {reason}")]
    Broken { line: u64, reason: String },
    #[error("line {line}: no data for {seconds} seconds, which is the limit")]
    Stalled { line: u64, seconds: u64 },
    #[error(
        "line {line}: less than 16 KiB per second for {seconds} seconds, and other uploads need the place"
    )]
    GaveWay { line: u64, seconds: u64 },
}

impl From<Problem> for ApiError {
    fn from(problem: Problem) -> ApiError {
        let (status, code) = match problem {
            Problem::LongLine { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "line-too-long"),
            Problem::LongBody { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "too-large"),
            Problem::Record { .. } => (StatusCode::BAD_REQUEST, "bad-record"),
            Problem::Binary { .. } => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "binary"),
            Problem::InvalidUtf8 { .. } => (StatusCode::BAD_REQUEST, "invalid-utf8"),
            Problem::Gzip { .. } => (StatusCode::BAD_REQUEST, "bad-gzip"),
            Problem::Broken { .. } => (StatusCode::BAD_REQUEST, "broken-body"),
            Problem::Stalled { .. } | Problem::GaveWay { .. } => (StatusCode::REQUEST_TIMEOUT, "stalled"),
        };
        ApiError::new(status, code, problem.to_string())
    }
}
