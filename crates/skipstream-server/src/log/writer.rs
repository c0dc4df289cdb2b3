//! The thread that writes the log.
//!
//! All waiting requests go into one transaction, so that concurrent uploads share one sync. A key is looked up only after
//! everything that was queued before it is on disk, including the lines of clients that have disconnected.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use jiff::Timestamp;
use skipstream::vocabulary::Control;
use tokio::sync::mpsc::error::TryRecvError::{Disconnected, Empty};
use tokio::sync::{mpsc, oneshot};

use super::Chunk;
use super::controls::{ControlAnswer, ControlId, LoggedControls};
use super::key::{Earlier, IdempotencyKey, KeyUpdate};
#[cfg(feature = "brokers")]
use super::outbox::OutboxChange;
use super::shared::Shared;
use super::store::Store;
use crate::error::{Error, Result};
use crate::forgotten::Forgotten;
use crate::lifecycle::{Lifecycle, Task};
use crate::published::Seq;

/// Approximate bytes of text per transaction.
const GROUP_BYTES: usize = 8 << 20;

/// Limits of the cleanup between two transactions: new text has priority.
const TIDY_CHUNKS: usize = 64;
const TIDY_PAGES: u64 = 1_024;

#[derive(Debug)]
pub(super) enum Request {
    /// Write lines. The answer, their numbers, is sent when they are on disk.
    Append {
        entry: Entry,
        answer: oneshot::Sender<Result<Option<(Seq, Seq)>>>,
    },
    /// Write controls that act after the last line. The second answer is for when they are in effect.
    Control {
        controls: Vec<Control>,
        logged: oneshot::Sender<Result<()>>,
        answer: ControlAnswer,
    },
    /// Delete all lines and controls up to these, and messages that name one of the words, and leave no trace of them in the
    /// files.
    Purge {
        through: Seq,
        controls: ControlId,
        forgotten: Forgotten,
        answer: oneshot::Sender<Result<()>>,
    },
    Key {
        key: IdempotencyKey,
        answer: oneshot::Sender<Result<Option<Earlier>>>,
    },
    /// Change the messages that wait for a broker. The answer is how many wait, and how many were dropped.
    #[cfg(feature = "brokers")]
    Outbox {
        change: OutboxChange,
        answer: oneshot::Sender<Result<Option<(u64, u64)>>>,
    },
    /// Check whether there is something to clean up.
    Tidy,
    /// Check whether the log can be written to, after it could not be.
    Probe,
}

/// What is written together.
#[derive(Debug)]
pub(super) struct Entry {
    /// The lines; may be empty if only a key or a position changes.
    pub chunk: Chunk,
    pub arrived: Timestamp,
    pub key: Option<KeyUpdate>,
    pub source: Option<SourcePosition>,
}

/// The position of a source after the lines that are logged with it.
#[derive(Clone, Debug)]
pub struct SourcePosition {
    pub name: String,
    /// The position, in the source's own format.
    pub position: String,
}

/// Handles requests until all senders are gone.
pub(super) fn run(
    store: Store,
    shared: &Arc<Shared>,
    lifecycle: &Lifecycle,
    mut requests: mpsc::Receiver<Request>,
) {
    let mut writer =
        Writer { store, shared, lifecycle, forgotten: 0, forgotten_controls: 0, is_loose: false };
    let mut untidy = true;
    loop {
        let received =
            if untidy { requests.try_recv() } else { requests.blocking_recv().ok_or(Disconnected) };
        let first = match received {
            Ok(request) => Some(request),
            Err(Empty) => None,
            Err(Disconnected) => return,
        };
        let mut bytes = first.as_ref().map_or(0, Request::bytes);
        let mut group = Vec::from_iter(first);
        while bytes < GROUP_BYTES
            && let Ok(request) = requests.try_recv()
        {
            bytes += request.bytes();
            group.push(request);
        }
        #[cfg(test)]
        lifecycle.die_if_doomed(crate::lifecycle::LOG);
        writer.serve(group);
        untidy = writer.tidy();
    }
}

struct Writer<'a> {
    store: Store,
    shared: &'a Shared,
    lifecycle: &'a Lifecycle,
    /// Lines up to this one are deleted.
    forgotten: Seq,
    /// Controls up to this number are deleted.
    forgotten_controls: ControlId,
    /// Whether something was deleted since the files were truncated.
    is_loose: bool,
}

