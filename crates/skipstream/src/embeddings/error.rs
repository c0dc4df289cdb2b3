//! Why words and vectors do not fit together.

use super::Quantization;

/// A defect of words or vectors that a caller passed in.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names every field")]
pub enum VectorsError {
    /// The number of values is not words × dimensions.
    #[error("{words} words of {dimensions} dimensions do not have {values} values")]
    Length { words: usize, dimensions: usize, values: usize },
    /// A word occurs twice.
    #[error("`{word}` occurs twice, as words {first} and {second}")]
    Duplicate { word: String, first: usize, second: usize },
    /// A value is infinite or NaN.
    #[error("value {position} of `{word}` (word {number}) is {value}; it must be finite")]
    NotFinite { word: String, number: usize, position: usize, value: f32 },
    /// A value is too large to be quantized.
    #[error(
        "value {position} of `{word}` (word {number}) is {value}; {quantization} has values up to {limit:?}"
    )]
    TooLarge {
        word: String,
        number: usize,
        position: usize,
        value: f32,
        quantization: Quantization,
        limit: f32,
    },
    /// A word has no count.
    #[error("`{word}` has no count")]
    NoCount { word: String },
    /// The number of counts is not the number of words.
    #[error("{counts} counts for {words} words")]
    Counts { counts: usize, words: usize },
    /// A query vector has another length than the vectors.
    #[error("the query vector has {values} values; the embeddings have {dimensions} dimensions")]
    QueryLength { values: usize, dimensions: usize },
    /// A value of a query vector is infinite or NaN.
    #[error("value {position} of the query vector is {value}; it must be finite")]
    QueryNotFinite { position: usize, value: f32 },
    /// The vectors are not joined ones, or it is not known how they were joined.
    #[error(
        "what comes next follows from the target and the context vector of each word, and these vectors do not have both"
    )]
    NotBoth,
    /// Two snapshots cannot be compared: they are not of one model.
    #[error(
        "the old vectors have {old} dimensions and the new ones {new}; only snapshots of one model can be compared"
    )]
    Snapshots { old: usize, new: usize },
    /// The vectors have too many dimensions to be aligned.
    #[error("the vectors have {dimensions} dimensions; snapshots are aligned in at most {limit}")]
    TooManyDimensions { dimensions: usize, limit: usize },
}
