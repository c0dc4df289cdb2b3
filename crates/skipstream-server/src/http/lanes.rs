//! Where the work of a request is done, so that heavy work never delays light work.
//!
//! A lane is a few threads at a time, and a queue in which clients take turns. Work is cancelled when its
//! client disconnects or its timeout passes.

use std::net::IpAddr;
use std::panic;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::StatusCode;
use tokio::sync::oneshot;
use tokio::task;

use super::ApiError;
use super::memory::{Memory, Share};
use super::routes::{BodyLimit, Rules};
use crate::metrics::WorkCount;
use crate::settings::{HEAVY_REQUESTS, MEMORY_PER_JSON_BYTE, SHORT_BYTES};
use crate::turns::Turns;

/// How many short scans of the vocabulary run at a time: completions, suggestions, long JSON bodies.
const SCANS: usize = 2;

/// How many requests write files at a time.
const WRITES: usize = 2;

/// The lane of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// Microseconds: answered by the threads that serve connections.
    Inline,
    /// Milliseconds: a look at the whole vocabulary.
    Scan,
    /// A few queries, which share passes over the vectors with others: [`SearchQueue`](crate::search::SearchQueue).
    Search,
    /// Up to seconds of a core: batches, maps, comparisons.
    Cpu,
    /// Writes files.
    Disk,
    /// Waits, and does no work.
    Stream,
    /// Text that arrives.
    Upload,
    /// Vectors that are sent.
    Download,
}

impl Lane {
    pub fn name(self) -> &'static str {
        match self {
            Lane::Inline => "inline",
            Lane::Scan => "scan",
            Lane::Search => "search",
            Lane::Cpu => "cpu",
            Lane::Disk => "disk",
            Lane::Stream => "stream",
            Lane::Upload => "upload",
            Lane::Download => "download",
        }
    }
}

/// The threads of all lanes, and the memory that they share.
#[derive(Debug)]
pub struct Lanes {
    memory: Arc<Memory>,
    scan: Arc<Pool>,
    cpu: Arc<Pool>,
    disk: Arc<Pool>,
}

impl Lanes {
    pub fn new() -> Lanes {
        Lanes {
            memory: Arc::default(),
            scan: Pool::new(SCANS),
            cpu: Pool::new(HEAVY_REQUESTS),
            disk: Pool::new(WRITES),
        }
    }

    /// What is being worked on, for the metrics.
    pub fn counts(&self) -> [WorkCount; 3] {
        [(Lane::Scan, &self.scan), (Lane::Cpu, &self.cpu), (Lane::Disk, &self.disk)].map(|(lane, pool)| {
            let running = pool.turns - pool.lock().free;
            WorkCount { lane: lane.name(), running, cancelled: pool.cancelled.load(Ordering::Relaxed) }
        })
    }

    /// The work of a request that a client sent.
    pub fn work(&self, rules: &Rules, client: IpAddr) -> Work {
        let pool = match rules.lane {
            Lane::Cpu => &self.cpu,
            Lane::Disk => &self.disk,
            // The others do little themselves.
            _ => &self.scan,
        };
        let max_body = match rules.body {
            BodyLimit::Json(most) => most,
            BodyLimit::None | BodyLimit::Text => 0,
        };
        let share = self.memory.share(client, MEMORY_PER_JSON_BYTE * SHORT_BYTES);
        let (share, memory) = (Arc::new(Mutex::new(share)), self.memory.clone());
        Work { client, max_body, share, memory, pool: pool.clone(), scan: self.scan.clone() }
    }
}

/// The work of one request.
#[derive(Clone, Debug)]
pub struct Work {
    pub client: IpAddr,
    /// The largest JSON body, in bytes.
    pub max_body: usize,
    /// The memory of the request, until it is answered.
    share: Arc<Mutex<Share>>,
    memory: Arc<Memory>,
    pool: Arc<Pool>,
    scan: Arc<Pool>,
}

impl Work {
    /// Memory for the answer.
    pub fn answer(&self) -> Share {
        self.memory.answer(self.client)
    }

    /// Takes memory for the request, in addition to that of its answer.
    pub fn reserve(&self, bytes: usize) -> Result<(), ApiError> {
        self.share.lock().unwrap_or_else(PoisonError::into_inner).grow_to(bytes)
    }

    /// Does work in the lane of the route, when it is the client's turn.
    pub async fn run<T: Send + 'static>(&self, work: impl FnOnce(&Cancel) -> T + Send + 'static) -> T {
        self.turn().await.run(work).await
    }

    /// Waits for the client's turn in the lane of the route.
    pub async fn turn(&self) -> Turn {
        self.pool.turn(self.client).await
    }

    /// Does work of some milliseconds, which does not wait for heavy work.
    pub async fn scan<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        self.scan.turn(self.client).await.run(|_| work()).await
    }
}

/// Whether the client of some work still waits for it.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    is_cancelled: AtomicBool,
    /// The work has asked since then, and stops.
    is_noticed: AtomicBool,
}

impl Cancel {
    pub fn is_cancelled(&self) -> bool {
        let is_cancelled = self.0.is_cancelled.load(Ordering::Relaxed);
        if is_cancelled {
            self.0.is_noticed.store(true, Ordering::Relaxed);
        }
        is_cancelled
    }

    /// An error if the work was abandoned.
    pub fn check(&self) -> Result<(), ApiError> {
        if self.is_cancelled() { Err(Cancel::error()) } else { Ok(()) }
    }