impl Writer<'_> {
    /// Commits a group in one transaction. If that fails, commits each request on its own, so that one that does not fit
    /// cannot fail the others.
    fn serve(&mut self, group: Vec<Request>) {
        match self.commit(&group) {
            Ok(numbers) => group.into_iter().zip(numbers).for_each(|(one, n)| self.answer(one, Ok(n))),
            Err(_) => {
                for request in group {
                    let numbers = self.commit(std::slice::from_ref(&request)).map(|numbers| numbers[0]);
                    self.answer(request, numbers.map_err(|error| self.refuse(error)));
                }
            }
        }
    }

    /// The numbers of each request's new lines, or of controls and the line before them, or of messages, once everything is on
    /// disk.
    fn commit(&self, group: &[Request]) -> Result<Vec<Option<(Seq, Seq)>>> {
        let writes = |request: &Request| {
            !matches!(request, Request::Purge { .. } | Request::Key { .. } | Request::Tidy)
        };
        if !group.iter().any(writes) {
            return Ok(vec![None; group.len()]);
        }
        let append = |store: &Store| group.iter().map(|request| append(store, request)).collect();
        let numbers = self.store.transaction(append)?;
        self.lifecycle.set_problem(Task::Log, None);
        Ok(numbers)
    }

    /// The error for a client whose text could not be written. The service is not ready until a write succeeds.
    fn refuse(&self, error: Error) -> Error {
        tracing::error!(%error, "could not write to the log");
        let problem = format!("could not write to the log: {}", error.without_path());
        self.lifecycle.set_problem(Task::Log, Some(problem.clone()));
        match error {
            Error::DiskFull => Error::DiskFull,
            _ => Error::NotReady(problem),
        }
    }

    /// Updates the shared state and answers. The client may have disconnected.
    fn answer(&self, request: Request, numbers: Result<Option<(Seq, Seq)>>) {
        match request {
            Request::Append { entry, answer } => {
                let bytes = entry.chunk.weight() as u64;
                match &numbers {
                    Ok(Some((_, last))) => {
                        self.shared.kept_bytes.fetch_add(bytes, Ordering::Relaxed);
                        self.shared.last.store(*last, Ordering::Release);
                        self.shared.news.notify_one();
                    }
                    Ok(None) => {}
                    Err(_) => self.shared.release(bytes),
                }
                let _ = answer.send(numbers);
            }
            Request::Key { key, answer } => {
                drop(answer.send(self.store.key(&key).map_err(|error| self.refuse(error))));
            }
            Request::Control { controls, logged, answer } => {
                let sent = numbers.map(|numbers| {
                    let (id, after) = numbers.expect("controls get a number");
                    // Before any later line is announced.
                    self.shared.controls.push(LoggedControls { id, after, controls, answer: Some(answer) });
                    self.shared.news.notify_one();
                });
                let _ = logged.send(sent);
            }
            Request::Purge { through, controls, forgotten, answer } => {
                let _ = answer.send(self.purge(through, controls, &forgotten));
            }
            #[cfg(feature = "brokers")]
            Request::Outbox { answer, .. } => {
                let _ = answer.send(numbers);
            }
            Request::Tidy | Request::Probe => {}
        }
    }

    /// The entry of the controls stays, without the words, until the file is written again: after a crash, it says that this
    /// is still to be done.
    fn purge(&self, through: Seq, controls: ControlId, forgotten: &Forgotten) -> Result<()> {
        self.store.forget_messages(forgotten)?;
        let (_, bytes) = self.store.forget(through, usize::MAX >> 1)?;
        self.shared.kept_bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.store.empty_controls(controls)?;
        self.store.rewrite()?;
        self.store.forget_controls(controls)
    }

    /// Cleans up a little; returns whether there may be more. After a failure the file is only larger than necessary, and
    /// the next checkpoint tries again.
    fn tidy(&mut self) -> bool {
        self.tidy_some().unwrap_or_else(|error| {
            tracing::warn!(%error, "could not clean up the log");
            false
        })
    }

    fn tidy_some(&mut self) -> Result<bool> {
        let through = self.shared.forget_through.load(Ordering::Acquire);
        if through > self.forgotten {
            let (chunks, bytes) = self.store.forget(through, TIDY_CHUNKS)?;
            self.is_loose |= chunks > 0;
            self.shared.kept_bytes.fetch_sub(bytes, Ordering::Relaxed);
            if chunks < TIDY_CHUNKS {
                self.forgotten = through;
                self.store.forget_keys(Timestamp::now())?;
            }
            return Ok(true);
        }
        let controls = self.shared.forget_controls.load(Ordering::Acquire);
        if controls > self.forgotten_controls {
            self.store.forget_controls(controls)?;
            self.forgotten_controls = controls;
        }
        if self.store.shrink(TIDY_PAGES)? {
            self.is_loose = true;
            return Ok(true);
        }
        if self.is_loose {
            // If a reader is in the way, the next checkpoint tries again.
            self.is_loose = !self.store.truncate()?;
        }
        Ok(false)
    }
}

fn append(store: &Store, request: &Request) -> Result<Option<(Seq, Seq)>> {
    let Entry { chunk, arrived, key, source } = match request {
        Request::Append { entry, .. } => entry,
        Request::Control { controls, .. } => return store.append_controls(controls).map(Some),
        // The transaction itself writes.
        Request::Probe => return Ok(None),
        #[cfg(feature = "brokers")]
        Request::Outbox { change, .. } => {
            return match change {
                OutboxChange::Add(messages) => store.add_messages(messages).map(Some),
                OutboxChange::Delivered(through) => {
                    store.delete_messages(*through).map(|waiting| Some((waiting, 0)))
                }
            };
        }
        Request::Key { .. } | Request::Purge { .. } | Request::Tidy => return Ok(None),
    };
    let numbers = if chunk.is_empty() { None } else { Some(store.append(chunk, *arrived)?) };
    if let Some(update) = key {
        store.set_key(update, numbers, *arrived)?;
    }
    if let Some(SourcePosition { name, position }) = source {
        store.set_source(name, position)?;
    }
    Ok(numbers)
}

impl Request {
    fn bytes(&self) -> usize {
        match self {
            Request::Append { entry, .. } => entry.chunk.weight(),
            _ => 0,
        }
    }
}
