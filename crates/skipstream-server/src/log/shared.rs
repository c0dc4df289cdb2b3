//! What the log's threads tell each other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

use super::bell::Bell;
use super::store::Contents;
use crate::error::{Error, Result};

/// When to try again where the queue is full: about the time in which some megabytes are learned.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// What the log's threads tell each other.
#[derive(Debug)]
pub(super) struct Shared {
    /// The last line that is safe on disk.
    pub last: AtomicU64,
    /// The last line that the learner has taken.
    pub taken: AtomicU64,
    /// Bytes of text that the learner has not taken, those that are still on their way to the disk included.
    waiting_bytes: AtomicU64,
    /// Bytes of text on disk.
    pub kept_bytes: AtomicU64,
    /// Lines up to this one may be deleted.
    pub forget_through: AtomicU64,
    /// Bytes that may wait.
    limit: u64,
    /// Rung when there is text.
    pub bell: Bell,
    /// Told when there is room, or when there will be none.
    pub room: Notify,
    /// The service is coming to an end: nobody should wait for room.
    pub is_stopping: AtomicBool,
    /// Models cannot be saved, so that nothing is forgotten.
    pub is_saving_failing: AtomicBool,
}

impl Shared {
    pub fn new(contents: Contents, limit: u64) -> Shared {
        Shared {
            last: AtomicU64::new(contents.last),
            taken: AtomicU64::new(contents.first - 1),
            waiting_bytes: AtomicU64::new(contents.bytes),
            kept_bytes: AtomicU64::new(contents.bytes),
            forget_through: AtomicU64::new(0),
            limit,
            bell: Bell::default(),
            room: Notify::new(),
            is_stopping: AtomicBool::new(false),
            is_saving_failing: AtomicBool::new(false),
        }
    }

    pub fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes.load(Ordering::Relaxed)
    }

    /// Takes room in the queue. A chunk that is larger than the whole queue finds room when it is empty. While models cannot
    /// be saved, as much as may wait may also be learned and stay, and no more.
    pub fn take_room(&self, bytes: u64) -> Result<()> {
        let learned = self.kept_bytes.load(Ordering::Relaxed).saturating_sub(self.waiting_bytes());
        if learned > self.limit && self.is_saving_failing.load(Ordering::Relaxed) {
            return Err(Error::DiskFull);
        }
        let with = |waiting: u64| (waiting == 0 || waiting + bytes <= self.limit).then_some(waiting + bytes);
        match self.waiting_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, with) {
            Ok(_) => Ok(()),
            Err(waiting) => Err(Error::QueueFull { waiting, limit: self.limit, retry_after: RETRY_AFTER }),
        }
    }

    /// Gives room in the queue back: the text was learned, or was not logged.
    pub fn give_back(&self, bytes: u64) {
        self.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.room.notify_waiters();
    }
}
