//! Lines → numbered lines on disk.
//!
//! The log is one SQLite file, `log.sqlite` in the folder of the service, in WAL mode with a sync for every transaction. It
//! is the queue as well: who learns reads lines back from it by their numbers, the same way after a restart as before.
//! SQLite was chosen over files of our own because it already does what those would have to: transactions over several
//! things (lines, their numbers, the keys of requests, the positions of sources), recovery from a crash at any moment,
//! reading while writing, and room that is used again.
//!
//! `chunk.rs` has the lines that go in, `sending.rs` a request that sends them and its key (`key.rs`), `writer.rs` the one
//! thread that writes, `store.rs` the file, `reader.rs` the way back out.
//!
//! Invariant: what was accepted has a number, is on disk, and stays until [`Log::forget`] says that a model on disk has it.
//! Numbers are dense, begin at 1 and never begin again.
//!
//! The size of the file is bounded: text waits within the limit of the queue, and what is learned stays until the next
//! checkpoint, which is due at the latest when as much was learned as may wait; where it fails, text is refused until it works
//! again. Room that is free is used again; what is
//! free beyond 32 MiB is given back to the system.

mod bell;
mod chunk;
mod key;
mod reader;
mod sending;
mod shared;
mod store;
#[cfg(test)]
mod tests;
mod writer;

use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use jiff::Timestamp;
use skipstream::bytes::Lock;
use tokio::sync::{mpsc, oneshot};

pub use chunk::Chunk;
pub(crate) use chunk::from_microseconds;
pub use key::IdempotencyKey;
pub use reader::LogReader;
pub use sending::{Accepted, Sending};
pub use store::Logged;
pub use writer::SourcePosition;

use crate::error::{Error, Result};
use crate::published::Seq;
use key::{Earlier, KeyUpdate, OpenKeys};
use shared::Shared;
use store::Store;
use writer::{Entry, Request};

/// Requests that wait for the writing thread, at the most: with chunks of the usual size, a few megabytes.
const REQUESTS: usize = 32;

/// A file of this name holds room on the disk that a log needs to be opened: the database makes a small file for what its
/// connections share, and a service must start where the disk is full.
const SPARE: &str = ".spare";
const SPARE_BYTES: usize = 64 << 10;

/// The text that was accepted and is not in a checkpoint yet.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    /// The first line that was there when it was opened.
    first: Seq,
    shared: Arc<Shared>,
    open_keys: OpenKeys,
    /// Nothing once the log is being closed.
    requests: Option<mpsc::Sender<Request>>,
    writer: Option<JoinHandle<()>>,
    /// The folder is ours.
    _lock: Lock,
}

impl Log {
    /// Opens the log in a folder, or makes both. Another process that has the folder is an error.
    pub fn open(folder: &Path, queue_bytes: u64) -> Result<Log> {
        let data = |reason: String| Error::Data { path: folder.to_owned(), reason };
        fs::create_dir_all(folder).map_err(|error| data(error.to_string()))?;
        let lock = Lock::take(folder.join(".lock"))?;
        let lock = lock.ok_or_else(|| data("another process serves this folder".to_owned()))?;
        let path = folder.join("log.sqlite");
        let store = Store::open(&path).or_else(|error| match error {
            Error::DiskFull if fs::remove_file(folder.join(SPARE)).is_ok() => Store::open(&path),
            error => Err(error),
        })?;
        spare_room(folder);
        let contents = store.contents()?;
        let shared = Arc::new(Shared::new(contents, queue_bytes));
        let (requests, receiver) = mpsc::channel(REQUESTS);
        let writer = thread::Builder::new().name("log".to_owned()).spawn({
            let shared = shared.clone();
            move || writer::run(store, &shared, receiver)
        });
        let writer = writer.map_err(|error| data(format!("no thread for the log: {error}")))?;
        Ok(Log {
            path,
            first: contents.first,
            shared,
            open_keys: OpenKeys::default(),
            requests: Some(requests),
            writer: Some(writer),
            _lock: lock,
        })
    }

    /// Accepts lines: the answer is their numbers, and comes when they are safe on disk.
    pub async fn append(&self, chunk: Chunk) -> Result<RangeInclusive<Seq>> {
        chunk.assert_whole();
        let numbers = self.write(chunk, None, Duration::ZERO).await?;
        let (first, last) = numbers.expect("a chunk that is not empty has numbers");
        Ok(first..=last)
    }

