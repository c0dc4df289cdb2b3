//! The thread that builds graphs of published versions.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::graph::{Graph, MIN_WORDS};
use crate::error::{Error, Result};
use crate::service::Service;
use crate::settings::Index;

/// The pause after building a graph, as a multiple of the time it took: building takes at most a fifth of a core, and newer
/// words are compared exactly.
const REST_TIMES: u32 = 4;

/// The minimum pause.
const SHORTEST_REST: Duration = Duration::from_secs(10);

/// The thread that builds graphs, one after the other.
#[derive(Debug)]
pub struct Indexer {
    thread: JoinHandle<()>,
}

impl Indexer {
    /// Starts the thread if the index is `hnsw`. It ends when the service stops.
    pub fn start(service: Arc<Service>) -> Result<Option<Indexer>> {
        if service.settings.index != Index::Hnsw {
            return Ok(None);
        }
        let failed =
            |error: std::io::Error| Error::Failed(format!("cannot start the indexer thread: {error}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().map_err(failed)?;
        let thread = thread::Builder::new().name("indexer".to_owned());
        let thread = thread.spawn(move || runtime.block_on(run(&service))).map_err(failed)?;
        Ok(Some(Indexer { thread }))
    }

    /// Waits for its end, after [`Service::stop`].
    pub fn join(self) {
        // A panic there has already been printed.
        let _ = self.thread.join();
    }
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
