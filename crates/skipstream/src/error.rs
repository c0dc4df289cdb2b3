//! What can go wrong, one variant for each thing that a caller can act on.

use std::io;
use std::path::{Path, PathBuf};

/// The result of every fallible call of this library.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, and where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting is outside its limits.
    #[error("{field} is {value}; it must be {limit}")]
    Setting {
        /// The setting's name, the same everywhere.
        field: &'static str,
        /// What was asked for.
        value: String,
        /// What is possible.
        limit: String,
    },
    /// The operating system refused to read or write.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file, or what stands for it (`<stdin>`).
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A line is not UTF-8 and the policy is to refuse such lines.
    #[error(
        "{}, line {line}: byte {offset} is not valid UTF-8 (the policies `replace` and `skip` go on)",
        path.display()
    )]
    InvalidUtf8 {
        /// The file, or what stands for it.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The offset of the bad byte in the decompressed text, from 0.
        offset: u64,
    },
    /// A file is not what it should be.
    #[error("{}: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong, with the line or byte, and what to do.
        reason: String,
    },
    /// A source that was learned before is not the same text any more.
    #[error("{}: {reason}", path.display())]
    SourceChanged {
        /// The file.
        path: PathBuf,
        /// What changed, and what to do.
        reason: String,
    },
    /// Words and vectors that were handed over do not fit together.
    #[error("{reason}")]
    InvalidVectors {
        /// What is wrong, with the word and the value it was found at.
        reason: String,
    },
    /// The word is not in the vocabulary.
    #[error("`{word}` is not in the vocabulary")]
    UnknownWord {
        /// The word that was asked for.
        word: String,
    },
    /// The call does not fit the trainer's strategy or state.
    #[error("{0}")]
    Unsupported(String),
}

impl Error {
    /// An I/O error with the place where it happened.
    pub(crate) fn io(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Io { path: path.as_ref().to_owned(), source }
    }

    /// A malformed file, with the reason.
    pub(crate) fn malformed(path: impl AsRef<Path>, reason: impl Into<String>) -> Error {
        Error::Malformed { path: path.as_ref().to_owned(), reason: reason.into() }
    }

    /// Words and vectors that do not fit together, with the reason.
    pub(crate) fn invalid_vectors(reason: impl Into<String>) -> Error {
        Error::InvalidVectors { reason: reason.into() }
    }
}
