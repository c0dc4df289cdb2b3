//! Approximate nearest neighbors by a graph (HNSW, Malkov and Yashunin, 2016), for large vocabularies.
//!
//! Building a graph takes longer than a version stays published, so its vectors are always older. It only proposes words:
//! these, and all candidates that were added since, are compared by the published vectors, so the similarities are exact. Words
//! that the graph does not propose are missed; see the test of its recall. It holds the default candidates, which most
//! queries ask for; the others are searched exactly.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use skipstream::embeddings::{Combine, Query, Term, cosines};
use tokio::sync::watch;
use usearch::{IndexOptions, MetricKind, ScalarKind};

use super::{Hit, SearchQueue};
use crate::error::{Error, Result};
use crate::lifecycle::Lifecycle;
use crate::published::Published;
use crate::settings::Index;

/// Smaller vocabularies are searched exactly, which takes a few milliseconds.
pub(super) const MIN_WORDS: usize = 20_000;

/// Longer answers are searched exactly.
const MAX_NEIGHBORS: usize = 100;

/// Words that the graph proposes per answer: its vectors are older, so the order may have changed.
const PROPOSED: usize = 4;

/// Links per word, and words visited to insert and to find a word. The last is four times the default, for recall.
const CONNECTIVITY: usize = 16;
const EXPANSION_ADD: usize = 128;
const EXPANSION_SEARCH: usize = 256;

/// The pause after building a graph, as a multiple of the time it took: building takes at most a fifth of a core, and newer
/// words are compared exactly.
const REST_TIMES: u32 = 4;

/// The minimum pause.
const SHORTEST_REST: Duration = Duration::from_secs(10);

/// A graph of the vectors of a published version.
pub struct Graph {
    index: usearch::Index,
    /// The words, in the order of their keys.
    words: Vec<Box<str>>,
    took: Duration,
    bridge: Mutex<Arc<Bridge>>,
}

/// From the words of a graph to the rows of a published version.
#[derive(Debug, Default)]
struct Bridge {
    to: Weak<Published>,
    /// The row of each key; `None` if the word was removed.
    rows: Vec<Option<u32>>,
    /// The rows of words that were added since.
    others: Vec<usize>,
}

impl Graph {
    /// Builds the graph of a published version. It takes seconds to minutes, and stops with `None` when `go_on` says no.
    pub fn new(published: &Published, go_on: impl Fn() -> bool) -> Result<Option<Graph>> {
        let start = Instant::now();
        let embeddings = &published.embeddings;
        let options = IndexOptions {
            dimensions: embeddings.dimensions(),
            metric: MetricKind::Cos,
            quantization: ScalarKind::F32,
            connectivity: CONNECTIVITY,
            expansion_add: EXPANSION_ADD,
            expansion_search: EXPANSION_SEARCH,
            multi: false,
        };
        let index = usearch::Index::new(&options).map_err(failed)?;
        let candidates = embeddings.candidates(None, None).len();
        index.reserve(candidates).map_err(failed)?;
        for (row, vector) in embeddings.vectors().take(candidates).enumerate() {
            if row % 1_000 == 0 && !go_on() {
                return Ok(None);
            }
            index.add(row as u64, &vector).map_err(failed)?;
        }
        let words = embeddings.words().take(candidates).map(Box::from).collect();
        Ok(Some(Graph { index, words, took: start.elapsed(), bridge: Mutex::default() }))
    }

    /// The answer to a query, as far as the graph proposes it; `None` if it must be searched exactly.
    pub fn answer(&self, published: &Arc<Published>, query: &Query<'_>) -> Result<Option<Vec<Hit>>> {
        let Query { n, exclude, .. } = query;
        let is_default = query.rows == published.embeddings.candidates(None, None);
        let is_plain = query.combine == Combine::Add && query.negative.is_empty();
        let vector = match &query.positive[..] {
            _ if *n > MAX_NEIGHBORS || !is_plain || !is_default => return Ok(None),
            [Term::Row(row)] => &published.embeddings.vector_at(*row),
            [Term::Vector(vector)] => vector,
            _ => return Ok(None),
        };
        let bridge = self.bridge_to(published);
        let proposed = self.index.search(vector, (n + exclude.len()) * PROPOSED).map_err(failed)?;
        let known =
            proposed.keys.iter().filter_map(|&key| *bridge.rows.get(key as usize)?).map(|row| row as usize);
        let rows: Vec<usize> = known
            .chain(bridge.others.iter().copied())
            .filter(|row| query.rows.contains(row) && !exclude.contains(row))
            .collect();
        let vectors: Vec<f32> =
            rows.iter().flat_map(|&row| published.embeddings.vector_at(row).into_owned()).collect();
        let similarities = cosines(vector, &vectors);
        let mut found: Vec<Hit> = rows.into_iter().zip(similarities).collect();
        found.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        found.truncate(*n);
        Ok(Some(found))
    }

