//! Reads the log from a line on, as far as it goes.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::shared::Shared;
use super::store::{Logged, Store};
use crate::error::Result;
use crate::published::Seq;

/// Reads the log from a line on, with a connection of its own. What was read counts as taken out of the queue.
#[derive(Debug)]
pub struct LogReader {
    store: Store,
    shared: Arc<Shared>,
    next: Seq,
}

impl LogReader {
    /// Reads from the line with this number on.
    pub(super) fn new(store: Store, shared: Arc<Shared>, next: Seq) -> Result<LogReader> {
        let taken = shared.taken.load(Ordering::Relaxed);
        shared.give_back(store.bytes_between(taken, next)?);
        shared.taken.store(taken.max(next.saturating_sub(1)), Ordering::Relaxed);
        Ok(LogReader { store, shared, next })
    }

    /// The next lines, as they were logged together, if there are any. The first time, lines that were logged together with
    /// the one at which reading begins may stand before it.
    pub fn read(&mut self) -> Result<Option<Logged>> {
        // Without asking the disk, which others need.
        if self.next > self.shared.last.load(Ordering::Acquire) {
            return Ok(None);
        }
        let logged = self.store.chunk_with(self.next)?;
        if let Some(Logged { first, chunk, weight, .. }) = &logged {
            self.next = first + chunk.lines() as u64;
            // What is read once more was taken out before.
            if self.shared.taken.fetch_max(self.next - 1, Ordering::Relaxed) < self.next - 1 {
                self.shared.give_back(*weight);
            }
        }
        Ok(logged)
    }
}
