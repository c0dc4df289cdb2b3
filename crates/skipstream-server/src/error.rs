//! What can go wrong.

use std::path::PathBuf;

use rusqlite::{ErrorCode, ffi};

/// An error of the service. `http/error.rs` maps each variant to a status and a code.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The queue is full; the client should retry.
    #[error("the queue is full: {waiting} bytes of text are waiting to be learned; the limit is {limit}")]
    QueueFull {
        /// Bytes in the queue.
        waiting: u64,
        /// Capacity of the queue in bytes.
        limit: u64,
    },
    /// The disk is full. Queries still work.
    #[error("the disk is full")]
    DiskFull,
    /// SQLite reports an error.
    #[error("log.sqlite: {0}")]
    LogFile(#[source] rusqlite::Error),
    /// A file or folder of the service is unusable.
    #[error("{}: {reason}", path.display())]
    Data {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong and what to do.
        reason: String,
    },
    /// Another request with the same key is in progress.
    #[error("another request with the idempotency key `{0}` is in progress")]
    KeyInUse(String),
    /// The key was used for different lines.
    #[error("the idempotency key `{0}` was used before with different lines")]
    KeyConflict(String),
    /// A snapshot with this name exists.
    #[error("a snapshot named `{0}` already exists")]
    NameTaken(String),
    /// There is no snapshot of this name with a state.
    #[error("there is no snapshot named `{0}` that was saved with its state")]
    NoState(String),
    /// A bounded collection is full.
    #[error("there are already {limit} {what}, which is the limit")]
    TooMany {
        /// What the collection holds.
        what: &'static str,
        /// Its capacity.
        limit: usize,
    },
    /// The engine reports an error.
    #[error(transparent)]
    Engine(skipstream::Error),
    /// Too many queries are waiting.
    #[error("{waiting} queries are waiting; the limit is {limit}")]
    Busy {
        /// Queries in the queue.
        waiting: usize,
        /// Capacity of the queue.
        limit: usize,
    },
    /// Something else failed.
    #[error("{0}")]
    Failed(String),
    /// A setting is invalid.
    #[error("{0}")]
    Setting(String),
    /// Something keeps the service from learning or storing text.
    #[error("{0}")]
    NotReady(String),
    /// The service is shutting down.
    #[error("the service is stopping")]
    Stopping,
}

/// A result of the service.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The error for readers of the service, who may not know where its files are. The log has all of it.
    pub(crate) fn without_path(&self) -> String {
        match self {
            Error::Data { reason, .. } => reason.clone(),
            // The text of SQLite may name the file.
            Error::LogFile(rusqlite::Error::SqliteFailure(failure, _)) => format!("log.sqlite: {failure}"),
            Error::Engine(error) => engine_without_path(error),
            error => error.to_string(),
        }
    }
}

fn engine_without_path(error: &skipstream::Error) -> String {
    use skipstream::Error;
    match error {
        Error::Io { source, .. } => source.to_string(),
        Error::InvalidUtf8 { line, offset, .. } => format!("line {line}: byte {offset} is not valid UTF-8"),
        Error::Text { cause, .. } => cause.to_string(),
        Error::SourceChanged { change, .. } => change.to_string(),
        Error::ModelFile { cause, .. } => cause.to_string(),
        Error::Format { cause, .. } => cause.to_string(),
        Error::TestSet { cause, .. } => cause.to_string(),
        error => error.to_string(),
    }
}

impl From<skipstream::Error> for Error {
    fn from(error: skipstream::Error) -> Error {
        use std::io::ErrorKind::{QuotaExceeded, StorageFull};
        match &error {
            skipstream::Error::Io { source, .. } if matches!(source.kind(), StorageFull | QuotaExceeded) => {
                Error::DiskFull
            }
            _ => Error::Engine(error),
        }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Error {
        // On a full disk SQLite cannot grow its shared memory either. Any other failed write is most likely a quota;
        // the caller handles both the same way: it retries.
        let is_full = matches!(&error, rusqlite::Error::SqliteFailure(failure, _)
            if failure.code == ErrorCode::DiskFull
                || matches!(failure.extended_code, ffi::SQLITE_IOERR_SHMSIZE | ffi::SQLITE_IOERR_WRITE));
        if is_full { Error::DiskFull } else { Error::LogFile(error) }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::Path;

    use super::*;

    #[test]
    fn readers_learn_what_is_wrong_and_not_where() {
        let folder = tempfile::tempdir().unwrap();
        let path = || folder.path().join("secret");
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        let no_database = rusqlite::Connection::open(path().join("log.sqlite")).unwrap_err();
        let no_model = skipstream::Trainer::load(path(), None).unwrap_err();
        let no_text = skipstream::corpus::Tail::new(path().join("none"), None).err();
        let errors = [
            Error::Data { path: path(), reason: "damaged".to_owned() },
            Error::Engine(skipstream::Error::Io { path: path(), source: denied() }),
            Error::Engine(skipstream::Error::InvalidUtf8 { path: path(), line: 1, offset: 2 }),
            Error::LogFile(no_database),
            Error::Engine(no_model),
        ];
        for error in errors.into_iter().chain(no_text.map(Error::Engine)) {
            assert!(error.to_string().contains("secret"), "{error} goes to the log");
            let told = error.without_path();
            assert!(!told.is_empty() && !told.contains("secret"), "{told}");
            assert!(!told.contains(Path::new(folder.path()).to_str().unwrap()), "{told}");
        }
    }
}