    /// The error of abandoned work. Nobody sees it.
    pub fn error() -> ApiError {
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "cancelled", "nobody waits for this")
    }
}

/// Cancels when it is dropped.
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.0.is_cancelled.store(true, Ordering::Relaxed);
    }
}

/// A limited number of turns.
#[derive(Debug)]
struct Pool {
    turns: usize,
    state: Mutex<State>,
    /// How much work has stopped because it was cancelled.
    cancelled: AtomicU64,
}

#[derive(Debug)]
struct State {
    /// While some are free, nobody waits.
    free: usize,
    waiting: Turns<oneshot::Sender<Turn>>,
}

/// A turn. The next client's begins when all clones are dropped.
#[derive(Clone, Debug)]
pub struct Turn(Arc<Held>);

#[derive(Debug)]
struct Held(Arc<Pool>);

impl Pool {
    fn new(turns: usize) -> Arc<Pool> {
        let state = Mutex::new(State { free: turns, waiting: Turns::default() });
        Arc::new(Pool { turns, state, cancelled: AtomicU64::new(0) })
    }

    async fn turn(self: &Arc<Pool>, client: IpAddr) -> Turn {
        let given = {
            let mut state = self.lock();
            if state.free > 0 {
                state.free -= 1;
                return self.held();
            }
            let (give, given) = oneshot::channel();
            state.waiting.push(client, give);
            given
        };
        let mut waiting = Waiting { pool: self, given: Some(given) };
        let given = waiting.given.as_mut().expect("it is taken when this is dropped");
        let turn = given.await.expect("the pool drops no waiting client");
        waiting.given = None;
        turn
    }

    fn held(self: &Arc<Pool>) -> Turn {
        Turn(Arc::new(Held(self.clone())))
    }

    /// Gives a turn that has ended to the next client.
    fn pass_on(self: &Arc<Pool>) {
        let mut state = self.lock();
        match state.waiting.pop() {
            None => state.free += 1,
            Some((_, give)) => {
                drop(state);
                // If the client has just disconnected, the turn is dropped here, which passes it on again.
                let _ = give.send(self.held());
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.pass_on();
    }
}

/// A client in the queue. It leaves the queue when it disconnects.
struct Waiting<'a> {
    pool: &'a Pool,
    given: Option<oneshot::Receiver<Turn>>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.given.take().is_some() {
            self.pool.lock().waiting.retain(|give| !give.is_closed());
        }
    }
}

impl Turn {
    /// Does work on another thread than those that serve connections. Dropping the future cancels it; the turn ends with the
    /// work.
    pub async fn run<T: Send + 'static>(&self, work: impl FnOnce(&Cancel) -> T + Send + 'static) -> T {
        let (cancel, turn) = (Cancel::default(), self.clone());
        let _cancelling = CancelOnDrop(cancel.clone());
        let work = move || {
            let result = work(&cancel);
            if cancel.0.is_noticed.load(Ordering::Relaxed) {
                turn.0.0.cancelled.fetch_add(1, Ordering::Relaxed);
            }
            result
        };
        task::spawn_blocking(work).await.unwrap_or_else(|error| panic::resume_unwind(error.into_panic()))
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::Pin;
    use std::sync::mpsc;
    use std::task::Poll;

    use super::*;
    use crate::turns::testing::client;

    async fn is_pending(future: &mut Pin<Box<impl Future>>) -> bool {
        poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_pending())).await
    }

    #[tokio::test]
    async fn clients_take_turns() {
        let pool = Pool::new(1);
        let first = pool.turn(client(1)).await;
        let (order, ordered) = mpsc::channel();
        let mut tasks = Vec::new();
        for (number, name) in [(1, "a1"), (1, "a2"), (1, "a3"), (2, "b1")] {
            let (pool, order) = (pool.clone(), order.clone());
            tasks.push(tokio::spawn(async move {
                let _turn = pool.turn(client(number)).await;
                order.send(name).unwrap();
            }));
            tokio::task::yield_now().await;
        }
        drop(first);
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(ordered.try_iter().collect::<Vec<_>>(), ["a1", "b1", "a2", "a3"]);
        assert_eq!(pool.lock().free, 1);
    }

    #[tokio::test]
    async fn a_client_that_disconnects_leaves_the_queue_and_takes_no_turn() {
        let pool = Pool::new(1);
        let first = pool.turn(client(1)).await;
        let mut gone = Box::pin(pool.turn(client(1)));
        assert!(is_pending(&mut gone).await);
        let mut given = Box::pin(pool.turn(client(2)));
        assert!(is_pending(&mut given).await);
        drop(gone);
        assert_eq!(pool.lock().waiting.iter().count(), 1);
        drop(first);
        // It was given the turn, and disconnects before it can use it.
        drop(given);
        assert_eq!(pool.lock().free, 1);
    }

    #[tokio::test]
    async fn abandoned_work_is_cancelled_and_its_turn_ends_with_it() {
        let pool = Pool::new(1);
        let turn = pool.turn(client(1)).await;
        let (begin, begun) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let abandoned = tokio::spawn(async move {
            turn.run(move |cancel| {
                begin.send(()).unwrap();
                while !cancel.is_cancelled() {
                    std::thread::yield_now();
                }
                end.send(()).unwrap();
            })
            .await;
        });
        begun.await.unwrap();
        assert_eq!(pool.cancelled.load(Ordering::Relaxed), 0);
        abandoned.abort();
        ended.await.unwrap();
        pool.turn(client(2)).await;
        assert_eq!(pool.cancelled.load(Ordering::Relaxed), 1);
    }
}
