//! The thread that builds graphs of published versions.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use super::graph::{Graph, MIN_WORDS};
use crate::error::Result;
use crate::service::Service;
use crate::settings::Index;
use crate::threads;

/// The pause after building a graph, as a multiple of the time it took: building takes at most a fifth of a core, and newer
/// words are compared exactly.
const REST_TIMES: u32 = 4;

/// The minimum pause.
const SHORTEST_REST: Duration = Duration::from_secs(10);

/// Starts the thread if the index is `hnsw`. It ends when the service stops.
pub fn start(service: Arc<Service>) -> Result<Option<JoinHandle<()>>> {
    if service.settings.index != Index::Hnsw {
        return Ok(None);
    }
    threads::spawn_async("indexer", move || async move { run(&service).await }).map(Some)
}

async fn run(service: &Service) {
    let mut publications = service.publications();
    publications.mark_changed();
    loop {
        tokio::select! {
            biased;
            () = service.events.closed() => return,
            changed = publications.changed() => if changed.is_err() { return },
        }
        let published = publications.borrow_and_update().clone();
        if published.embeddings.len() < MIN_WORDS {
            continue;
        }
        let rest = match Graph::new(&published, || !service.is_stopping()) {
            Ok(Some(graph)) => {
                let took = graph.took;
                tracing::info!(words = published.embeddings.len(), ?took, "built an index of neighbors");
                service.search.use_graph(graph);
                took * REST_TIMES
            }
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, "searching all words instead");
                Duration::from_secs(60)
            }
        };
        // Do not keep vectors in memory that nothing else uses.
        drop(published);
        tokio::select! {
            biased;
            () = service.events.closed() => return,
            () = tokio::time::sleep(rest.max(SHORTEST_REST)) => {}
        }
    }
}
