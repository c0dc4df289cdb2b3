//! The thread that looks at each published version: it reports words that entered and left the vocabulary, saves snapshots
//! on a schedule, and checks watched words.
//!
//! Invariant: nothing here delays training, publishing or queries.

mod vocabulary;

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use skipstream::eval::Movement;
use tokio::sync::watch;

use crate::change::{Comparison, SnapshotInfo, SnapshotName};
use crate::error::{Error, Result};
use crate::published::Published;
use crate::samples::MEASURE_EVERY;
use crate::service::Service;
use vocabulary::Known;

/// Delay before a failed snapshot is retried.
const RETRY_AFTER: SignedDuration = SignedDuration::from_secs(60);

/// Interval between checks of watched words; a check may take at most 1/50 of the time.
const WATCH_EVERY: Duration = Duration::from_secs(60);
const WATCH_SHARE: u32 = 50;

/// Neighbors to report for a word that moved.
const NEIGHBORS: usize = 10;

/// Starts a thread that reports changes of the vocabulary, saves snapshots on a schedule, and checks watched words. It ends
/// when the service stops.
pub fn start(service: Arc<Service>) -> Result<JoinHandle<()>> {
    let lifecycle = service.lifecycle.clone();
    let state = State::new(service);
    lifecycle.spawn_async("monitor", move || state.run())
}

/// The data of a `drift` event: a watched word moved.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct DriftAlert<'a> {
    #[serde(flatten)]
    movement: &'a Movement,
    /// The snapshot that it was compared with.
    since: &'a SnapshotName,
    /// The share of neighbors in common.
    overlap: f64,
    neighbors_before: Vec<String>,
    neighbors_after: Vec<String>,
}

struct State {
    service: Arc<Service>,
    publications: watch::Receiver<Arc<Published>>,
    known: Known,
    /// When the next snapshot is due.
    due: Timestamp,
    /// The last line of the last snapshot, so that no version is saved twice.
    saved_seq: Option<u64>,
    watch_due: Instant,
    measured_at: Option<Instant>,
    /// The snapshot that watched words are compared with, and the words reported since.
    reported: (Option<SnapshotName>, HashSet<String>),
}

impl State {
    fn new(service: Arc<Service>) -> State {
        let now = Timestamp::now();
        let newest = service.snapshots.newest_scheduled(now);
        State {
            publications: service.publications(),
            known: Known::new(&service.published()),
            due: after(newest.as_ref().map_or(now, |info| info.time), interval(&service)),
            saved_seq: newest.map(|info| info.seq),
            watch_due: Instant::now() + WATCH_EVERY,
            measured_at: None,
            reported: Default::default(),
            service,
        }
    }

    async fn run(mut self) {
        let service = self.service.clone();
        loop {
            // A snapshot or a measurement may be due even if nothing is published.
            let wait = tokio::time::timeout(MEASURE_EVERY, self.publications.changed());
            tokio::select! {
                biased;
                () = service.lifecycle.stopping() => return,
                _ = wait => {}
            }
            let reporting = service.reporting.lock().await;
            let published = self.publications.borrow_and_update().clone();
            self.look_at(&published, Timestamp::now());
            drop(reporting);
            if self.measured_at.is_none_or(|last| last.elapsed() >= MEASURE_EVERY) {
                self.measured_at = Some(Instant::now());
                service.samples.measure(&service);
            }
        }
    }

    fn look_at(&mut self, published: &Arc<Published>, now: Timestamp) {
        let mut forgotten = self.service.forgotten.lock().unwrap_or_else(PoisonError::into_inner);
        self.known.forget(&std::mem::take(&mut *forgotten));
        drop(forgotten);
        let (arrived, evicted) = self.known.follow(published);
        for (name, words) in [("arrived", arrived), ("evicted", evicted)] {
            words.inspect(|words| self.service.events.send(name, words));
        }
        if self.watch_due <= Instant::now() {
            let start = Instant::now();
            self.check_watched(published);
            self.watch_due = Instant::now() + WATCH_EVERY.max(start.elapsed() * WATCH_SHARE);
        }
        // If the clock was set back, the next snapshot is still due within the usual interval.
        self.due = self.due.min(after(now, interval(&self.service)));
        if self.due <= now && self.saved_seq != Some(published.seq) && !published.embeddings.is_empty() {
            self.due = after(now, self.save(published, now));
        }
    }

