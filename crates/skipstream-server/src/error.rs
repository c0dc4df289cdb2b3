//! What can go wrong, and what a caller can do about it.

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
    /// The log on disk cannot be used.
    #[error("the log: {0}")]
    Log(#[source] rusqlite::Error),
    /// The engine says no.
    #[error(transparent)]
    Engine(#[from] skipstream::Error),
    /// The service is going down.
    #[error("the service is stopping")]
    Stopping,
}

/// A result of the service.
pub type Result<T, E = Error> = std::result::Result<T, E>;