    /// The bridge to a published version, built when it is first needed.
    fn bridge_to(&self, published: &Arc<Published>) -> Arc<Bridge> {
        let mut bridge = self.bridge.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::ptr::eq(bridge.to.as_ptr(), Arc::as_ptr(published)) {
            let embeddings = &published.embeddings;
            let row = |word: &str| embeddings.index_of(word).map(|row| row as u32);
            let rows: Vec<Option<u32>> = self.words.iter().map(|word| row(word)).collect();
            let mut is_known = vec![false; embeddings.len()];
            rows.iter().flatten().for_each(|&row| is_known[row as usize] = true);
            let others = embeddings.candidates(None, None).filter(|&row| !is_known[row]).collect();
            *bridge = Arc::new(Bridge { to: Arc::downgrade(published), rows, others });
        }
        bridge.clone()
    }
}

/// Only the size.
impl std::fmt::Debug for Graph {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Graph").field("words", &self.words.len()).finish_non_exhaustive()
    }
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Failed(format!("the index of neighbors: {error}"))
}

/// Starts the thread if the index is `hnsw`: it builds graphs of published versions, which the queue uses. It ends when the
/// service stops.
pub fn start(
    queue: &SearchQueue,
    index: Index,
    lifecycle: &Lifecycle,
    publications: watch::Receiver<Arc<Published>>,
) -> Result<Option<JoinHandle<()>>> {
    if index != Index::Hnsw {
        return Ok(None);
    }
    let (graph, own) = (queue.graph(), lifecycle.clone());
    lifecycle.spawn_async("indexer", move || async move { run(&graph, &own, publications).await }).map(Some)
}

