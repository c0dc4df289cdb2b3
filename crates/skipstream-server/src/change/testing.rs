//! Published versions for tests.

use jiff::Timestamp;
use skipstream::unstable::Random;
use skipstream::{Embeddings, Progress, Totals};

use crate::published::{Published, Seen, Seq};

/// Words in a plane, published at a fixed time.
pub fn published(seq: Seq, words: &[(&str, u64, [f32; 2])]) -> Published {
    published_at(Timestamp::from_second(1_000_000).unwrap(), seq, words)
}

/// Words in a plane, published at a time; all of them first seen in 1970.
pub fn published_at(time: Timestamp, seq: Seq, words: &[(&str, u64, [f32; 2])]) -> Published {
    let vectors = words.iter().flat_map(|word| word.2).collect();
    let embeddings =
        Embeddings::new(2, words.iter().map(|&(word, count, _)| (word, count)), vectors).unwrap();
    of_embeddings(time, seq, embeddings, Timestamp::UNIX_EPOCH)
}

/// Embeddings published at `time`, all of whose words were first seen at `first`.
pub fn of_embeddings(time: Timestamp, seq: Seq, embeddings: Embeddings, first: Timestamp) -> Published {
    let seen = vec![Seen { first, last: time }; embeddings.len()];
    let tokens = (0..embeddings.len()).map(|row| embeddings.count(row)).sum();
    let progress = Progress { tokens, totals: Totals::default(), vocabulary: embeddings.len(), evictions: 0 };
    Published::new(seq, time, embeddings, seen, progress)
}

/// Four hundred words in two heaps. The word `turns` is in the first heap, or in the second; `seed` moves every word a little.
pub fn two_heaps(seed: u64, turned: bool) -> Embeddings {
    let mut random = Random::new(seed);
    let mut words = Vec::new();
    let mut vectors: Vec<f32> = Vec::new();
    for number in 0..400 {
        let name = if number == 10 { "turns".to_owned() } else { format!("w{number}") };
        // Ten new occurrences of each.
        words.push((name, 1_000 - number + if turned { 10 } else { 0 }));
        let second = if number == 10 { turned } else { number % 2 == 1 };
        for dimension in 0..8 {
            let center = if (dimension < 4) == second { 1.0 } else { 0.0 };
            let mut own = Random::new(number * 8 + dimension);
            vectors.push(center + 0.5 * own.uniform() as f32 + 0.05 * random.uniform() as f32);
        }
    }
    Embeddings::new(8, words, vectors).unwrap()
}
