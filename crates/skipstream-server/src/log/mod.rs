//! Numbers lines and stores them on disk.
//!
//! The log is one SQLite file, `log.sqlite` in the data folder, in WAL mode with a sync per transaction. It is also the
//! queue: the learner reads lines back by number, before and after a restart alike. SQLite provides what files of our own
//! would have to: transactions over lines, keys and source positions, crash recovery, and reuse of free space.
//!
//! `chunk.rs` holds lines, `upload.rs` is a request that sends them under a key (`key.rs`), `writer.rs` is the writing
//! thread, `store.rs` the file, `mark.rs` what was committed last, `reader.rs` reads lines back, `controls.rs` has controls
//! of words, which act after the lines that were logged before them, and `outbox.rs` messages that a broker does not have
//! yet.
//!
//! Invariant: an accepted line has a number, is on disk, and stays there until [`Log::forget`] says that a checkpoint
//! contains it. Numbers are dense, start at 1 and are never reused.
//!
//! The file is bounded: waiting text by the limit of the queue, and learned text by the next checkpoint, which is due at
//! the latest when as much was learned as may wait. If checkpoints fail, new text is rejected. Free space beyond 32 MiB is
//! returned to the system.

mod chunk;
mod controls;
mod files;
mod key;
mod mark;
#[cfg(feature = "brokers")]
mod outbox;
mod reader;
mod shared;
mod store;
#[cfg(test)]
mod tests;
mod upload;
mod writer;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use jiff::Timestamp;
use skipstream::unstable::{Lock, create_folder};
use skipstream::vocabulary::{Control, Controlled};
use tokio::sync::{Notify, mpsc, oneshot};

pub use chunk::Chunk;
pub(crate) use chunk::from_microseconds;
pub use controls::{ControlId, LoggedControls};
pub use key::IdempotencyKey;
#[cfg(feature = "brokers")]
pub use outbox::{Message, Outbox};
pub use reader::LogReader;
pub use store::Logged;
pub use upload::{Accepted, Upload};
pub use writer::SourcePosition;

use crate::error::{Error, Result};
use crate::forgotten::Forgotten;
use crate::lifecycle::{LEARNER, LOG, Lifecycle};
use crate::published::Seq;
use files::LogFiles;
use key::{Earlier, KeyUpdate, OpenKeys};
use shared::{Reservation, Shared};
use store::Store;
use writer::{Entry, Request};

/// Capacity of the channel to the writer: with chunks of the usual size, a few megabytes.
const REQUESTS: usize = 32;

/// The database.
const FILE: &str = "log.sqlite";

/// A file that reserves disk space. SQLite needs a little to open the log, and the service must start on a full disk.
const SPARE: &str = ".spare";
const SPARE_BYTES: usize = 64 << 10;

/// Accepted text that is not in a checkpoint yet.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    files: LogFiles,
    /// The first line when the log was opened.
    first: Seq,
    shared: Arc<Shared>,
    lifecycle: Lifecycle,
    open_keys: OpenKeys,
    /// `None` while the log is closing.
    requests: Option<mpsc::Sender<Request>>,
    writer: Option<JoinHandle<()>>,
    /// Excludes other processes from the folder.
    _lock: Lock,
}

impl Log {
    /// Opens the log in a folder, or creates both. Fails if another process uses the folder. It is the first part of a
    /// service to be opened, and the last to be closed, so it has the service's lifecycle.
    ///
    /// A log that has lost acknowledged lines is refused.
    pub fn open(folder: &Path, queue_bytes: u64) -> Result<Log> {
        Log::open_accepting(folder, queue_bytes, None)
    }

