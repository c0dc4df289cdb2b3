//! A place in a text at which a later reader goes on.

use serde::{Deserialize, Serialize};

/// A place between two sentences, at which a later reader goes on.
///
/// It is kept in two steps, because not every sentence ends at a byte of the text that can be found again: one run of
/// letters may be several tokens once it was normalised, and one record of a file several sentences.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Bytes of (decompressed) text to pass over.
    #[serde(rename = "position")]
    pub offset: u64,
    /// The lines that end in those bytes, so that lines keep their numbers.
    #[serde(rename = "position_lines", default)]
    pub lines: u64,
    /// Words to pass over behind those bytes.
    #[serde(rename = "position_words", default)]
    pub words: u64,
}

impl Position {
    /// The place behind so many bytes.
    pub fn at(offset: u64) -> Position {
        Position { offset, ..Position::default() }
    }
}
