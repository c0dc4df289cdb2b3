//! A published version of the model, which queries read.

use std::ops::Range;

use jiff::Timestamp;
use serde::Serialize;
use skipstream::{Embeddings, HalfLife, Progress};
use utoipa::ToSchema;

/// The number of a line: 1 for the first that the service ever accepted.
pub type Seq = u64;

/// A published version of the model.
#[derive(Debug)]
pub struct Published {
    /// The last line that it has learned.
    pub seq: Seq,
    /// When it was published.
    pub time: Timestamp,
    /// The vectors, the most frequent word first.
    pub embeddings: Embeddings,
    /// When the word of each row was seen.
    pub seen: Vec<Seen>,
    /// The training progress.
    pub progress: Progress,
    /// After how many words a token counts half, if old text is forgotten.
    pub half_life: Option<HalfLife>,
}

/// A published version of the vectors
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PublishedInfo {
    /// The last line it contains
    pub seq: Seq,
    /// When it was published
    pub time: Timestamp,
    /// Size of the vocabulary
    pub vocabulary: usize,
    /// Number of tokens learned
    pub words: u64,
}

impl From<&Published> for PublishedInfo {
    fn from(published: &Published) -> PublishedInfo {
        PublishedInfo {
            seq: published.seq,
            time: published.time,
            vocabulary: published.embeddings.len(),
            words: published.progress.tokens,
        }
    }
}

/// When a word was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The earlier of the times of the line that added it to the vocabulary and of its last line.
    pub first: Timestamp,
    /// The later of the two.
    pub last: Timestamp,
}

impl Published {
    /// The version after a line, of a model that forgets nothing.
    pub fn new(
        seq: Seq,
        time: Timestamp,
        embeddings: Embeddings,
        seen: Vec<Seen>,
        progress: Progress,
    ) -> Published {
        assert_eq!(embeddings.len(), seen.len(), "every word has times");
        Published { seq, time, embeddings, seen, progress, half_life: None }
    }

    /// What the first tokens of the stream weighed when they were the last: less than their number with a half-life.
    pub fn recent(&self, tokens: u64) -> u64 {
        self.half_life.map_or(tokens, |half_life| half_life.recent(tokens))
    }

    /// The rows among these whose words start with a prefix, the most frequent first, at most `n`.
    pub fn complete(&self, prefix: &str, among: Range<usize>, n: usize) -> Vec<usize> {
        among.filter(|&row| self.embeddings.word(row).starts_with(prefix)).take(n).collect()
    }
}