    /// Begins to send the lines of a request, under a key if it has one.
    pub async fn send(&self, key: Option<IdempotencyKey>) -> Result<Sending<'_>> {
        Sending::begin(self, key).await
    }

    /// The last line that is safe on disk; 0 before the first.
    pub fn last(&self) -> Seq {
        self.shared.last.load(Ordering::Acquire)
    }

    /// The first line that is still there, or the next one; lines before it were forgotten when the log was opened.
    pub fn first(&self) -> Seq {
        self.first
    }

    /// Bytes of text, and of the times of lines, that wait to be learned.
    pub fn waiting_bytes(&self) -> u64 {
        self.shared.waiting_bytes()
    }

    /// Lines that wait to be learned.
    pub fn waiting_lines(&self) -> u64 {
        self.last().saturating_sub(self.shared.taken.load(Ordering::Relaxed))
    }

    /// Bytes of text and times on disk, those that are learned and not yet forgotten included.
    pub fn kept_bytes(&self) -> u64 {
        self.shared.kept_bytes.load(Ordering::Relaxed)
    }

    /// Reads from the line with this number on.
    pub fn reader(&self, next: Seq) -> Result<LogReader> {
        LogReader::new(Store::connect(&self.path)?, self.shared.clone(), next)
    }

    /// Lines up to this one are in a model on disk, and will not be read again: they go away in the background.
    pub fn forget(&self, through: Seq) {
        self.shared.forget_through.fetch_max(through, Ordering::AcqRel);
        if let Some(requests) = &self.requests {
            // Where there is no room for this, other requests are there, after which it is looked for as well.
            let _ = requests.try_send(Request::Tidy);
        }
    }

    /// Nobody learns any more: who waits for room is told so, and whoever waits for text is woken.
    pub fn stop(&self) {
        self.shared.is_stopping.store(true, Ordering::Release);
        self.shared.room.notify_waiters();
        self.wake();
    }

    /// Says whether models can be saved. While they cannot, what is learned stays on disk, and text is refused before it
    /// would take more room than it may.
    pub(crate) fn note_saving(&self, works: bool) {
        self.shared.is_saving_failing.store(!works, Ordering::Relaxed);
    }

    /// Wakes whoever waits for text.
    pub fn wake(&self) {
        self.shared.bell.ring();
    }

    /// How often somebody was to be woken: to be asked before looking whether there is something to do.
    pub fn rings(&self) -> u64 {
        self.shared.bell.rings()
    }

    /// Waits until there is more than at the time of `rings`, or until the time is over.
    pub fn wait(&self, rings: u64, time: Duration) {
        self.shared.bell.wait(rings, time);
    }

    /// Accepts lines of a source together with how far it was read, from a thread that may wait. The queue must have room
    /// now.
    pub fn append_from(&self, chunk: Chunk, source: Option<SourcePosition>) -> Result<()> {
        if !chunk.is_empty() {
            chunk.assert_whole();
            self.shared.take_room(chunk.weight() as u64)?;
        }
        let (answer, answered) = oneshot::channel();
        let entry = Entry { chunk, arrived: Timestamp::now(), key: None, source };
        let sent = self.requests()?.blocking_send(Request::Append { entry, answer });
        sent.map_err(|_| Error::Stopping)?;
        answered.blocking_recv().map_err(|_| Error::Stopping)?.map(|_| ())
    }

    /// How far a source was read when its last lines were accepted.
    pub fn source(&self, name: &str) -> Result<Option<String>> {
        Store::connect(&self.path)?.source(name)
    }

    /// Hands lines over to the writing thread once there is room for them.
    async fn write(
        &self,
        chunk: Chunk,
        key: Option<KeyUpdate>,
        patience: Duration,
    ) -> Result<Option<(Seq, Seq)>> {
        let bytes = chunk.weight() as u64;
        if bytes > 0 {
            self.find_room(bytes, patience).await?;
        }
        let (answer, answered) = oneshot::channel();
        let entry = Entry { chunk, arrived: Timestamp::now(), key, source: None };
        // Between taking the room and handing the lines over, the caller may go away.
        let room = Room { shared: &self.shared, bytes };
        let permit = self.requests()?.reserve().await.map_err(|_| Error::Stopping)?;
        permit.send(Request::Append { entry, answer });
        room.hand_over();
        answered.await.map_err(|_| Error::Stopping)?
    }

    async fn find_room(&self, bytes: u64, patience: Duration) -> Result<()> {
        let until = tokio::time::Instant::now() + patience;
        loop {
            // Listens before it looks, so that no room is missed.
            let mut room = std::pin::pin!(self.shared.room.notified());
            room.as_mut().enable();
            let full = match self.shared.take_room(bytes) {
                Err(full @ Error::QueueFull { .. }) => full,
                taken => return taken,
            };
            if self.shared.is_stopping.load(Ordering::Acquire) {
                return Err(Error::Stopping);
            }
            if tokio::time::timeout_at(until, room).await.is_err() {
                return Err(full);
            }
        }
    }

    /// What was logged under a key, all that is still on its way included.
    async fn earlier(&self, key: IdempotencyKey) -> Result<Option<Earlier>> {
        let (answer, answered) = oneshot::channel();
        let sent = self.requests()?.send(Request::Key { key, answer }).await;
        sent.map_err(|_| Error::Stopping)?;
        answered.await.map_err(|_| Error::Stopping)?
    }

    fn requests(&self) -> Result<&mpsc::Sender<Request>> {
        self.requests.as_ref().ok_or(Error::Stopping)
    }
}

/// Everything that was handed over is written before the log is closed.
impl Drop for Log {
    fn drop(&mut self) {
        self.requests = None;
        if let Some(writer) = self.writer.take()
            && writer.join().is_err()
        {
            tracing::error!("the thread of the log has panicked");
        }
        if let Some(folder) = self.path.parent() {
            spare_room(folder);
        }
    }
}

/// Puts room by for the next start, if there is none yet. Where the disk is full, that is done another time.
fn spare_room(folder: &Path) {
    let path = folder.join(SPARE);
    if fs::metadata(&path).is_ok_and(|file| file.len() == SPARE_BYTES as u64) {
        return;
    }
    let _ = fs::write(path, [0; SPARE_BYTES]);
}

/// Room in the queue, which is given back if the lines are not handed over.
struct Room<'a> {
    shared: &'a Shared,
    bytes: u64,
}

impl Room<'_> {
    fn hand_over(mut self) {
        self.bytes = 0;
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        self.shared.give_back(self.bytes);
    }
}
