//! The thread that looks at what is published.

use std::collections::HashSet;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use skipstream::eval::Movement;

use super::kept::KeepError;
use super::movers::Comparison;
use super::name::SnapshotName;
use super::vocabulary::Known;
use crate::error::{Error, Result};
use crate::events::{DriftAlert, Event, KeptInfo};
use crate::published::Published;
use crate::service::Service;

/// What could not be kept is tried again after so long.
const RETRY_AFTER: Duration = Duration::from_secs(60);

/// Watched words are looked after so often, and at most a fiftieth of the time.
const WATCH_EVERY: Duration = Duration::from_secs(60);
const WATCH_SHARE: u32 = 50;

/// Nearest words that are told of a word that moved.
const NEIGHBORS: usize = 10;

/// A thread that tells which words came and left, keeps a snapshot now and then, and looks after watched words.
#[derive(Debug)]
pub struct Keeper {
    thread: JoinHandle<()>,
    /// Also looks at what is published.
    #[cfg(feature = "usearch")]
    indexer: Option<crate::search::Indexer>,
}

impl Keeper {
    /// Starts it. It ends when the service stops.
    pub fn start(service: Arc<Service>) -> Result<Keeper> {
        let failed = |reason: std::io::Error| Error::Data {
            path: service.settings.data.clone(),
            reason: format!("there is no thread that keeps snapshots: {reason}"),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().map_err(failed)?;
        let rounds = Rounds::new(service.clone());
        let thread = thread::Builder::new().name("keeper".to_owned());
        let thread = thread.spawn(move || runtime.block_on(rounds.run())).map_err(failed)?;
        Ok(Keeper {
            thread,
            #[cfg(feature = "usearch")]
            indexer: crate::search::Indexer::start(service)?,
        })
    }

    /// Waits for its end, after [`Service::stop`].
    pub fn join(self) {
        // A panic there was told by the panic itself.
        let _ = self.thread.join();
        #[cfg(feature = "usearch")]
        self.indexer.into_iter().for_each(crate::search::Indexer::join);
    }
}

/// What it does with each publication.
struct Rounds {
    service: Arc<Service>,
    known: Known,
    /// The next snapshot is due then.
    due: Timestamp,
    /// The line up to which the last snapshot was, so that nothing is kept twice.
    kept_seq: Option<u64>,
    watch_due: Instant,
    /// The snapshot that watched words are compared with, and those that were told already.
    told: (String, HashSet<String>),
}

impl Rounds {
    fn new(service: Arc<Service>) -> Rounds {
        let published = service.published();
        let now = Timestamp::now();
        let newest = service.kept.newest_automatic(now);
        let every = every(&service);
        Rounds {
            known: Known::new(&published),
            due: newest
                .as_ref()
                .map_or(now, |info| info.time)
                .saturating_add(every)
                .unwrap_or(Timestamp::MAX),
            kept_seq: newest.map(|info| info.seq),
            watch_due: Instant::now() + WATCH_EVERY,
            told: Default::default(),
            service,
        }
    }

    async fn run(mut self) {
        let service = self.service.clone();
        let mut publications = service.publications();
        loop {
            // Also without new text, a snapshot may be due.
            let wait = tokio::time::timeout(Duration::from_secs(10), publications.changed());
            tokio::select! {
                biased;
                () = service.events.closed() => return,
                _ = wait => {}
            }
            let published = publications.borrow_and_update().clone();
            self.look_at(&published, Timestamp::now());
        }
    }

    fn look_at(&mut self, published: &Arc<Published>, now: Timestamp) {
        let (arrived, evicted) = self.known.follow(published);
        let events = &self.service.events;
        arrived
            .map(Event::Arrived)
            .into_iter()
            .chain(evicted.map(Event::Evicted))
            .for_each(|event| events.tell(event));
        if self.watch_due <= Instant::now() {
            let start = Instant::now();
            self.look_after_watched(published);
            self.watch_due = Instant::now() + WATCH_EVERY.max(start.elapsed() * WATCH_SHARE);
        }
        // A clock that was set back must not put off the next one for longer than usual.
        self.due = self.due.min(now.saturating_add(every(&self.service)).unwrap_or(Timestamp::MAX));
        if self.due <= now && self.kept_seq != Some(published.seq) && !published.embeddings.is_empty() {
            self.keep(published, now);
        }
    }

