//! State that the log's threads share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::Notify;

use super::controls::{LoggedControls, WaitingControls};
use super::store::Contents;
use crate::error::{Error, Result};

#[derive(Debug)]
pub(super) struct Shared {
    pub last: AtomicU64,
    /// The last line that the learner has read.
    pub taken: AtomicU64,
    /// Bytes that the learner has not read, including those not yet on disk.
    waiting_bytes: AtomicU64,
    /// Bytes on disk.
    pub kept_bytes: AtomicU64,
    /// Lines up to this one may be deleted.
    pub forget_through: AtomicU64,
    /// Controls up to this number may be deleted.
    pub forget_controls: AtomicU64,
    /// Controls that are not in effect yet.
    pub controls: WaitingControls,
    /// Capacity of the queue in bytes.
    limit: u64,
    /// Notified when there is news for the learner.
    pub news: Notify,
    /// Notified when space is released.
    pub space: Notify,
    /// Checkpoints fail, so nothing is deleted.
    pub is_saving_failing: AtomicBool,
}

impl Shared {
    pub fn new(contents: Contents, controls: Vec<LoggedControls>, limit: u64) -> Shared {
        Shared {
            last: AtomicU64::new(contents.last),
            taken: AtomicU64::new(contents.first - 1),
            waiting_bytes: AtomicU64::new(contents.bytes),
            kept_bytes: AtomicU64::new(contents.bytes),
            forget_through: AtomicU64::new(0),
            forget_controls: AtomicU64::new(0),
            controls: WaitingControls::new(controls),
            limit,
            news: Notify::new(),
            space: Notify::new(),
            is_saving_failing: AtomicBool::new(false),
        }
    }

    pub fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes.load(Ordering::Relaxed)
    }

    /// Reserves space in the queue. A chunk larger than the whole queue fits when the queue is empty. While checkpoints
    /// fail, at most another `limit` bytes of learned text may stay on disk.
    pub fn reserve(&self, bytes: u64) -> Result<Reservation<'_>> {
        let learned = self.kept_bytes.load(Ordering::Relaxed).saturating_sub(self.waiting_bytes());
        if bytes > 0 && learned > self.limit && self.is_saving_failing.load(Ordering::Relaxed) {
            return Err(Error::DiskFull);
        }
        let with = |waiting: u64| {
            (bytes == 0 || waiting == 0 || waiting + bytes <= self.limit).then_some(waiting + bytes)
        };
        match self.waiting_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, with) {
            Ok(_) => Ok(Reservation { shared: self, bytes }),
            Err(waiting) => Err(Error::QueueFull { waiting, limit: self.limit }),
        }
    }

    /// Releases space in the queue: the text was learned, or could not be written.
    pub fn release(&self, bytes: u64) {
        self.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.space.notify_waiters();
    }
}

/// Space in the queue, released on drop unless the lines were handed to the writer.
pub(super) struct Reservation<'a> {
    shared: &'a Shared,
    bytes: u64,
}

impl Reservation<'_> {
    pub fn hand_over(mut self) {
        self.bytes = 0;
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.shared.release(self.bytes);
    }
}