async fn run(
    newest: &ArcSwapOption<Graph>,
    lifecycle: &Lifecycle,
    mut publications: watch::Receiver<Arc<Published>>,
) {
    publications.mark_changed();
    loop {
        tokio::select! {
            biased;
            () = lifecycle.stopping() => return,
            changed = publications.changed() => if changed.is_err() { return },
        }
        let published = publications.borrow_and_update().clone();
        if published.embeddings.len() < MIN_WORDS {
            continue;
        }
        let rest = match Graph::new(&published, || !lifecycle.is_stopping()) {
            Ok(Some(graph)) => {
                let took = graph.took;
                tracing::info!(words = published.embeddings.len(), ?took, "built an index of neighbors");
                newest.store(Some(Arc::new(graph)));
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
            () = lifecycle.stopping() => return,
            () = tokio::time::sleep(rest.max(SHORTEST_REST)) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use skipstream::Embeddings;
    use skipstream::embeddings::AnalogyRule;
    use skipstream::unstable::Random;

    use super::*;
    use crate::change::testing::of_embeddings;

    /// Words in clusters, as word vectors are, each as far from its center as the clusters are wide.
    fn clusters(n_words: usize, dimensions: usize, first: usize, noise: f32) -> Arc<Published> {
        let mut random = Random::new(3);
        let mut value = |width: f32| width * (random.uniform() as f32 - 0.5);
        let centers: Vec<f32> = (0..200 * dimensions).map(|_| value(1.0)).collect();
        let mut vectors = Vec::with_capacity(n_words * dimensions);
        for word in first..first + n_words {
            let mut own = Random::new(word as u64);
            for dimension in 0..dimensions {
                let offset = own.uniform() as f32 - 0.5;
                vectors.push(centers[word % 200 * dimensions + dimension] + offset + value(noise));
            }
        }
        let words = (first..first + n_words).map(|word| (format!("w{word}"), (2 * n_words - word) as u64));
        let embeddings = Embeddings::new(dimensions, words, vectors).unwrap();
        let time = jiff::Timestamp::UNIX_EPOCH;
        Arc::new(of_embeddings(time, 1, embeddings, time))
    }

    /// The neighbors of a row among the default candidates.
    fn neighbors(published: &Published, row: usize, n: usize) -> Query<'static> {
        Query::neighbors(row, n).among(published.embeddings.candidates(None, None))
    }

    /// The share of the ten nearest that the graph of old vectors finds among new ones.
    fn recall(graph: &Graph, published: &Arc<Published>, n_queries: usize) -> f64 {
        let mut hits = 0;
        for number in 0..n_queries {
            let row = number * 7_919 % published.embeddings.len();
            let query = neighbors(published, row, 10);
            let found = graph.answer(published, &query).unwrap().unwrap();
            assert_eq!(found.len(), 10);
            for neighbor in published.embeddings.search(&query).unwrap() {
                if let Some((_, similarity)) = found.iter().find(|(row, _)| *row == neighbor.row) {
                    assert_eq!(*similarity, neighbor.similarity, "similarities are exact");
                    hits += 1;
                }
            }
        }
        hits as f64 / (10 * n_queries) as f64
    }

    #[test]
    fn most_neighbors_are_found_and_their_similarities_are_exact() {
        let old = clusters(3_000, 20, 0, 0.0);
        let graph = Graph::new(&old, || true).unwrap().unwrap();
        assert!(recall(&graph, &old, 100) > 0.98);
        // The vectors moved, some words were removed and others added.
        let new = clusters(3_000, 20, 100, 0.1);
        assert!(recall(&graph, &new, 100) > 0.95);
        let added = new.embeddings.index_of("w3050").unwrap();
        let vector = new.embeddings.vector_at(added).into_owned();
        let rows = new.embeddings.candidates(None, None);
        let found = graph.answer(&new, &Query::nearest(vector, 1).among(rows)).unwrap().unwrap();
        assert_eq!(found[0].0, added, "a word that was added since is found");
    }

    #[test]
    fn building_stops_when_the_service_does() {
        assert!(Graph::new(&clusters(10, 4, 0, 0.0), || false).unwrap().is_none());
    }

    #[test]
    fn other_queries_are_left_to_the_exact_search() {
        let published = clusters(300, 4, 0, 0.0);
        let graph = Graph::new(&published, || true).unwrap().unwrap();
        let multiply = published.embeddings.analogy_query([0, 1, 2], 5, AnalogyRule::Multiply);
        assert_eq!(graph.answer(&published, &multiply).unwrap(), None);
        assert_eq!(graph.answer(&published, &Query::neighbors(0, 5)).unwrap(), None, "among all words");
        let long = neighbors(&published, 0, MAX_NEIGHBORS + 1);
        assert_eq!(graph.answer(&published, &long).unwrap(), None);
    }

    /// Vectors of a model, as long as it has enough words, and then clusters.
    fn words_of(model: Option<&Embeddings>, n_words: usize) -> (&'static str, Arc<Published>) {
        match model.filter(|model| model.len() >= n_words) {
            None => ("clusters", clusters(n_words, 100, 0, 0.0)),
            Some(model) => {
                // Without counts, all words are candidates.
                let embeddings = model.top(n_words).without_counts();
                let time = jiff::Timestamp::UNIX_EPOCH;
                ("model", Arc::new(of_embeddings(time, 1, embeddings, time)))
            }
        }
    }

    /// The shortest time of many queries, in milliseconds: noise only adds.
    fn fastest(n_words: usize, mut ask: impl FnMut(usize)) -> f64 {
        let times = (0..200).map(|number| {
            let started = Instant::now();
            ask(number * 7_919 % n_words);
            started.elapsed().as_secs_f64() * 1e3
        });
        times.fold(f64::INFINITY, f64::min)
    }

    /// `cargo xtask bench index` runs this.
    #[test]
    #[ignore = "takes minutes; for measuring"]
    fn measurements() {
        let sizes = std::env::var("SKIPSTREAM_WORDS").unwrap_or_else(|_| "10000".to_owned());
        let model = std::env::var_os("SKIPSTREAM_MODEL")
            .map(|path| Embeddings::load(path, skipstream::Vectors::default()).unwrap());
        println!(
            "| words | vectors | build, s | memory, MB | recall@10 | index, ms | exact, ms | exact, 8 queries at once, ms |"
        );
        println!("|--:|---|--:|--:|--:|--:|--:|--:|");
        for n_words in sizes.split(',').map(|size| size.parse().unwrap()) {
            let (vectors, published) = words_of(model.as_ref(), n_words);
            let graph = Graph::new(&published, || true).unwrap().unwrap();
            let query = |row| neighbors(&published, row, 10);
            let index = fastest(n_words, |row| drop(graph.answer(&published, &query(row)).unwrap()));
            let exact = fastest(n_words, |row| {
                published.embeddings.search_many(&[query(row)], Some(1)).unwrap();
            });
            let several = fastest(n_words, |row| {
                let queries: Vec<Query<'_>> = (0..8).map(|next| query((row + next) % n_words)).collect();
                published.embeddings.search_many(&queries, Some(1)).unwrap();
            });
            println!(
                "| {n_words} | {vectors} | {:.1} | {:.1} | {:.3} | {index:.2} | {exact:.2} | {several:.2} |",
                graph.took.as_secs_f64(),
                graph.index.memory_usage() as f64 / 1e6,
                recall(&graph, &published, 200),
            );
        }
    }
}
