//! Words that moved farther than chance moves words.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use skipstream::eval::{Drift, DriftOptions};

use super::kept::Kept;
use super::name::SnapshotName;
use crate::error::Result;
use crate::events::KeptInfo;
use crate::published::{Published, Seq};

/// Words that are listed with their neighbours.
const LISTED: usize = 100;

/// Comparisons that are remembered: of what one page shows, and one to spare.
const REMEMBERED: usize = 4;

/// A comparison is good for at least so long while what is published changes, and for twenty times as long as it took: so
/// comparing takes at most a twentieth of a core.
const GOOD_FOR: Duration = Duration::from_secs(30);
const GOOD_FOR_TIMES: u32 = 20;

/// What is published held against a kept snapshot.
#[derive(Debug)]
pub struct Comparison {
    /// The kept snapshot.
    pub old: KeptInfo,
    /// What was published when they were compared: all lines up to this one were learned.
    pub seq: Seq,
    /// When that was published.
    pub time: Timestamp,
    /// Words that were known in it.
    pub vocabulary: usize,
    /// Words of text that were learned in it.
    pub words: u64,
    /// What changed.
    pub drift: Drift,
    /// Its vectors are not kept in memory for this.
    published: Weak<Published>,
    made: Instant,
    took: Duration,
}

/// Compares what is published with kept snapshots, one at a time, and remembers the last comparisons.
#[derive(Debug, Default)]
pub struct Movers {
    /// Whoever holds it compares; the others wait and then find the result here.
    last: Mutex<Vec<Arc<Comparison>>>,
}

impl Movers {
    /// What changed since a snapshot was kept; nothing if the snapshot is gone. It takes a second or so where nobody asked
    /// lately, so it is not for a thread that serves connections.
    pub fn since(
        &self,
        kept: &Kept,
        old: &KeptInfo,
        published: &Arc<Published>,
        most_words: usize,
    ) -> Result<Option<Arc<Comparison>>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_good = |known: &&Arc<Comparison>| known.old == *old && known.is_good_for(published);
        if let Some(known) = last.iter().find(is_good) {
            return Ok(Some(known.clone()));
        }
        let Some(embeddings) = SnapshotName::new(&old.name).and_then(|name| kept.embeddings(&name)) else {
            return Ok(None);
        };
        let made = Instant::now();
        // Both sides have the same share of rare words, whose movements are measured by one another's.
        let new = published.embeddings.top(most_words);
        let options = DriftOptions { listed: LISTED, ..DriftOptions::default() };
        let drift = Drift::between(&embeddings, &new, &options)?;
        let comparison = Arc::new(Comparison {
            old: old.clone(),
            seq: published.seq,
            time: published.time,
            vocabulary: published.embeddings.len(),
            words: published.progress.tokens,
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
    fn is_good_for(&self, published: &Arc<Published>) -> bool {
        std::ptr::eq(self.published.as_ptr(), Arc::as_ptr(published))
            || self.made.elapsed() < GOOD_FOR.max(self.took * GOOD_FOR_TIMES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::testing::{of_embeddings, two_heaps};

    fn published(turned: bool) -> Arc<Published> {
        let embeddings = two_heaps(if turned { 1 } else { 2 }, turned);
        let time = Timestamp::from_second(1_000_000 + i64::from(turned)).unwrap();
        Arc::new(of_embeddings(time, 1, embeddings, Timestamp::UNIX_EPOCH))
    }

    #[test]
    fn the_word_that_changed_its_company_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Kept::open(folder.path());
        let old = kept.keep(&published(false), None, 1_000).unwrap();
        let movers = Movers::default();
        let now = published(true);
        let found = movers.since(&kept, &old, &now, 1_000).unwrap().unwrap();
        assert_eq!(found.drift.moved[0].movement.word, "turns");
        assert!(found.drift.moved[0].movement.above_floor);
        assert!(found.drift.moved[0].overlap < 0.2);

        let again = movers.since(&kept, &old, &published(true), 1_000).unwrap().unwrap();
        assert!(Arc::ptr_eq(&found, &again), "what was compared lately is remembered");
    }

    #[test]
    fn a_snapshot_that_is_gone_has_no_movers() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Kept::open(folder.path());
        let old = kept.keep(&published(false), None, 1_000).unwrap();
        kept.delete(&SnapshotName::new(&old.name).unwrap());
        assert!(Movers::default().since(&kept, &old, &published(true), 9).unwrap().is_none());
    }
}
