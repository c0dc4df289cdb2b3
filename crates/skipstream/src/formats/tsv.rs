//! Lists of words separated by tabs.

use std::io::{self, Write};
use std::path::Path;

use super::error::FormatError;
use crate::embeddings::Embeddings;
use crate::{Error, Result};

/// Rejects words that a tab-separated line cannot represent.
pub(super) fn check_words(embeddings: &Embeddings, name: &Path) -> Result<()> {
    match embeddings.words().find(|word| word.trim_ascii().is_empty() || word.contains(['\t', '\n', '\r'])) {
        Some(word) => Err(Error::format(name, FormatError::Word { word: word.to_owned() })),
        None => Ok(()),
    }
}

/// Writes a line for each word: the word and, if counts are known, a tab and its count.
pub(super) fn write_words(embeddings: &Embeddings, writer: &mut impl Write) -> io::Result<()> {
    for (row, word) in embeddings.words().enumerate() {
        match embeddings.known_count(row) {
            Some(count) => writeln!(writer, "{word}\t{count}")?,
            None => writeln!(writer, "{word}")?,
        }
    }
    writer.flush()
}
