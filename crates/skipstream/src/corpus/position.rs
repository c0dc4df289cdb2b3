//! A position in a text at which a later reader continues.

use serde::{Deserialize, Serialize};

/// A position between two sentences, at which a later reader continues.
///
/// It has two parts, because not every sentence ends at a byte of the text: normalization can turn one run of letters into
/// several tokens, and one record can hold several sentences.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The number of bytes of (decompressed) text to skip.
    #[serde(rename = "position")]
    pub offset: u64,
    /// The number of lines in those bytes, so that lines keep their numbers.
    #[serde(rename = "position_lines", default)]
    pub lines: u64,
    /// The number of words to skip after those bytes.
    #[serde(rename = "position_words", default)]
    pub words: u64,
}

impl Position {
    /// The position after a number of bytes.
    pub fn at(offset: u64) -> Position {
        Position { offset, ..Position::default() }
    }
}
