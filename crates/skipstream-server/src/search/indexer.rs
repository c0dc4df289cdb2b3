//! The thread that makes graphs of what is published.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::graph::{Graph, MIN_WORDS};
use crate::error::{Error, Result};
use crate::service::Service;
use crate::settings::Index;

/// After a graph was made, so many times as long goes by before the next is begun: making them takes at most a fifth of a
/// core, and what it does not know is compared exactly.
const REST_TIMES: u32 = 4;

/// The next graph is begun at the earliest after so long.
const SHORTEST_REST: Duration = Duration::from_secs(10);

/// A thread that makes graphs, one after the other.
#[derive(Debug)]
pub struct Indexer {
    thread: JoinHandle<()>,
}

impl Indexer {
    /// Starts it, where neighbours are to be found by a graph. It ends when the service stops.
    pub fn start(service: Arc<Service>) -> Result<Option<Indexer>> {
        if service.settings.index != Index::Hnsw {
            return Ok(None);
        }
        let failed =
            |error: std::io::Error| Error::Failed(format!("there is no thread that makes an index: {error}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().map_err(failed)?;
        let thread = thread::Builder::new().name("indexer".to_owned());
        let thread = thread.spawn(move || runtime.block_on(run(&service))).map_err(failed)?;
        Ok(Some(Indexer { thread }))
    }

    /// Waits for its end, after [`Service::stop`].
    pub fn join(self) {
        // A panic there was told by the panic itself.
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
                tracing::info!(words = published.embeddings.len(), ?took, "an index of neighbours is made");
                service.desk.use_graph(graph);
                took * REST_TIMES
            }
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, "all words are compared in its place");
                Duration::from_secs(60)
            }
        };
        // Vectors that nobody else needs are not kept for this.
        drop(published);
        tokio::select! {
            biased;
            () = service.events.closed() => return,
            () = tokio::time::sleep(rest.max(SHORTEST_REST)) => {}
        }
    }
}
