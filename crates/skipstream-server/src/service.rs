//! All parts together.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwap;
use tokio::sync::watch;

use crate::events::{Event, Events};
use crate::log::Log;
use crate::published::Published;
use crate::search::Desk;
use crate::settings::ServeSettings;
use crate::status::Status;

/// What all parts of the service share.
#[derive(Debug)]
pub struct Service {
    /// How it runs.
    pub settings: ServeSettings,
    /// The text.
    pub log: Log,
    /// Where questions about nearest words are asked.
    pub desk: Desk,
    /// What happens.
    pub events: Events,
    /// How learning goes.
    pub status: ArcSwap<Status>,
    published: ArcSwap<Published>,
    publications: watch::Sender<Arc<Published>>,
    stopping: AtomicBool,
}

impl Service {
    /// A service that starts with what is known.
    pub fn new(settings: ServeSettings, log: Log, first: Published) -> Arc<Service> {
        let first = Arc::new(first);
        Arc::new(Service {
            settings,
            log,
            desk: Desk::default(),
            events: Events::default(),
            status: ArcSwap::default(),
            published: ArcSwap::from(first.clone()),
            publications: watch::Sender::new(first),
            stopping: AtomicBool::new(false),
        })
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

    /// Asks all parts to come to an end.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        self.log.wake();
        self.events.close();
    }

    /// Whether the service is coming to an end.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }
}
