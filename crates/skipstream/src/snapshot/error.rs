//! Why a model file or a vectors file cannot be used.

/// A defect of a model file, or a use that does not fit it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelFileError {
    /// A vectors file cannot be trained further.
    #[error("this file has vectors but no training state, so it cannot be trained further")]
    OnlyVectors,
}