    /// The same, but the log may have lost lines up to `accepted_loss`.
    pub fn open_accepting(folder: &Path, queue_bytes: u64, accepted_loss: Option<Seq>) -> Result<Log> {
        let data = |reason: String| Error::Data { path: folder.to_owned(), reason };
        create_folder(folder)?;
        // The lock of the model, so that `train` and `rollback` leave it alone.
        let lock = Lock::take(folder.join(".model.safetensors.lock"))?;
        let lock = lock.ok_or_else(|| data("another process is using this folder".to_owned()))?;
        let path = folder.join(FILE);
        let open = || Store::open(&path, accepted_loss);
        let store = open().or_else(|error| match error {
            Error::DiskFull if fs::remove_file(folder.join(SPARE)).is_ok() => open(),
            Error::LogFile(error) => Err(Error::Data { path: path.clone(), reason: error.to_string() }),
            error => Err(error),
        })?;
        reserve_space(folder);
        let (contents, files) = (store.contents()?, store.files().clone());
        let shared = Arc::new(Shared::new(contents, store.controls()?, queue_bytes));
        let (requests, receiver) = mpsc::channel(REQUESTS);
        let lifecycle = Lifecycle::default();
        let writer = lifecycle.spawn(LOG, {
            let (shared, lifecycle) = (shared.clone(), lifecycle.clone());
            move || writer::run(store, &shared, &lifecycle, receiver)
        })?;
        Ok(Log {
            path,
            files,
            first: contents.first,
            shared,
            lifecycle,
            open_keys: OpenKeys::default(),
            requests: Some(requests),
            writer: Some(writer),
            _lock: lock,
        })
    }

