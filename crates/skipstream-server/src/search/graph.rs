//! Neighbours by a graph (HNSW, Malkov and Yashunin, 2016), for vocabularies that are too large to be compared whole.
//!
//! A graph takes longer to make than vectors stay published, so it is always one of older vectors. It only proposes words:
//! they are compared by the vectors that are published now, and so are all words that have come since, so what an answer
//! says of a word is exact. What the graph does not propose is missed; see the test of its recall.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use skipstream::embeddings::{Found, cosines};
use usearch::{Index, IndexOptions, MetricKind, ScalarKind};

use super::desk::Question;
use crate::error::{Error, Result};
use crate::published::Published;

/// Smaller vocabularies are compared whole, which takes a few milliseconds.
pub(super) const MIN_WORDS: usize = 20_000;

/// Longer answers are found by comparing all words.
pub(super) const MAX_NEIGHBORS: usize = 100;

/// Words that the graph proposes for each that is wanted: its vectors are older, so the order may have changed.
const PROPOSED: usize = 4;

/// Links of a word, and words that are looked at while it is put in and while it is sought: of the
/// last, four times as many as by default, for the sake of recall.
const CONNECTIVITY: usize = 16;
const EXPANSION_ADD: usize = 128;
const EXPANSION_SEARCH: usize = 256;

/// A graph of vectors that were published.
pub struct Graph {
    index: Index,
    /// The words, in the order of their keys.
    words: Vec<Box<str>>,
    /// How long it took to make.
    pub(super) took: Duration,
    bridge: Mutex<Arc<Bridge>>,
}

/// From the words of a graph to the rows of another publication.
#[derive(Debug, Default)]
struct Bridge {
    to: Weak<Published>,
    /// The row of each key; none where the word is gone.
    rows: Vec<Option<u32>>,
    /// Rows whose words have come since.
    others: Vec<usize>,
}