    fn keep(&mut self, published: &Published, now: Timestamp) {
        let Service { settings, kept, events, .. } = &*self.service;
        let wait = match kept.keep(published, None, settings.snapshot_words) {
            Ok(info) => {
                self.kept_seq = Some(info.seq);
                kept.thin(now, settings.keep_recent, settings.keep_days);
                events.tell(Event::Kept(info));
                every(&self.service)
            }
            // Two within a second: the first will do.
            Err(KeepError::NameTaken(_)) => every(&self.service),
            Err(error) => {
                let message = format!("a snapshot could not be kept: {error}");
                tracing::warn!("{message}");
                events.tell(Event::Problem { message });
                SignedDuration::try_from(RETRY_AFTER).unwrap_or(SignedDuration::MAX)
            }
        };
        self.due = now.saturating_add(wait).unwrap_or(Timestamp::MAX);
    }

    /// Tells of each watched word that moved beyond chance since the last kept snapshot, once.
    fn look_after_watched(&mut self, published: &Arc<Published>) {
        let Service { settings, kept, movers, watch, events, .. } = &*self.service;
        let words = watch.words();
        // The newest snapshot may be as new as what is published; nothing moved since.
        // Lines tell which is the newest, as clocks may be wrong.
        let older = kept.list().into_iter().filter(|info| info.seq < published.seq);
        let Some(old) = older.max_by_key(|info| info.seq) else { return };
        if words.is_empty() {
            return;
        }
        let comparison = match movers.since(kept, &old, published, settings.snapshot_words) {
            Ok(Some(comparison)) => comparison,
            Ok(None) => return,
            Err(error) => return tracing::warn!(%error, "watched words cannot be compared"),
        };
        if self.told.0 != old.name {
            self.told = (old.name.clone(), HashSet::new());
        }
        for movement in &comparison.drift.movements {
            let is_news = movement.above_floor && words.binary_search(&movement.word).is_ok();
            if is_news && self.told.1.insert(movement.word.clone()) {
                events.tell(Event::Drift(alert(&self.service, &old, published, &comparison, movement)));
            }
        }
    }
}

fn alert(
    service: &Service,
    old: &KeptInfo,
    published: &Published,
    comparison: &Comparison,
    movement: &Movement,
) -> DriftAlert {
    let neighbors = |embeddings: &skipstream::Embeddings| -> Vec<String> {
        let found = embeddings.neighbors(&movement.word, NEIGHBORS).unwrap_or_default();
        found.iter().map(|neighbor| neighbor.word.to_owned()).collect()
    };
    let listed = comparison.drift.moved.iter().find(|moved| moved.movement.word == movement.word);
    let (before, after) = match listed {
        Some(moved) => (moved.neighbors_before.clone(), moved.neighbors_after.clone()),
        None => {
            let old = SnapshotName::new(&old.name).and_then(|name| service.kept.embeddings(&name));
            (old.as_ref().map(neighbors).unwrap_or_default(), neighbors(&published.embeddings))
        }
    };
    let same = after.iter().filter(|word| before.contains(word)).count();
    DriftAlert {
        word: movement.word.clone(),
        cosine: movement.cosine,
        surprise: movement.surprise,
        since: old.name.clone(),
        overlap: same as f64 / before.len().max(after.len()).max(1) as f64,
        neighbors_before: before,
        neighbors_after: after,
    }
}

/// A snapshot is kept so often.
fn every(service: &Service) -> SignedDuration {
    SignedDuration::try_from(service.settings.snapshot_every).unwrap_or(SignedDuration::MAX)
}

#[cfg(test)]
mod tests;
