//! State that all parts of the service share.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use skipstream::Config;
use skipstream::vocabulary::{Control, Controlled, Controls};
use tokio::sync::{oneshot, watch};

use crate::change::{Movers, SnapshotInfo, SnapshotName, SnapshotStore, WatchList};
use crate::error::{Error, Result};
use crate::events::Events;
use crate::forgotten::Forgotten;
use crate::lifecycle::Lifecycle;
use crate::log::Log;
use crate::map::Maps;
use crate::metrics::Metrics;
use crate::prose::Prose;
use crate::published::{Published, PublishedInfo, Seq};
use crate::requests::{LearnerRequest, LearnerRequests};
use crate::samples::{Samples, free_bytes};
use crate::search::SearchQueue;
use crate::settings::ServeSettings;
use crate::sink_status::Sink;
use crate::source_status::Sources;
use crate::status::{Checkpoint, RolledBack, Status};
use crate::subwords::Fitted;

/// With less space than this on the disk, text may be refused at any moment.
const LEAST_FREE_BYTES: u64 = 1 << 20;

/// A service that still learns the text from before its start is ready after this time: old answers are then better than none.
const LONGEST_CATCH_UP: Duration = Duration::from_secs(10 * 60);

/// State that all parts of the service share.
#[derive(Debug)]
pub struct Service {
    /// The settings of the service.
    pub settings: ServeSettings,
    /// Accepted text.
    pub log: Log,
    /// Whether the text looks like prose.
    pub(crate) prose: Prose,
    /// The queue of neighbor queries.
    pub search: SearchQueue,
    /// The table that estimates unknown words.
    pub subwords: Fitted,
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
    /// The words under control.
    pub controls: ArcSwap<Controls>,
    /// Held while words are reported as events or stored for a broker, and while words are forgotten: none of them may be
    /// reported from a version that still has it.
    pub(crate) reporting: tokio::sync::Mutex<()>,
    /// Forgotten words that the monitor must not report as evicted.
    pub(crate) forgotten: Mutex<Vec<String>>,
    /// The state of training.
    pub status: ArcSwap<Status>,
    /// The state of each broker that is read.
    pub sources: Sources,
    /// The state of the broker that gets events.
    pub sink: Sink,
    /// Measurements over time.
    pub samples: Samples,
    pub(crate) metrics: Metrics,
    pub(crate) lifecycle: Lifecycle,
    /// Requests to the learner.
    pub(crate) requests: LearnerRequests,
    pub(crate) model: Config,
    pub(crate) memory_bound: u64,
    /// The last line that was accepted before the start.
    backlog: Seq,
    published: ArcSwap<Published>,
    publications: watch::Sender<Arc<Published>>,
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
        let lifecycle = log.lifecycle().clone();
        let snapshots = SnapshotStore::open(&settings.data);
        let watch = WatchList::open(&settings.data, &settings.watch);
        let prose = if settings.text_is_chosen { Prose::default() } else { Prose::new(&model.text) };
        let backlog = log.last();
        Arc::new(Service {
            settings,
            prose,
            log,
            search: SearchQueue::new(&lifecycle),
            subwords: Fitted::default(),
            maps: Maps::default(),
            snapshots,
            movers: Movers::default(),
            watch,
            events: Events::new(&lifecycle),
            controls: ArcSwap::default(),
            reporting: tokio::sync::Mutex::default(),
            forgotten: Mutex::default(),
            status: ArcSwap::default(),
            sources: Sources::default(),
            sink: Sink::default(),
            samples: Samples::default(),
            metrics: Metrics::default(),
            lifecycle,
            requests: LearnerRequests::default(),
            model,
            memory_bound,
            backlog,
            published: ArcSwap::from(first.clone()),
            publications: watch::Sender::new(first),
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

    /// Carries out controls of words after the last line that was accepted, and returns what they did. They are published by
    /// then, and on disk.
    pub async fn control(&self, controls: Vec<Control>) -> Result<Vec<Controlled>> {
        self.check_text()?;
        self.log.control(controls).await
    }

    /// Forgets words in everything that is kept in memory only.
    pub(crate) fn forget_in_memory(&self, forgotten: &Forgotten) {
        if forgotten.words.is_empty() {
            return;
        }
        self.forgotten.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&forgotten.words);
        self.events.forget(forgotten);
        self.movers.clear();
        self.maps.clear();
        self.subwords.forget();
    }

    /// Future versions. A slow receiver skips some.
    pub fn publications(&self) -> watch::Receiver<Arc<Published>> {
        self.publications.subscribe()
    }

    /// Waits until a published version contains a line. The caller sets a timeout: the line may not exist yet.
    pub async fn learned(&self, seq: Seq) -> Arc<Published> {
        let mut publications = self.publications();
        let _waiting = self.requests.wait_for_line(seq);
        self.log.news().notify_one();
        let learned = publications.wait_for(|published| published.seq >= seq).await;
        learned.expect("the sender is a part of the service").clone()
    }

    /// Writes a checkpoint, at the latest after the current batch.
    pub async fn checkpoint(&self) -> Result<Checkpoint> {
        self.ask_learner(|answer| LearnerRequest::Checkpoint { answer }).await
    }

    /// Saves a snapshot with the state of training.
    pub async fn keep(&self, name: SnapshotName) -> Result<SnapshotInfo> {
        let through = self.log.last();
        self.ask_learner(|answer| LearnerRequest::Keep { name, through, answer }).await
    }

    /// Returns to the state of a snapshot, and skips all lines that were accepted since then.
    pub async fn roll_back(&self, name: SnapshotName) -> Result<RolledBack> {
        self.ask_learner(|answer| LearnerRequest::RollBack { name, answer }).await
    }

    async fn ask_learner<T>(
        &self,
        request: impl FnOnce(oneshot::Sender<Result<T>>) -> LearnerRequest,
    ) -> Result<T> {
        // The learner has closed its requests: it was stopped, has panicked, or cannot learn any more.
        let closed = || self.check_text().err().unwrap_or(Error::Stopping);
        let answered = self.requests.send(request).map_err(|_| closed())?;
        self.log.news().notify_one();
        answered.await.map_err(|_| closed())?
    }

    /// Starts to drain: from now on the service is not ready and accepts no new text, but answers queries.
    pub fn drain(&self) {
        self.lifecycle.drain();
    }

    /// Stops the service, after it was drained or at once.
    pub fn stop(&self) {
        self.lifecycle.stop();
    }

    /// Whether the service can do its work: answer from the text that it accepted before it started, learn, and store text. The
    /// message names no path, because anyone may ask.
    pub fn check(&self) -> Result<()> {
        if self.lifecycle.is_draining() {
            return Err(Error::Stopping);
        }
        if free_bytes(&self.settings.data).is_some_and(|free| free < LEAST_FREE_BYTES) {
            return Err(Error::DiskFull);
        }
        self.log.check().map_err(|error| Error::NotReady(error.without_path()))?;
        if let Some(problem) = self.problem() {
            self.log.probe();
            return Err(Error::NotReady(problem));
        }
        match self.catching_up() {
            Some(reason) if self.metrics.uptime() < LONGEST_CATCH_UP => Err(Error::NotReady(reason)),
            _ => Ok(()),
        }
    }

    /// What is missing in the published version of the text from before the start; `None` if nothing is.
    pub fn catching_up(&self) -> Option<String> {
        let learned = self.published().seq;
        let reason =
            || format!("learning the text from before the start: line {learned} of {}", self.backlog);
        (learned < self.backlog).then(reason)
    }

    /// Whether the service accepts new text: it is not shutting down, and can store and learn it.
    pub fn check_text(&self) -> Result<()> {
        self.lifecycle.check_text()
    }

    /// What keeps the service from storing, learning or saving, without paths.
    pub fn problem(&self) -> Option<String> {
        self.lifecycle.problem()
    }

    /// Whether the service is shutting down.
    pub fn is_stopping(&self) -> bool {
        self.lifecycle.is_stopping()
    }
}