impl Graph {
    /// Makes the graph of what was published. It takes seconds to minutes; `go_on` is asked now and then.
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
        let index = Index::new(&options).map_err(failed)?;
        index.reserve(embeddings.len()).map_err(failed)?;
        for (row, vector) in embeddings.vectors().enumerate() {
            if row % 1_000 == 0 && !go_on() {
                return Ok(None);
            }
            index.add(row as u64, &vector).map_err(failed)?;
        }
        let words = embeddings.words().map(Box::from).collect();
        Ok(Some(Graph { index, words, took: start.elapsed(), bridge: Mutex::default() }))
    }

    /// The answer to a question, as far as the graph proposes it.
    pub fn answer(&self, published: &Arc<Published>, question: &Question) -> Result<Vec<Found>> {
        let Question { vector, n, exclude, .. } = question;
        let bridge = self.bridge_to(published);
        let proposed = self.index.search(vector, (n + exclude.len()) * PROPOSED).map_err(failed)?;
        let known =
            proposed.keys.iter().filter_map(|&key| *bridge.rows.get(key as usize)?).map(|row| row as usize);
        let rows: Vec<usize> =
            known.chain(bridge.others.iter().copied()).filter(|row| !exclude.contains(row)).collect();
        let vectors: Vec<f32> =
            rows.iter().flat_map(|&row| published.embeddings.vector_at(row).into_owned()).collect();
        let similarities = cosines(vector, &vectors);
        let mut found: Vec<Found> =
            rows.into_iter().zip(similarities).map(|(row, similarity)| Found { row, similarity }).collect();
        found.sort_by(|left, right| {
            right.similarity.total_cmp(&left.similarity).then(left.row.cmp(&right.row))
        });
        found.truncate(*n);
        Ok(found)
    }

    /// The bridge to what is published, made when it is needed first.
    fn bridge_to(&self, published: &Arc<Published>) -> Arc<Bridge> {
        let mut bridge = self.bridge.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::ptr::eq(bridge.to.as_ptr(), Arc::as_ptr(published)) {
            let embeddings = &published.embeddings;
            let row = |word: &Box<str>| embeddings.index_of(word).map(|row| row as u32);
            let rows: Vec<Option<u32>> = self.words.iter().map(row).collect();
            let mut is_known = vec![false; embeddings.len()];
            rows.iter().flatten().for_each(|&row| is_known[row as usize] = true);
            let others = (0..embeddings.len()).filter(|&row| !is_known[row]).collect();
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
    Error::Failed(format!("the index of neighbours: {error}"))
}

#[cfg(test)]
mod tests {
    use skipstream::{Embeddings, Random};

    use super::*;
    use crate::change::testing::of_embeddings;

    /// Words in heaps, as word vectors lie, each as far from its center as the heaps are wide.
    fn heaps(n_words: usize, dimensions: usize, first: usize, noise: f32) -> Arc<Published> {
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

    /// The share of the ten nearest that the graph of old vectors finds among new ones.
    fn recall(graph: &Graph, published: &Arc<Published>, n_questions: usize) -> f64 {
        let mut hits = 0;
        for question in 0..n_questions {
            let row = question * 7_919 % published.embeddings.len();
            let question = Question::about_row(published, row, 10);
            let found = graph.answer(published, &question).unwrap();
            let exact = published.embeddings.neighbors_of_rows(&[row], 10).unwrap();
            for (found, row) in found.iter().map(|found| (found, found.row)) {
                if let Some(place) = exact.rows.iter().position(|&other| other == row) {
                    assert_eq!(found.similarity, exact.similarities[place], "similarities are exact");
                    hits += 1;
                }
            }
        }
        hits as f64 / (10 * n_questions) as f64
    }

    #[test]
    fn most_neighbors_are_found_and_their_similarities_are_exact() {
        let old = heaps(3_000, 20, 0, 0.0);
        let graph = Graph::new(&old, || true).unwrap().unwrap();
        assert!(recall(&graph, &old, 100) > 0.98);
        // The vectors moved, some words left and others came.
        let new = heaps(3_000, 20, 100, 0.1);
        assert!(recall(&graph, &new, 100) > 0.95);
        let come = new.embeddings.index_of("w3050").unwrap();
        let vector = new.embeddings.vector_at(come).into_owned();
        let found = graph.answer(&new, &Question::about_vector(vector, 1)).unwrap();
        assert_eq!(found[0].row, come, "a word that came since is found, too");
    }

    #[test]
    fn who_has_no_time_has_no_graph() {
        assert!(Graph::new(&heaps(10, 4, 0, 0.0), || false).unwrap().is_none());
    }

    /// By name: `cargo test --release -p skipstream-server --features usearch -- --ignored recall_of_fifty_thousand`
    #[test]
    #[ignore = "it takes minutes without optimisation, and is for measuring"]
    fn recall_of_fifty_thousand_words() {
        let old = heaps(50_000, 100, 0, 0.0);
        let graph = Graph::new(&old, || true).unwrap().unwrap();
        let new = heaps(50_000, 100, 1_000, 0.05);
        let (same, moved) = (recall(&graph, &old, 500), recall(&graph, &new, 500));
        println!(
            "recall@10: {same:.4} of the same vectors, {moved:.4} after they moved; made in {:?}",
            graph.took
        );
        assert!(same > 0.95 && moved > 0.9);
    }

    /// By name, with a model of real text in `SKIPSTREAM_MODEL`, an absolute path:
    /// `cargo test --release -p skipstream-server --features usearch -- --ignored --nocapture recall_of_a_model`
    #[test]
    #[ignore = "it takes a model of yours"]
    fn recall_of_a_model() {
        let model = std::env::var_os("SKIPSTREAM_MODEL").expect("SKIPSTREAM_MODEL is the path of a model");
        let embeddings = Embeddings::load(model, skipstream::Vectors::Sum).unwrap();
        let time = jiff::Timestamp::UNIX_EPOCH;
        let published = Arc::new(of_embeddings(time, 1, embeddings, time));
        let graph = Graph::new(&published, || true).unwrap().unwrap();
        let started = std::time::Instant::now();
        for question in 0..500 {
            let row = question * 7_919 % published.embeddings.len();
            graph.answer(&published, &Question::about_row(&published, row, 10)).unwrap();
        }
        println!(
            "recall@10 of {} words: {:.4}; made in {:?}, {:?} a question",
            published.embeddings.len(),
            recall(&graph, &published, 500),
            graph.took,
            started.elapsed() / 500,
        );
    }
}
