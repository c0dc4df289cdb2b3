//! Why words and vectors do not fit together.

/// A defect of words or vectors that a caller passed in.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum VectorsError {
    /// The number of values is not words × dimensions.
    #[error("{words} words of {dimensions} dimensions do not have {values} values")]
    Length {
        /// The number of words.
        words: usize,
        /// The length of a vector.
        dimensions: usize,
        /// The number of values.
        values: usize,
    },
    /// A word occurs twice.
    #[error("`{word}` occurs twice, as words {first} and {second}")]
    Duplicate {
        /// The word.
        word: String,
        /// The number of its first occurrence, from 1.
        first: usize,
        /// The number of its second occurrence.
        second: usize,
    },
    /// A value is infinite or NaN.
    #[error("value {position} of `{word}` (word {number}) is {value}; it must be finite")]
    NotFinite {
        /// The word.
        word: String,
        /// The word's number, from 1.
        number: usize,
        /// The position of the value in the vector, from 1.
        position: usize,
        /// The value.
        value: f32,
    },
    /// A word has no count.
    #[error("`{word}` has no count")]
    NoCount {
        /// The word.
        word: String,
    },
    /// The number of counts is not the number of words.
    #[error("{counts} counts for {words} words")]
    Counts {
        /// The number of counts.
        counts: usize,
        /// The number of words.
        words: usize,
    },
    /// A query vector has another length than the vectors.
    #[error("the query vector has {values} values; the embeddings have {dimensions} dimensions")]
    QueryLength {
        /// The length of the query vector.
        values: usize,
        /// The length of the embeddings' vectors.
        dimensions: usize,
    },
    /// A value of a query vector is infinite or NaN.
    #[error("value {position} of the query vector is {value}; it must be finite")]
    QueryNotFinite {
        /// The position of the value in the vector, from 1.
        position: usize,
        /// The value.
        value: f32,
    },
    /// Two snapshots cannot be compared: they are not of one model.
    #[error(
        "the old vectors have {old} dimensions and the new ones {new}; only snapshots of one model can be compared"
    )]
    Snapshots {
        /// The dimensions of the old snapshot.
        old: usize,
        /// The dimensions of the new snapshot.
        new: usize,
    },
    /// The vectors have too many dimensions to be aligned.
    #[error("the vectors have {dimensions} dimensions; snapshots are aligned in at most {limit}")]
    TooManyDimensions {
        /// The dimensions.
        dimensions: usize,
        /// The maximum.
        limit: usize,
    },
}
