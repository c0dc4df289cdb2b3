//! Why a vectors file of another program cannot be used.

/// A defect of a vectors file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The file is empty.
    #[error("the file is empty")]
    Empty,
}