    /// Starts an upload, with an idempotency key if the client sent one.
    pub async fn upload(&self, key: Option<IdempotencyKey>) -> Result<Upload<'_>> {
        Upload::begin(self, key).await
    }

    /// The last line on disk; 0 before the first.
    pub fn last(&self) -> Seq {
        self.shared.last.load(Ordering::Acquire)
    }

    /// The first line that the log held when it was opened, or the next number.
    pub fn first(&self) -> Seq {
        self.first
    }

    /// Bytes of text and times that wait to be learned.
    pub fn waiting_bytes(&self) -> u64 {
        self.shared.waiting_bytes()
    }

    /// Lines that wait to be learned.
    pub fn waiting_lines(&self) -> u64 {
        self.last().saturating_sub(self.shared.taken.load(Ordering::Relaxed))
    }

    /// Bytes of text and times on disk, including learned text that is not deleted yet.
    pub fn kept_bytes(&self) -> u64 {
        self.shared.kept_bytes.load(Ordering::Relaxed)
    }

    /// Reads from the line with this number.
    pub fn reader(&self, next: Seq) -> Result<LogReader> {
        LogReader::new(Store::connect(&self.files)?, self.shared.clone(), next)
    }

    /// Deletes lines up to this one in the background: a checkpoint contains them.
    pub fn forget(&self, through: Seq) {
        self.shared.forget_through.fetch_max(through, Ordering::AcqRel);
        if let Some(requests) = &self.requests {
            // If the channel is full, the requests in it cause a cleanup as well.
            let _ = requests.try_send(Request::Tidy);
        }
    }

    /// Logs controls of words, and returns what they did once the learner has carried them out. They are on disk before
    /// that: if the service stops first, the next start carries them out.
    pub async fn control(&self, controls: Vec<Control>) -> Result<Vec<Controlled>> {
        let (logged, is_logged) = oneshot::channel();
        let (answer, answered) = oneshot::channel();
        let sent = self.requests()?.send(Request::Control { controls, logged, answer }).await;
        sent.map_err(|_| self.lifecycle.gone(LOG))?;
        is_logged.await.map_err(|_| self.lifecycle.gone(LOG))??;
        tokio::select! {
            biased;
            done = answered => done.map_err(|_| self.lifecycle.gone(LEARNER))?,
            () = self.lifecycle.stopping() => Err(Error::Stopping),
        }
    }

    /// The next controls, if all lines before them are among those up to this one. Reading continues after them.
    pub(crate) fn take_controls(&self, through: Seq) -> Option<LoggedControls> {
        self.shared.controls.take(through)
    }

    /// Puts controls back that could not be carried out now.
    pub(crate) fn put_back(&self, controls: LoggedControls) {
        self.shared.controls.put_back(controls);
    }

    /// Deletes controls up to this one in the background: a checkpoint contains them.
    pub(crate) fn forget_controls(&self, through: ControlId) {
        self.shared.forget_controls.fetch_max(through, Ordering::AcqRel);
    }

    /// Deletes lines and controls up to these, and messages for a broker that name one of the words. Returns when there is no
    /// trace of them in the files.
    pub(crate) fn purge(&self, through: Seq, controls: ControlId, forgotten: Forgotten) -> Result<()> {
        let (answer, answered) = oneshot::channel();
        let sent = self.requests()?.blocking_send(Request::Purge { through, controls, forgotten, answer });
        sent.map_err(|_| self.lifecycle.gone(LOG))?;
        answered.blocking_recv().map_err(|_| self.lifecycle.gone(LOG))?
    }

    /// Tries to write, after that has failed. If it succeeds, the problem is over: a service that is not ready gets no text with which
    /// it could find out.
    pub(crate) fn probe(&self) {
        if let Some(requests) = &self.requests {
            let _ = requests.try_send(Request::Probe);
        }
    }

    /// Checks that the files are still there, and not overwritten.
    pub(crate) fn check(&self) -> Result<()> {
        self.files.check()
    }

    /// The lifecycle of the service. When it stops, uploads that wait for space fail.
    pub fn lifecycle(&self) -> &Lifecycle {
        &self.lifecycle
    }

    /// Records whether checkpoints work. While they fail, learned text stays on disk and new text is limited.
    pub(crate) fn note_saving(&self, works: bool) {
        self.shared.is_saving_failing.store(!works, Ordering::Relaxed);
    }

    /// Wakes the learner, which waits for it. News that nobody waits for is kept.
    pub(crate) fn news(&self) -> &Notify {
        &self.shared.news
    }

    /// Accepts lines of a source together with its new position. Fails if the queue is full.
    pub async fn append_from(&self, chunk: Chunk, source: Option<SourcePosition>) -> Result<()> {
        self.write(chunk, None, source, Duration::ZERO).await.map(drop)
    }

    /// The saved position of a source.
    pub fn source(&self, name: &str) -> Result<Option<String>> {
        Store::connect(&self.files)?.source(name)
    }

    /// Hands lines to the writer once the queue has space for them.
    async fn write(
        &self,
        chunk: Chunk,
        key: Option<KeyUpdate>,
        source: Option<SourcePosition>,
        patience: Duration,
    ) -> Result<Option<(Seq, Seq)>> {
        assert!(chunk.is_whole(), "every line ends with a line feed, and all or none have a time");
        // Released if the caller goes away before the lines are handed over.
        let space = self.wait_for_space(chunk.weight() as u64, patience).await?;
        let (answer, answered) = oneshot::channel();
        let entry = Entry { chunk, arrived: Timestamp::now(), key, source };
        let permit = self.requests()?.reserve().await.map_err(|_| self.lifecycle.gone(LOG))?;
        permit.send(Request::Append { entry, answer });
        space.hand_over();
        answered.await.map_err(|_| self.lifecycle.gone(LOG))?
    }

    async fn wait_for_space(&self, bytes: u64, patience: Duration) -> Result<Reservation<'_>> {
        let until = tokio::time::Instant::now() + patience;
        loop {
            // Subscribe before checking, so that no notification is missed.
            let mut space = std::pin::pin!(self.shared.space.notified());
            space.as_mut().enable();
            let full = match self.shared.reserve(bytes) {
                Err(full @ Error::QueueFull { .. }) => full,
                reserved => return reserved,
            };
            tokio::select! {
                biased;
                () = self.lifecycle.stopping() => return Err(Error::Stopping),
                in_time = tokio::time::timeout_at(until, space) => in_time.map_err(|_| full)?,
            }
        }
    }

    /// What was logged under a key, including everything still in the channel.
    async fn earlier(&self, key: IdempotencyKey) -> Result<Option<Earlier>> {
        let (answer, answered) = oneshot::channel();
        let sent = self.requests()?.send(Request::Key { key, answer }).await;
        sent.map_err(|_| self.lifecycle.gone(LOG))?;
        answered.await.map_err(|_| self.lifecycle.gone(LOG))?
    }

    fn requests(&self) -> Result<&mpsc::Sender<Request>> {
        self.requests.as_ref().ok_or(Error::Stopping)
    }
}

/// Waits until everything in the channel is written.
impl Drop for Log {
    fn drop(&mut self) {
        self.lifecycle.stop();
        self.requests = None;
        if let Some(writer) = self.writer.take() {
            // A panic has been reported.
            let _ = writer.join();
        }
        if let Some(folder) = self.path.parent() {
            reserve_space(folder);
        }
    }
}

/// Writes the file that reserves space for the next start. On a full disk a later start does it.
fn reserve_space(folder: &Path) {
    let path = folder.join(SPARE);
    if fs::metadata(&path).is_ok_and(|file| file.len() == SPARE_BYTES as u64) {
        return;
    }
    let _ = fs::write(path, [0; SPARE_BYTES]);
}
