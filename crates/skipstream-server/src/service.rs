//! State that all parts of the service share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwap;
use skipstream::Config;
use tokio::sync::watch;

use crate::change::{Movers, SnapshotStore, WatchList};
use crate::error::{Error, Result};
use crate::events::Events;
use crate::log::Log;
use crate::map::Maps;
use crate::metrics::Metrics;
use crate::published::{Published, PublishedInfo, Seq};
use crate::requests::LearnerRequests;
use crate::samples::{Samples, free_bytes};
use crate::search::SearchQueue;
use crate::settings::ServeSettings;
use crate::status::{Checkpoint, Status};

/// With less space than this on the disk, text may be refused at any moment.
const LEAST_FREE_BYTES: u64 = 1 << 20;

/// State that all parts of the service share.
#[derive(Debug)]
pub struct Service {
    /// The settings of the service.
    pub settings: ServeSettings,
    /// Accepted text.
    pub log: Log,
    /// The queue of neighbor queries.
    pub search: SearchQueue,
    /// Maps of words.
    pub maps: Maps,
    /// Snapshots.
    pub snapshots: SnapshotStore,
    /// Comparisons with snapshots.
    pub movers: Movers,
    /// Watched words.
    pub watch: WatchList,
    /// Events.
    pub events: Events,
    /// The state of training.
    pub status: ArcSwap<Status>,
    /// Measurements over time.
    pub samples: Samples,
    pub(crate) metrics: Metrics,
    /// Requests to the learner.
    pub(crate) requests: LearnerRequests,
    pub(crate) model: Config,
    pub(crate) memory_bound: u64,
    published: ArcSwap<Published>,
    publications: watch::Sender<Arc<Published>>,
    stopping: AtomicBool,
}

impl Service {
    /// A service that starts with a published version of a model with these settings.
    pub fn new(
        settings: ServeSettings,
        log: Log,
        first: Published,
        model: Config,
        memory_bound: u64,
    ) -> Arc<Service> {
        let first = Arc::new(first);
        let snapshots = SnapshotStore::open(&settings.data);
        let watch = WatchList::open(&settings.data, &settings.watch);
        Arc::new(Service {
            settings,
            log,
            search: SearchQueue::default(),
            maps: Maps::default(),
            snapshots,
            movers: Movers::default(),
            watch,
            events: Events::default(),
            status: ArcSwap::default(),
            samples: Samples::default(),
            metrics: Metrics::default(),
            requests: LearnerRequests::default(),
            model,
            memory_bound,
            published: ArcSwap::from(first.clone()),
            publications: watch::Sender::new(first),
            stopping: AtomicBool::new(false),
        })
    }

    /// The current version, which queries read.
    pub fn published(&self) -> Arc<Published> {
        self.published.load_full()
    }

    /// Publishes a version.
    pub fn publish(&self, published: Published) {
        let published = Arc::new(published);
        self.published.store(published.clone());
        self.events.send("published", &PublishedInfo::from(&*published));
        self.publications.send_replace(published);
    }

    /// Future versions. A slow receiver skips some.
    pub fn publications(&self) -> watch::Receiver<Arc<Published>> {
        self.publications.subscribe()
    }

    /// Waits until a published version contains a line. The caller sets a timeout: the line may not exist yet.
    pub async fn learned(&self, seq: Seq) -> Arc<Published> {
        let mut publications = self.publications();
        let _waiting = self.requests.wait_for_line(seq);
        self.log.wakeups().wake();
        let learned = publications.wait_for(|published| published.seq >= seq).await;
        learned.expect("the sender is a part of the service").clone()
    }

    /// Writes a checkpoint, at the latest after the current batch.
    pub async fn checkpoint(&self) -> Result<Checkpoint> {
        let answered = self.requests.request_checkpoint()?;
        self.log.wakeups().wake();
        answered.await.map_err(|_| Error::Stopping)?
    }

    /// Starts the shutdown.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        self.log.stop();
        self.events.close();
    }

    /// Whether the service can do its work: learn, and store text. The message names no path, because anyone may ask.
    pub fn check(&self) -> Result<()> {
        if self.is_stopping() {
            return Err(Error::Stopping);
        }
        if free_bytes(&self.settings.data).is_some_and(|free| free < LEAST_FREE_BYTES) {
            return Err(Error::DiskFull);
        }
        self.log.check().map_err(|error| Error::NotReady(error.without_path()))?;
        match &self.status.load().problem {
            Some(problem) => Err(Error::NotReady(problem.clone())),
            None => Ok(()),
        }
    }

    /// Whether the service is shutting down.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }
}
