//! What the lists with tabs share.

use crate::embeddings::Embeddings;
use crate::{Error, Result};

/// Refuses words that a line with tabs cannot hold.
pub(super) fn check_words(embeddings: &Embeddings) -> Result<()> {
    match embeddings.words().find(|word| word.trim_ascii().is_empty() || word.contains(['\t', '\n', '\r'])) {
        Some(word) => Err(Error::Unsupported(format!(
            "`{}` is empty or contains a tab or the end of a line; a list with tabs cannot hold such a word \
             (finalfusion and safetensors can)",
            word.escape_debug()
        ))),
        None => Ok(()),
    }
}
