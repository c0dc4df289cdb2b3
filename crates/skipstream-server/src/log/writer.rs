//! The one thread that writes the log.
//!
//! Everything that waits goes into one transaction, so that many senders share one sync of the disk. Requests are served in
//! the order in which they came: who asks for a key is told of all that was sent under it before, though its sender may have
//! gone away without hearing that it was logged.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot};

use super::Chunk;
use super::key::{Earlier, IdempotencyKey, KeyUpdate};
use super::shared::Shared;
use super::store::Store;
use crate::error::Result;
use crate::published::Seq;

/// Bytes of text that go into one transaction, about.
const GROUP_BYTES: usize = 8 << 20;

/// What is tidied up between two transactions, at the most: text goes first.
const TIDY_CHUNKS: usize = 64;
const TIDY_PAGES: u64 = 1_024;

/// What the thread is asked to do.
#[derive(Debug)]
pub(super) enum Request {
    /// Writes lines down. The answer is their numbers, and comes when they are safe.
    Append { entry: Entry, answer: oneshot::Sender<Result<Option<(Seq, Seq)>>> },
    /// Tells what was logged under a key.
    Key { key: IdempotencyKey, answer: oneshot::Sender<Result<Option<Earlier>>> },
    /// Looks whether there is something to tidy up.
    Tidy,
}

/// What is written down together.
#[derive(Debug)]
pub(super) struct Entry {
    /// The lines; none where only a key is completed or a source has moved.
    pub chunk: Chunk,
    pub arrived: Timestamp,
    pub key: Option<KeyUpdate>,
    pub source: Option<SourcePosition>,
}

/// How far a source was read when these lines were taken from it.
#[derive(Clone, Debug)]
pub struct SourcePosition {
    /// The source.
    pub name: String,
    /// The place behind the lines, in the source's own words.
    pub position: String,
}

/// What came of a request, before it is known to be safe.
enum Done {
    Numbers(Option<(Seq, Seq)>),
    Key(Option<Earlier>),
    Nothing,
}

/// Serves requests until nobody can send any.
pub(super) fn run(store: Store, shared: &Arc<Shared>, mut requests: mpsc::Receiver<Request>) {
    let mut writer = Writer { store, shared, forgotten: 0 };
    let mut untidy = true;
    loop {
        let first = if untidy {
            match requests.try_recv() {
                Ok(request) => Some(request),
                Err(mpsc::error::TryRecvError::Empty) => None,
                Err(mpsc::error::TryRecvError::Disconnected) => return,
            }
        } else {
            match requests.blocking_recv() {
                Some(request) => Some(request),
                None => return,
            }
        };
        let mut bytes = first.as_ref().map_or(0, Request::bytes);
        let mut group = Vec::from_iter(first);
        while bytes < GROUP_BYTES
            && let Ok(request) = requests.try_recv()
        {
            bytes += request.bytes();
            group.push(request);
        }
        writer.serve(group);
        untidy = writer.tidy();
    }
}

struct Writer<'a> {
    store: Store,
    shared: &'a Shared,
    /// Lines up to this one are gone.
    forgotten: Seq,
}

impl Writer<'_> {
    /// All requests in one transaction; where that fails, each in its own, so that each has its own answer, and a large one
    /// that does not fit does not take small ones with it.
    fn serve(&mut self, group: Vec<Request>) {
        if group.iter().all(|request| matches!(request, Request::Tidy)) {
            return;
        }
        match self.commit(&group) {
            Ok(done) => {
                for (request, done) in group.into_iter().zip(done) {
                    self.answer(request, Ok(done));
                }
            }
            Err(_) => {
                for request in group {
                    let done = self.commit(std::slice::from_ref(&request));
                    let done = done.map(|mut done| done.pop().expect("one request has one outcome"));
                    self.answer(request, done);
                }
            }
        }
        self.shared.bell.ring();
    }

    /// What came of each request, once all of it is safe.
    fn commit(&self, group: &[Request]) -> Result<Vec<Done>> {
        self.store.transaction(|store| group.iter().map(|request| serve_one(store, request)).collect())
    }

    /// Takes note of what is on disk, and tells who asked. They may have gone away.
    fn answer(&self, request: Request, done: Result<Done>) {
        match (request, done) {
            (Request::Append { entry, answer }, Ok(Done::Numbers(numbers))) => {
                if let Some((_, last)) = numbers {
                    self.shared.kept_bytes.fetch_add(entry.chunk.weight() as u64, Ordering::Relaxed);
                    self.shared.last.store(last, Ordering::Release);
                }
                let _ = answer.send(Ok(numbers));
            }
            (Request::Append { entry, answer }, Err(error)) => {
                self.shared.give_back(entry.chunk.weight() as u64);
                let _ = answer.send(Err(error));
            }
            (Request::Key { answer, .. }, Ok(Done::Key(earlier))) => drop(answer.send(Ok(earlier))),
            (Request::Key { answer, .. }, Err(error)) => drop(answer.send(Err(error))),
            (Request::Tidy, _) => {}
            (Request::Append { .. } | Request::Key { .. }, Ok(_)) => {
                unreachable!("each kind of request has its own kind of outcome")
            }
        }
    }

    /// Does a part of what can be tidied up; whether there may be more. What fails is tried again when more is to be
    /// forgotten: until then the file is only larger than it must be.
    fn tidy(&mut self) -> bool {
        let tidied = self.tidy_some();
        tidied.unwrap_or_else(|error| {
            tracing::warn!(%error, "the log could not be tidied up");
            false
        })
    }

    fn tidy_some(&mut self) -> Result<bool> {
        let through = self.shared.forget_through.load(Ordering::Acquire);
        if through > self.forgotten {
            let (chunks, bytes) = self.store.forget(through, TIDY_CHUNKS)?;
            self.shared.kept_bytes.fetch_sub(bytes, Ordering::Relaxed);
            if chunks < TIDY_CHUNKS {
                self.forgotten = through;
                self.store.forget_keys(Timestamp::now())?;
            }
            return Ok(true);
        }
        self.store.shrink(TIDY_PAGES)
    }
}

fn serve_one(store: &Store, request: &Request) -> Result<Done> {
    match request {
        Request::Append { entry, .. } => {
            let Entry { chunk, arrived, key, source } = entry;
            let numbers = if chunk.is_empty() { None } else { Some(store.append(chunk, *arrived)?) };
            if let Some(update) = key {
                store.set_key(update, numbers, *arrived)?;
            }
            if let Some(SourcePosition { name, position }) = source {
                store.set_source(name, position)?;
            }
            Ok(Done::Numbers(numbers))
        }
        Request::Key { key, .. } => store.key(key).map(Done::Key),
        Request::Tidy => Ok(Done::Nothing),
    }
}

impl Request {
    fn bytes(&self) -> usize {
        match self {
            Request::Append { entry, .. } => entry.chunk.weight(),
            Request::Key { .. } | Request::Tidy => 0,
        }
    }
}