    /// Saves a snapshot; returns the time until the next attempt.
    fn save(&mut self, published: &Published, now: Timestamp) -> SignedDuration {
        let Service { settings, snapshots, events, .. } = &*self.service;
        match snapshots.save(published, None, settings.snapshot_words) {
            Ok(info) => {
                self.saved_seq = Some(info.seq);
                snapshots.delete_expired(now, settings.keep_recent, settings.keep_days);
                events.send("kept", &info);
            }
            // Two within a second: the first is enough.
            Err(Error::NameTaken(_)) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot save a snapshot");
                let message = format!("cannot save a snapshot: {}", error.without_path());
                events.send("problem", &serde_json::json!({ "message": message }));
                return RETRY_AFTER;
            }
        }
        interval(&self.service)
    }

    /// Reports each watched word that moved beyond chance since the last snapshot, once per snapshot.
    fn check_watched(&mut self, published: &Arc<Published>) {
        let Service { settings, snapshots, movers, watch, events, .. } = &*self.service;
        let words = watch.words();
        // Compare line numbers, since clocks may be wrong. A snapshot of this very version tells nothing.
        let older = snapshots.list().into_iter().filter(|info| info.seq < published.seq);
        let Some(old) = older.max_by_key(|info| info.seq) else { return };
        if words.is_empty() {
            return;
        }
        let comparison = match movers.since(snapshots, &old, published, settings.snapshot_words, &|| true) {
            Ok(Some(comparison)) => comparison,
            Ok(None) => return,
            Err(error) => return tracing::warn!(%error, "cannot compare watched words"),
        };
        if self.reported.0.as_ref() != Some(&old.name) {
            self.reported = (Some(old.name.clone()), HashSet::new());
        }
        for movement in &comparison.drift.movements {
            let moved = movement.above_floor && words.binary_search(&movement.word).is_ok();
            if moved && self.reported.1.insert(movement.word.clone()) {
                events.send("drift", &alert(&self.service, &old, published, &comparison, movement));
            }
        }
    }
}

fn alert<'a>(
    service: &Service,
    old: &'a SnapshotInfo,
    published: &Published,
    comparison: &Comparison,
    movement: &'a Movement,
) -> DriftAlert<'a> {
    let neighbors = |embeddings: &skipstream::Embeddings| -> Vec<String> {
        let found = embeddings.neighbors(&movement.word, NEIGHBORS).unwrap_or_default();
        found.iter().map(|neighbor| neighbor.word.to_owned()).collect()
    };
    let listed = comparison.drift.moved.iter().find(|moved| moved.movement.word == movement.word);
    let (before, after) = match listed {
        Some(moved) => (moved.neighbors_before.clone(), moved.neighbors_after.clone()),
        None => {
            let old = service.snapshots.embeddings(&old.name);
            (old.as_ref().map(neighbors).unwrap_or_default(), neighbors(&published.embeddings))
        }
    };
    let same = after.iter().filter(|word| before.contains(word)).count();
    DriftAlert {
        movement,
        since: &old.name,
        overlap: same as f64 / before.len().max(after.len()).max(1) as f64,
        neighbors_before: before,
        neighbors_after: after,
    }
}

fn interval(service: &Service) -> SignedDuration {
    SignedDuration::try_from(service.settings.snapshot_every).unwrap_or(SignedDuration::MAX)
}

fn after(time: Timestamp, wait: SignedDuration) -> Timestamp {
    time.saturating_add(wait).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests;
