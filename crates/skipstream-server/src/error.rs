//! What can go wrong, and what a caller can do about it.

use std::path::PathBuf;
use std::time::Duration;

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The queue is full: what was sent is not accepted, and should be sent again later.
    #[error("the queue is full: {waiting} bytes of text wait to be learned, of at most {limit}")]
    QueueFull {
        /// Bytes that wait.
        waiting: u64,
        /// Bytes that may wait.
        limit: u64,
        /// When to try again.
        retry_after: Duration,
    },
    /// The disk is full: what was sent is not accepted. Questions are still answered.
    #[error("there is no room on the disk for more text")]
    DiskFull,
    /// The database says no to what was asked of the log.
    #[error("{}: {source}", path.display())]
    LogFile {
        /// The log's file.
        path: PathBuf,
        /// What the database says.
        source: rusqlite::Error,
    },
    /// A file or folder of the service is not what it should be.
    #[error("{}: {reason}", path.display())]
    Data {
        /// Which.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        reason: String,
    },
    /// A request with the same key is being sent now.
    #[error("a request with the idempotency key `{key}` is being sent now")]
    KeyInUse {
        /// The key.
        key: String,
    },
    /// Other lines were sent under the same key.
    #[error("other lines than these were sent with the idempotency key `{key}` before")]
    KeyConflict {
        /// The key.
        key: String,
    },
    /// The engine says no.
    #[error(transparent)]
    Engine(#[from] skipstream::Error),
    /// Too many questions wait for an answer.
    #[error("{waiting} questions wait for an answer, of at most {limit}")]
    Busy {
        /// Questions that wait.
        waiting: usize,
        /// Questions that may wait.
        limit: usize,
    },
    /// What others asked for as well has failed.
    #[error("{0}")]
    Failed(String),
    /// A setting cannot be as it is.
    #[error("{0}")]
    Setting(String),
    /// The service is going down.
    #[error("the service is stopping")]
    Stopping,
}

/// A result of the service.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The same error for another one who waited for the same thing.
    pub(crate) fn again(&self) -> Error {
        match self {
            Error::DiskFull => Error::DiskFull,
            Error::Stopping => Error::Stopping,
            error => Error::Failed(error.to_string()),
        }
    }
}
