//! Publications for tests.

use jiff::Timestamp;
use skipstream::{Embeddings, Progress, Totals};

use crate::published::{Published, Seen, Seq};

/// Words in a plane, published at a fixed time.
pub fn published(seq: Seq, words: &[(&str, u64, [f32; 2])]) -> Published {
    published_at(Timestamp::from_second(1_000_000).unwrap(), seq, words)
}

/// Words in a plane, published at a time; all of them were seen since the beginning of time.
pub fn published_at(time: Timestamp, seq: Seq, words: &[(&str, u64, [f32; 2])]) -> Published {
    let vectors = words.iter().flat_map(|word| word.2).collect();
    let embeddings =
        Embeddings::new(2, words.iter().map(|&(word, count, _)| (word, count)), vectors).unwrap();
    of_embeddings(time, seq, embeddings, Timestamp::UNIX_EPOCH)
}

/// Embeddings that were published at a time, all of whose words were seen first at another.
pub fn of_embeddings(time: Timestamp, seq: Seq, embeddings: Embeddings, first: Timestamp) -> Published {
    let seen = vec![Seen { first, last: time }; embeddings.len()];
    let tokens = (0..embeddings.len()).map(|row| embeddings.count(row)).sum();
    let progress = Progress { tokens, totals: Totals::default(), vocabulary: embeddings.len(), evictions: 0 };
    Published::new(seq, seq, time, embeddings, seen, progress)
}
