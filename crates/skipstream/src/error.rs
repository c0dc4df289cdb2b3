//! The error of the library: one variant for each thing that a caller can act on.
//!
//! A message states facts: what is wrong and where. Remedies depend on how the library is used, so the command line, the
//! service and the Python package each add their own.

use std::io;
use std::path::{Path, PathBuf};

use crate::config::StrategyName;
use crate::corpus::{SourceChange, TextError};
use crate::embeddings::VectorsError;
#[cfg(feature = "eval")]
use crate::eval::TestSetError;
use crate::formats::FormatError;
use crate::snapshot::ModelFileError;
use crate::train::cluster::MessageError;
use crate::vocabulary::ControlError;

/// The result of every fallible call of this library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, and where.
///
/// `path` is the file, or a name for it (`<stdin>`). Lines are counted from 1, bytes of the decompressed text from 0.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names every field")]
pub enum Error {
    /// A setting is out of range.
    #[error("{field} is {value}; it must be {limit}")]
    Setting { field: &'static str, value: String, limit: String },
    /// The operating system could not read or write.
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// A line is not UTF-8, and the policy is to reject such lines.
    #[error("{}, line {line}: byte {offset} is not valid UTF-8", path.display())]
    InvalidUtf8 { path: PathBuf, line: u64, offset: u64 },
    /// A text to learn from cannot be read.
    #[error("{}: {cause}", path.display())]
    Text {
        path: PathBuf,
        #[source]
        cause: TextError,
    },
    /// A source that was learned before has changed since.
    #[error("{}: {change}", path.display())]
    SourceChanged {
        path: PathBuf,
        #[source]
        change: SourceChange,
    },
    /// A model file or vectors file of this library cannot be used.
    #[error("{}: {cause}", path.display())]
    ModelFile {
        path: PathBuf,
        #[source]
        cause: ModelFileError,
    },
    /// A vectors file of another program cannot be used.
    #[error("{}: {cause}", path.display())]
    Format {
        path: PathBuf,
        #[source]
        cause: FormatError,
    },
    /// A test set cannot be used.
    #[cfg(feature = "eval")]
    #[error("{}: {cause}", path.display())]
    TestSet {
        path: PathBuf,
        #[source]
        cause: TestSetError,
    },
    /// Words and vectors do not fit together.
    #[error(transparent)]
    Vectors(#[from] VectorsError),
    /// The word is not in the vocabulary.
    #[error("`{word}` is not in the vocabulary")]
    UnknownWord { word: String },
    /// A word cannot be pinned, blocked or merged.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// Training has diverged: a value of the model is infinite or NaN.
    #[error("training has diverged at learning_rate {learning_rate}: a value is infinite or NaN")]
    Diverged { learning_rate: f32 },
    /// There is not enough memory.
    #[error("not enough memory for {what} ({bytes} bytes)")]
    OutOfMemory { what: String, bytes: u64 },
    /// A multi-pass model has made its passes.
    #[error("a model of the strategy {strategy} cannot learn more text")]
    PassesAreOver { strategy: StrategyName },
    /// The number of replays cannot change for text that was read before.
    #[error("replays cannot change from {from} to {to} while text waits for its replay: finish it first")]
    ReplaysDue { from: u32, to: u32 },
    /// A message between a coordinator and its workers is refused.
    #[error("{cause}")]
    Message {
        #[source]
        cause: MessageError,
    },
    /// A worker cannot be reached, or has failed.
    #[error("{reason}")]
    Cluster { reason: String },
}

impl Error {
    pub(crate) fn setting(field: &'static str, value: impl ToString, limit: impl Into<String>) -> Error {
        Error::Setting { field, value: value.to_string(), limit: limit.into() }
    }

    /// An I/O error with the file where it happened.
    pub(crate) fn io(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Io { path: path.as_ref().to_owned(), source }
    }

    pub(crate) fn text(path: impl AsRef<Path>, cause: TextError) -> Error {
        Error::Text { path: path.as_ref().to_owned(), cause }
    }

    pub(crate) fn model_file(path: impl AsRef<Path>, cause: ModelFileError) -> Error {
        Error::ModelFile { path: path.as_ref().to_owned(), cause }
    }

    pub(crate) fn format(path: impl AsRef<Path>, cause: FormatError) -> Error {
        Error::Format { path: path.as_ref().to_owned(), cause }
    }

    pub(crate) fn out_of_memory(what: impl Into<String>, bytes: usize) -> Error {
        Error::OutOfMemory { what: what.into(), bytes: bytes as u64 }
    }
}
