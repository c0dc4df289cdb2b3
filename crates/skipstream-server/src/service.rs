//! All parts together.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use skipstream::Config;
use tokio::sync::watch;

use crate::change::{Kept, Movers, WatchList};
use crate::error::{Error, Result};
use crate::events::{Event, Events};
use crate::log::Log;
use crate::map::Atlas;
use crate::orders::Orders;
use crate::published::{Published, Seq};
use crate::search::Desk;
use crate::settings::ServeSettings;
use crate::status::{Checkpoint, Status};

/// What all parts of the service share.
#[derive(Debug)]
pub struct Service {
    /// How it runs.
    pub settings: ServeSettings,
    /// The text.
    pub log: Log,
    /// Where questions about nearest words are asked.
    pub desk: Desk,
    /// Maps of words.
    pub atlas: Atlas,
    /// What was kept.
    pub kept: Kept,
    /// What moved since.
    pub movers: Movers,
    /// Words whose movements are told.
    pub watch: WatchList,
    /// What happens.
    pub events: Events,
    /// How learning goes.
    pub status: ArcSwap<Status>,
    /// What the thread that learns is asked to do.
    pub(crate) orders: Orders,
    model: OnceLock<(Config, u64)>,
    published: ArcSwap<Published>,
    publications: watch::Sender<Arc<Published>>,
    stopping: AtomicBool,
}

impl Service {
    /// A service that starts with what is known.
    pub fn new(settings: ServeSettings, log: Log, first: Published) -> Arc<Service> {
        let first = Arc::new(first);
        let kept = Kept::open(&settings.data);
        let watch = WatchList::open(&settings.data, &settings.watch);
        Arc::new(Service {
            settings,
            log,
            desk: Desk::default(),
            atlas: Atlas::default(),
            kept,
            movers: Movers::default(),
            watch,
            events: Events::default(),
            status: ArcSwap::default(),
            orders: Orders::default(),
            model: OnceLock::new(),
            published: ArcSwap::from(first.clone()),
            publications: watch::Sender::new(first),
            stopping: AtomicBool::new(false),
        })
    }

    /// Says what the model is like, and how many bytes the service may take.
    ///
    /// # Panics
    /// If it was said before.
    pub fn describe(&self, model: &Config, memory_bound: u64) {
        let first_time = self.model.set((model.clone(), memory_bound)).is_ok();
        assert!(first_time, "the model stays the same");
    }

    /// The settings of the model; none before it is there.
    pub fn model(&self) -> Option<&Config> {
        self.model.get().map(|(model, _)| model)
    }

    /// Bytes that the service may take; none before the model is there.
    pub fn memory_bound(&self) -> Option<u64> {
        self.model.get().map(|&(_, bytes)| bytes)
    }

    /// What was published last.
    pub fn published(&self) -> Arc<Published> {
        self.published.load_full()
    }

    /// Publishes.
    pub fn publish(&self, published: Published) {
        let published = Arc::new(published);
        self.published.store(published.clone());
        self.events.tell(Event::from(&*published));
        self.publications.send_replace(published);
    }

    /// What is published from now on; some may be passed over.
    pub fn publications(&self) -> watch::Receiver<Arc<Published>> {
        self.publications.subscribe()
    }

    /// Waits until a line is learned and what came of it is published. It may be a line that was never logged: who asks sees
    /// to the time.
    pub async fn learned(&self, seq: Seq) -> Arc<Published> {
        let mut publications = self.publications();
        let _awaiting = self.orders.await_line(seq);
        self.log.wake();
        let learned = publications.wait_for(|published| published.seq >= seq).await;
        learned.expect("the sender is a part of the service").clone()
    }

    /// Saves the model now, or as soon as the batch in hand is learned.
    pub async fn checkpoint(&self) -> Result<Checkpoint> {
        let answered = self.orders.order_checkpoint()?;
        self.log.wake();
        answered.await.map_err(|_| Error::Stopping)?
    }

    /// Asks all parts to come to an end.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        self.log.stop();
        self.events.close();
    }

    /// Whether the service is coming to an end.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }
}
