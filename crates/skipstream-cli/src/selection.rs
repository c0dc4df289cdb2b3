//! Which words of a file a command takes.

use std::path::Path;

use anyhow::{Result, bail};
use clap::Args;
use skipstream::Embeddings;

/// The most frequent words. Without options, all words.
#[derive(Debug, Args)]
pub struct SelectionArgs {
    /// Number of words to take, the most frequent ones
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// Minimum count of a word
    #[arg(long, value_name = "N")]
    pub min_count: Option<u64>,
}

impl SelectionArgs {
    /// The selected words of a file.
    pub fn of(&self, mut embeddings: Embeddings, file: &Path) -> Result<Embeddings> {
        if let Some(top) = self.top {
            embeddings = embeddings.top(top);
        }
        if let Some(count) = self.min_count {
            if !embeddings.has_counts() {
                bail!(
                    "{}: these vectors have no counts, so --min-count cannot select words; --top selects by the order of the file",
                    file.display()
                );
            }
            embeddings = embeddings.with_min_count(count);
        }
        Ok(embeddings)
    }
}
