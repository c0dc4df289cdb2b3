//! Why a test set cannot be used.

/// A defect of a test set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TestSetError {
    /// The file has no word pairs and no analogies.
    #[error("the file has no word pairs and no analogies")]
    Empty,
    /// The file is too large for a test set.
    #[error("the file is larger than {limit} bytes")]
    TooLarge {
        /// The maximum size.
        limit: u64,
    },
    /// A line is neither.
    #[error("line {line}: expected {expected}")]
    Line {
        /// The line, from 1.
        line: u64,
        /// What a line should hold.
        expected: &'static str,
    },
}
