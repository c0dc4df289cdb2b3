//! A published version of the model, which queries read.

use std::ops::Range;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;
use skipstream::phrases::Phrase;
use skipstream::{Embeddings, Progress};
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
    /// The phrases that are joined, the most frequent first.
    pub phrases: Arc<[Phrase]>,
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

/// What the tokens of a text count in its vectors: fewer than their number with a half-life. Estimated from the words that
/// the vectors have.
pub fn recent_tokens(embeddings: &Embeddings, tokens: u64) -> u64 {
    let sum = |count: fn(&Embeddings, usize) -> u64| -> u64 {
        (0..embeddings.len()).map(|row| count(embeddings, row)).sum()
    };
    let (recent, all) = (sum(Embeddings::recent_count), sum(Embeddings::count));
    if recent == all { tokens } else { (tokens as f64 * recent as f64 / all as f64).round() as u64 }
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
    /// The version after a line, of a model without phrases.
    pub fn new(
        seq: Seq,
        time: Timestamp,
        embeddings: Embeddings,
        seen: Vec<Seen>,
        progress: Progress,
    ) -> Published {
        assert_eq!(embeddings.len(), seen.len(), "every word has times");
        Published { seq, time, embeddings, seen, progress, phrases: Arc::default() }
    }

    /// The rows among these whose words start with a prefix, the most frequent first, at most `n`.
    pub fn complete(&self, prefix: &str, among: Range<usize>, n: usize) -> Vec<usize> {
        among.filter(|&row| self.embeddings.word(row).starts_with(prefix)).take(n).collect()
    }
}
