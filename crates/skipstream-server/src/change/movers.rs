//! Words that moved more than chance explains.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use skipstream::eval::{Drift, DriftOptions};

use super::store::{SnapshotInfo, SnapshotStore};
use crate::error::Result;
use crate::published::{Published, PublishedInfo};

/// Words to list with their neighbors.
const LISTED: usize = 100;

/// Comparisons to cache: those that one page shows, and one more.
const REMEMBERED: usize = 4;

/// How long a comparison stays valid while new versions are published: at least 30 seconds, and 20 times as long as it
/// took, so that comparing uses at most 1/20 of a core.
const VALID_FOR: Duration = Duration::from_secs(30);
const VALID_FACTOR: u32 = 20;

/// A published version compared with a snapshot.
#[derive(Debug)]
pub struct Comparison {
    pub old: SnapshotInfo,
    pub new: PublishedInfo,
    /// What changed.
    pub drift: Drift,
    /// Weak, so that the vectors can be freed.
    published: Weak<Published>,
    made: Instant,
    took: Duration,
}

/// Compares the current version with snapshots, one at a time, and caches the results.
#[derive(Debug, Default)]
pub struct Movers {
    /// Locked during a comparison; other callers wait and then find the result here.
    last: Mutex<Vec<Arc<Comparison>>>,
}

impl Movers {
    /// Drops all comparisons.
    pub fn clear(&self) {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// What changed since a snapshot; `None` if it no longer exists, or if `go_on` says no. Takes about a second unless
    /// cached, so it must not run on a thread that serves connections.
    ///
    /// `go_on` is asked before a comparison, since the caller may have waited for another one. A comparison is not ended
    /// in the middle: its duration is bounded, and the next caller finds it in the cache.
    pub fn since(
        &self,
        snapshots: &SnapshotStore,
        old: &SnapshotInfo,
        published: &Arc<Published>,
        most_words: usize,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Option<Arc<Comparison>>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_valid = |known: &&Arc<Comparison>| known.old == *old && known.is_valid_for(published);
        if let Some(known) = last.iter().find(is_valid) {
            return Ok(Some(known.clone()));
        }
        if !go_on() {
            return Ok(None);
        }
        let Some(embeddings) = snapshots.embeddings(&old.name) else { return Ok(None) };
        let made = Instant::now();
        // Both sides have the same share of rare words, so their movements are comparable.
        let new = published.embeddings.top(most_words);
        let options = DriftOptions { listed: LISTED, ..DriftOptions::default() };
        let drift = Drift::between(&embeddings, &new, &options)?;
        let comparison = Arc::new(Comparison {
            old: old.clone(),
            new: published.as_ref().into(),
            drift,
            published: Arc::downgrade(published),
            made,
            took: made.elapsed(),
        });
        last.retain(|known| known.old != *old);
        if last.len() == REMEMBERED {
            last.remove(0);
        }
        last.push(comparison.clone());
        Ok(Some(comparison))
    }
}

impl Comparison {
    fn is_valid_for(&self, published: &Arc<Published>) -> bool {
        std::ptr::eq(self.published.as_ptr(), Arc::as_ptr(published))
            || self.made.elapsed() < VALID_FOR.max(self.took * VALID_FACTOR)
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::change::testing::{of_embeddings, two_heaps};

    fn published(turned: bool) -> Arc<Published> {
        let embeddings = two_heaps(if turned { 1 } else { 2 }, turned);
        let time = Timestamp::from_second(1_000_000 + i64::from(turned)).unwrap();
        Arc::new(of_embeddings(time, 1, embeddings, Timestamp::UNIX_EPOCH))
    }

    #[test]
    fn the_word_with_new_neighbors_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let snapshots = SnapshotStore::open(folder.path());
        let old = snapshots.save(&published(false), None, 1_000).unwrap();
        let movers = Movers::default();
        let now = published(true);
        let found = movers.since(&snapshots, &old, &now, 1_000, &|| true).unwrap().unwrap();
        assert_eq!(found.drift.moved[0].movement.word, "turns");
        assert!(found.drift.moved[0].movement.above_floor);
        assert!(found.drift.moved[0].overlap < 0.2);

        let again = movers.since(&snapshots, &old, &published(true), 1_000, &|| true).unwrap().unwrap();
        assert!(Arc::ptr_eq(&found, &again), "a recent comparison is cached");

        let other = snapshots.save(&now, None, 1_000).unwrap();
        assert!(movers.since(&snapshots, &other, &now, 1_000, &|| false).unwrap().is_none());
        let cached = movers.since(&snapshots, &old, &now, 1_000, &|| false).unwrap();
        assert!(cached.is_some(), "only a new comparison takes time");
    }

    #[test]
    fn a_deleted_snapshot_has_no_movers() {
        let folder = tempfile::tempdir().unwrap();
        let snapshots = SnapshotStore::open(folder.path());
        let old = snapshots.save(&published(false), None, 1_000).unwrap();
        snapshots.delete(&old.name);
        assert!(Movers::default().since(&snapshots, &old, &published(true), 9, &|| true).unwrap().is_none());
    }
}
