//! The table of n-grams that estimates unknown words.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwapOption;
use skipstream::embeddings::Subwords;
use tokio::sync::Notify;

/// The last table that was fitted.
#[derive(Debug, Default)]
pub struct Fitted {
    table: ArcSwapOption<Subwords>,
    /// The number of times that words were forgotten. A table that was fitted before has traces of them.
    forgotten: AtomicU64,
    news: Notify,
}

impl Fitted {
    /// The last table that was fitted.
    pub fn table(&self) -> Option<Arc<Subwords>> {
        self.table.load_full()
    }

    /// How often words were forgotten. The caller holds [`Service::reporting`](crate::service::Service::reporting).
    pub fn forgotten(&self) -> u64 {
        self.forgotten.load(Ordering::Relaxed)
    }

    /// Replaces the table, unless words were forgotten since it was begun. The caller holds
    /// [`Service::reporting`](crate::service::Service::reporting).
    pub fn replace(&self, table: Subwords, forgotten: u64) {
        if self.forgotten() == forgotten {
            self.table.store(Some(Arc::new(table)));
        }
    }

    /// Drops the table, because words were forgotten.
    pub fn forget(&self) {
        self.forgotten.fetch_add(1, Ordering::Relaxed);
        self.table.store(None);
        self.news.notify_one();
    }

    /// Returns after words were forgotten.
    pub async fn forgot(&self) {
        self.news.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use skipstream::Embeddings;
    use skipstream::embeddings::SubwordOptions;

    use super::*;

    #[test]
    fn a_table_with_traces_of_forgotten_words_is_dropped() {
        let embeddings = Embeddings::new(1, [("tea", 1)], vec![1.0]).unwrap();
        let options = SubwordOptions { buckets: 10, ..SubwordOptions::default() };
        let table = || Subwords::fit(&embeddings, &options, Some(1)).unwrap();
        let fitted = Fitted::default();
        fitted.replace(table(), 0);
        assert!(fitted.table().is_some());
        fitted.forget();
        assert!(fitted.table().is_none());
        fitted.replace(table(), 0);
        assert!(fitted.table().is_none());
        fitted.replace(table(), fitted.forgotten());
        assert!(fitted.table().is_some());
    }
}
