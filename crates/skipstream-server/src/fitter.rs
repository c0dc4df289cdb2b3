//! The thread that fits a table of n-grams to the published vectors, so that queries can be about unknown words.
//!
//! Queries use the last table, with the current version: between two fits, vectors move little. While a model is young they
//! move a lot, so a table is fitted again as soon as the text has doubled.
//!
//! Invariant: nothing here delays training, publishing or queries.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use skipstream::embeddings::{SubwordOptions, Subwords};

use crate::error::Result;
use crate::learn::yield_to_others;
use crate::service::Service;

/// Fits take at most a tenth of the time of a core. The next one begins after at least ten seconds.
const REST: u32 = 9;
const SHORTEST_REST: Duration = Duration::from_secs(10);

/// Starts the thread, if the settings ask for subwords. It ends when the service stops.
pub fn start(service: &Arc<Service>) -> Result<Option<JoinHandle<()>>> {
    let Some(options) = service.settings.subwords() else { return Ok(None) };
    let service = service.clone();
    service.lifecycle.clone().spawn_async("subwords", move || run(service, options)).map(Some)
}

async fn run(service: Arc<Service>, options: SubwordOptions) {
    yield_to_others();
    let mut publications = service.publications();
    publications.mark_changed();
    loop {
        tokio::select! {
            biased;
            () = service.lifecycle.stopping() => return,
            _ = publications.changed() => {}
        }
        let start = Instant::now();
        let published = service.published();
        if published.embeddings.is_empty() {
            continue;
        }
        let doubled = 2 * published.progress.tokens;
        fit(&service, &options).await;
        let rest = SHORTEST_REST.max(start.elapsed() * REST);
        tokio::select! {
            biased;
            () = service.lifecycle.stopping() => return,
            // There is no table now.
            () = service.subwords.forgot() => {}
            () = has_learned(&service, doubled) => {}
            () = tokio::time::sleep(rest) => {}
        }
    }
}

/// Waits until a version with this many tokens is published.
async fn has_learned(service: &Service, tokens: u64) {
    let mut publications = service.publications();
    while service.published().progress.tokens < tokens && publications.changed().await.is_ok() {}
}

/// Fits a table to the current version.
async fn fit(service: &Service, options: &SubwordOptions) {
    // While this is held, words are forgotten and the version without them is published.
    let reporting = service.reporting.lock().await;
    let (embeddings, forgotten) = (service.published().embeddings.clone(), service.subwords.forgotten());
    drop(reporting);
    match Subwords::fit(&embeddings, options, Some(1)) {
        Ok(table) => {
            let _reporting = service.reporting.lock().await;
            service.subwords.replace(table, forgotten);
        }
        Err(error) => tracing::error!(%error, "cannot fit subwords"),
    }
}
