//! Queries → answers.
//!
//! Every query is compared with all vectors, and most of its time goes into reading them from memory. So queries that arrive
//! while a pass over the vectors runs share the next one: `pending.rs` collects them, and the thread of the [`SearchQueue`]
//! answers them. With the feature `usearch`, `graph.rs` finds neighbors in large vocabularies without comparing all words.

#[cfg(feature = "usearch")]
mod graph;
mod pending;
mod queue;

#[cfg(feature = "usearch")]
pub use graph::start as start_indexer;
pub use queue::SearchQueue;

use crate::error::Result;
use crate::settings::Index;

/// A row that a query found, and its similarity.
pub type Hit = (usize, f32);

/// An error if this program was built without the index.
pub fn check(index: Index) -> Result<()> {
    match index {
        Index::Exact => Ok(()),
        Index::Hnsw if cfg!(feature = "usearch") => Ok(()),
        Index::Hnsw => {
            let limit = "exact, because this program was built without the feature `usearch`".to_owned();
            Err(skipstream::Error::Setting { field: "index", value: "hnsw".to_owned(), limit }.into())
        }
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use std::sync::Arc;

    use jiff::Timestamp;
    use skipstream::unstable::Random;
    use skipstream::{Config, Embeddings, Trainer};

    use crate::published::{Published, Seen};

    /// Random vectors.
    pub fn published(n_words: usize, dimensions: usize) -> Arc<Published> {
        let mut random = Random::new(7);
        let values = (0..n_words * dimensions).map(|_| random.uniform() as f32 - 0.5).collect();
        let words = (0..n_words).map(|row| (format!("w{row}"), (n_words - row) as u64));
        let embeddings = Embeddings::new(dimensions, words, values).unwrap();
        let seen = vec![Seen { first: Timestamp::UNIX_EPOCH, last: Timestamp::UNIX_EPOCH }; n_words];
        let progress = Trainer::new(Config::default()).unwrap().progress();
        Arc::new(Published::new(1, Timestamp::UNIX_EPOCH, embeddings, seen, progress))
    }
}
