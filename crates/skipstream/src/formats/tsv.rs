//! What the lists with tabs share.

use std::io::{self, Write};

use crate::embeddings::Embeddings;
use crate::{Error, Result};

/// Refuses words that a line with tabs cannot hold.
pub(super) fn check_words(embeddings: &Embeddings) -> Result<()> {
    match embeddings.words().find(|word| word.trim_ascii().is_empty() || word.contains(['\t', '\n', '\r'])) {
        Some(word) => Err(Error::Unsupported(format!(
            "`{}` is empty or contains a tab or the end of a line; a list with tabs cannot hold such a word \
             (safetensors can)",
            word.escape_debug()
        ))),
        None => Ok(()),
    }
}

/// Writes a line for each word: the word and, where counts are known, a tab and its count.
pub(super) fn write_words(embeddings: &Embeddings, writer: &mut impl Write) -> io::Result<()> {
    for (row, word) in embeddings.words().enumerate() {
        match embeddings.known_count(row) {
            Some(count) => writeln!(writer, "{word}\t{count}")?,
            None => writeln!(writer, "{word}")?,
        }
    }
    writer.flush()
}
