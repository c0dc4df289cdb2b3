//! Why words and vectors do not fit together.

/// A defect of words or vectors that a caller passed in.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum VectorsError {
    /// The number of values is not words × dimensions.
    #[error("{words} words of {dimensions} dimensions need {} values, not {values}", words * dimensions)]
    Length {
        /// The number of words.
        words: usize,
        /// The length of a vector.
        dimensions: usize,
        /// The number of values.
        values: usize,
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
}
