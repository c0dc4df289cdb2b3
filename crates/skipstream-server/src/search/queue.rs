//! The queue of queries, and the thread that answers them.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use skipstream::embeddings::Query;
use tokio::sync::oneshot;

use super::Hit;
use super::pending::{Group, Pending, Waiting};
use crate::error::Result;
use crate::lifecycle::Lifecycle;
use crate::published::Published;

/// The queue of queries. Its own thread answers them, so that searches delay only one another, and queries that arrive while
/// a pass over the vectors runs share the next one. A lone query starts at once: holding it for company saves passes, but 1 to
/// 4 clients that wait for their answers then spend their time on the hold.
///
/// On a hundred thousand words of a hundred dimensions, a pass with one query takes 2.7 ms, with two 3.2, with four 4.2 and
/// with eight 6.3 (one core of an EPYC with AVX-512, release). Answers are not cached: a repeated query costs a pass.
#[derive(Debug)]
pub struct SearchQueue {
    pending: Arc<Pending>,
    /// The number of queries answered by comparing with all words.
    answered: Arc<AtomicU64>,
    lifecycle: Lifecycle,
    thread: Option<JoinHandle<()>>,
    #[cfg(feature = "usearch")]
    graph: Arc<arc_swap::ArcSwapOption<super::graph::Graph>>,
}

impl SearchQueue {
    /// An empty queue. Its thread is one of the lifecycle; if it ends, queries are rejected.
    pub fn new(lifecycle: &Lifecycle) -> SearchQueue {
        let (pending, answered) = (Arc::new(Pending::default()), Arc::default());
        #[cfg(feature = "usearch")]
        let graph = Arc::new(arc_swap::ArcSwapOption::empty());
        let answering = {
            let (pending, answered) = (CloseOnDrop(pending.clone()), Arc::clone(&answered));
            #[cfg(feature = "usearch")]
            let graph = graph.clone();
            #[cfg(test)]
            let lifecycle = lifecycle.clone();
            move || {
                while let Some(pass) = pending.0.next() {
                    #[cfg(test)]
                    lifecycle.die_if_doomed(SEARCH);
                    #[cfg(feature = "usearch")]
                    let pass = answer_by_graph(pass, graph.load_full().as_deref());
                    answer(pass, &answered);
                }
            }
        };
        let thread = lifecycle.spawn(SEARCH, answering);
        if let Err(error) = &thread {
            // The queue then rejects queries; the rest of the service keeps running.
            tracing::error!(%error, "neighbor queries are rejected");
            pending.close();
        }
        SearchQueue {
            pending,
            answered,
            lifecycle: lifecycle.clone(),
            thread: thread.ok(),
            #[cfg(feature = "usearch")]
            graph,
        }
    }

    /// The answers to some queries, in their order, the best first. They are those of
    /// [`Embeddings::search`](skipstream::Embeddings::search).
    ///
    /// It is an error if a query is not valid, or if the client has too many in the queue. Dropping the future cancels the
    /// queries.
    pub async fn search(
        &self,
        client: IpAddr,
        published: &Arc<Published>,
        queries: Vec<Query<'static>>,
    ) -> Result<Vec<Vec<Hit>>> {
        let mut waiting = VecDeque::with_capacity(queries.len());
        let mut replies = Vec::with_capacity(queries.len());
        for query in queries {
            published.embeddings.check_query(&query)?;
            let (sender, reply) = oneshot::channel();
            waiting.push_back(Waiting { query, reply: sender });
            replies.push(reply);
        }
        if !self.pending.push(client, Group { published: published.clone(), waiting })? {
            return Err(self.lifecycle.gone(SEARCH));
        }
        let mut answers = Vec::with_capacity(replies.len());
        for reply in replies {
            answers.push(reply.await.map_err(|_| self.lifecycle.gone(SEARCH))?);
        }
        Ok(answers)
    }

    /// The number of queries answered by comparing with all words. Abandoned ones do not count.
    pub fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    /// The graph that finds neighbors, if there is one.
    #[cfg(feature = "usearch")]
    pub(super) fn graph(&self) -> Arc<arc_swap::ArcSwapOption<super::graph::Graph>> {
        self.graph.clone()
    }
}

/// The name of the thread.
const SEARCH: &str = "search";

/// Rejects queries when the thread ends, also by a panic.
struct CloseOnDrop(Arc<Pending>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Rejects waiting queries.
impl Drop for SearchQueue {
    fn drop(&mut self) {
        self.pending.close();
        if let Some(thread) = self.thread.take() {
            // A panic there has already been printed.
            let _ = thread.join();
        }
    }
}

/// Answers what a graph can answer, and returns the rest.
#[cfg(feature = "usearch")]
fn answer_by_graph(mut pass: Group, graph: Option<&super::graph::Graph>) -> Group {
    use super::graph::MIN_WORDS;
    let Some(graph) = graph.filter(|_| pass.published.embeddings.len() >= MIN_WORDS) else { return pass };
    let mut rest = VecDeque::new();
    for waiting in pass.waiting {
        match graph.answer(&pass.published, &waiting.query) {
            // The caller may have gone away.
            Ok(Some(answer)) => drop(waiting.reply.send(answer)),
            Ok(None) => rest.push_back(waiting),
            Err(error) => {
                tracing::warn!(%error, "searching all words instead");
                rest.push_back(waiting);
            }
        }
    }
    pass.waiting = rest;
    pass
}

/// Answers a pass, and counts the answers.
fn answer(pass: Group, answered: &AtomicU64) {
    let (queries, replies): (Vec<_>, Vec<_>) =
        pass.waiting.into_iter().map(|waiting| (waiting.query, waiting.reply)).unzip();
    // A pass ends once every query in it was abandoned.
    let observe = |_| match replies.iter().all(oneshot::Sender::is_closed) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    // The other cores are left to training and to requests.
    match pass.published.embeddings.search_observed(&queries, Some(1), &observe) {
        Ok(None) => {}
        Ok(Some(answers)) => {
            answered.fetch_add(answers.len() as u64, Ordering::Relaxed);
            for (reply, answer) in replies.into_iter().zip(answers) {
                let hits = answer.iter().map(|neighbor| (neighbor.row, neighbor.similarity)).collect();
                // The caller may have gone away.
                let _ = reply.send(hits);
            }
        }
        // The queries were checked in `search`. The callers see a reply that never comes.
        Err(error) => tracing::error!(%error, "cannot answer queries"),
    }
}

#[cfg(test)]
mod tests;
