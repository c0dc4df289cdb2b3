//! Reads the log.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::shared::Shared;
use super::store::{Logged, Store};
use crate::error::Result;
use crate::published::Seq;

/// Reads the log through a connection of its own. Lines that were read no longer count as waiting.
#[derive(Debug)]
pub struct LogReader {
    store: Store,
    shared: Arc<Shared>,
    next: Seq,
}

impl LogReader {
    pub(super) fn new(store: Store, shared: Arc<Shared>, next: Seq) -> Result<LogReader> {
        let taken = shared.taken.load(Ordering::Relaxed);
        shared.release(store.bytes_between(taken, next)?);
        shared.taken.store(taken.max(next.saturating_sub(1)), Ordering::Relaxed);
        Ok(LogReader { store, shared, next })
    }

    /// The next chunk, or `None` at the end of the log and at controls that are not in effect yet. The first chunk may start before the requested line.
    pub fn read(&mut self) -> Result<Option<Logged>> {
        if self.next > self.shared.last.load(Ordering::Acquire) {
            return Ok(None);
        }
        // Read after the last line, so that no controls before it are missed.
        if self.shared.controls.next_after().is_some_and(|after| self.next > after) {
            return Ok(None);
        }
        let logged = self.store.chunk_with(self.next)?;
        if let Some(Logged { first, chunk, weight, .. }) = &logged {
            self.next = first + chunk.lines() as u64;
            // A second reader releases nothing.
            if self.shared.taken.fetch_max(self.next - 1, Ordering::Relaxed) < self.next - 1 {
                self.shared.release(*weight);
            }
        }
        Ok(logged)
    }
}
