//! Lists of words separated by tabs.

use std::io::Write;
use std::path::Path;

use super::error::FormatError;
use crate::embeddings::Embeddings;
use crate::{Error, Result};

/// Writes a line for each word: the word and, if counts are known, a tab and its count; `header` first.
///
/// It is an error if a tab-separated line cannot represent a word.
pub(super) fn write_words(
    embeddings: &Embeddings,
    mut writer: impl Write,
    name: &Path,
    header: &str,
) -> Result<()> {
    let is_wrong = |word: &&str| word.trim_ascii().is_empty() || word.contains(['\t', '\n', '\r']);
    if let Some(word) = embeddings.words().find(is_wrong) {
        return Err(Error::format(name, FormatError::Word { word: word.to_owned() }));
    }
    let mut write_all = || {
        writer.write_all(header.as_bytes())?;
        for (row, word) in embeddings.words().enumerate() {
            match embeddings.known_count(row) {
                Some(count) => writeln!(writer, "{word}\t{count}")?,
                None => writeln!(writer, "{word}")?,
            }
        }
        writer.flush()
    };
    write_all().map_err(Error::io(name))
}
