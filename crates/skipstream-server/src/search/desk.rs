//! Where questions about nearest words are asked, and the thread that answers them.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use skipstream::embeddings::{self, Found};
use tokio::sync::oneshot;

use super::cache::Cache;
use super::queue::{Group, Pass, Queue, Waiting};
use crate::error::{Error, Result};
use crate::published::Published;

/// Questions that may wait at the same time: some seconds of work on a hundred thousand words.
const MAX_WAITING: usize = 4_096;

/// A question: which words are nearest?
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// To this vector.
    pub(super) vector: Vec<f32>,
    /// So many at the most.
    pub(super) n: usize,
    /// None of these rows.
    pub(super) exclude: Vec<usize>,
    /// The row whose neighbours are asked for, if that is the question: the answer may be known already.
    pub(super) row: Option<usize>,
}

/// Where questions are asked. A thread of its own answers them, so that they hold up nobody but one another; and it answers
/// those that come close together in one pass over the vectors.
///
/// On a hundred thousand words of a hundred dimensions, a pass with one question takes 2.7 ms, with two 3.2, with four 4.2
/// and with eight 6.3 (one core of an EPYC with AVX-512, release).
#[derive(Debug)]
pub struct Desk {
    queue: Arc<Queue>,
    cache: Cache,
    thread: Option<JoinHandle<()>>,
    #[cfg(feature = "usearch")]
    graph: Arc<arc_swap::ArcSwapOption<super::graph::Graph>>,
}

impl Question {
    /// The nearest of a row, itself excluded.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn about_row(published: &Published, row: usize, n: usize) -> Question {
        let vector = published.embeddings.vector_at(row).into_owned();
        Question { vector, n, exclude: vec![row], row: Some(row) }
    }

    /// The nearest of a vector.
    pub fn about_vector(vector: Vec<f32>, n: usize) -> Question {
        Question { vector, n, exclude: Vec::new(), row: None }
    }

    /// "a is to b as c is to ?" by 3CosAdd: the nearest of b − a + c, of vectors of length 1, without the three.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn analogy(published: &Published, rows: [usize; 3], n: usize) -> Question {
        let [a, b, c] = rows.map(|row| published.embeddings.unit_vector(row));
        let vector = a.iter().zip(&b).zip(&c).map(|((a, b), c)| b - a + c).collect();
        Question { vector, n, exclude: rows.to_vec(), row: None }
    }

    /// As the library asks it.
    fn borrow(&self) -> embeddings::Question<'_> {
        embeddings::Question { vector: &self.vector, n: self.n, exclude: &self.exclude }
    }
}

impl Default for Desk {
    fn default() -> Desk {
        Desk::with_limit(MAX_WAITING)
    }
}

impl Desk {
    fn with_limit(max_waiting: usize) -> Desk {
        let queue = Arc::new(Queue::new(max_waiting));
        #[cfg(feature = "usearch")]
        let graph = Arc::new(arc_swap::ArcSwapOption::empty());
        let answering = {
            let queue = queue.clone();
            #[cfg(feature = "usearch")]
            let graph = graph.clone();
            move || {
                while let Some(pass) = queue.next() {
                    #[cfg(feature = "usearch")]
                    let pass = answer_by_graph(pass, graph.load_full().as_deref());
                    answer(pass);
                }
            }
        };
        let thread = thread::Builder::new().name("search".to_owned()).spawn(answering);
        if let Err(error) = &thread {
            // The desk refuses questions then, and the rest of the service goes on.
            tracing::error!(%error, "there is no thread for searching");
            queue.close();
        }
        Desk {
            queue,
            cache: Cache::default(),
            thread: thread.ok(),
            #[cfg(feature = "usearch")]
            graph,
        }
    }

    /// The answers to some questions, in their order: rows with their similarities, the nearest first. They are those
    /// that the embeddings give to each question alone.
    ///
    /// It is an error if a vector is not finite or does not have the model's dimensions, or if too many questions wait.
    /// Who drops the future takes the questions back.
    pub async fn ask(&self, published: &Arc<Published>, questions: Vec<Question>) -> Result<Vec<Vec<Found>>> {
        enum Answer {
            Known(Vec<Found>),
            Awaited { row: Option<usize>, n: usize, reply: oneshot::Receiver<Vec<Found>> },
        }
        let mut answers = Vec::with_capacity(questions.len());
        let mut group = Group::new(published.clone());
        for question in questions {
            published.embeddings.check_query(&question.vector)?;
            let (row, n) = (question.row, question.n);
            match row.and_then(|row| self.cache.look_up(published, row, n)) {
                Some(known) => answers.push(Answer::Known(known)),
                None => {
                    let (sender, reply) = oneshot::channel();
                    group.push(Waiting { question, reply: sender });
                    answers.push(Answer::Awaited { row, n, reply });
                }
            }
        }
        self.queue.push(group)?;
        let mut found = Vec::with_capacity(answers.len());
        for answer in answers {
            found.push(match answer {
                Answer::Known(known) => known,
                Answer::Awaited { row, n, reply } => {
                    let answer = reply.await.map_err(|_| Error::Stopping)?;
                    if let Some(row) = row {
                        self.cache.remember(published, row, n, &answer);
                    }
                    answer
                }
            });
        }
        Ok(found)
    }

    /// Finds neighbours by a graph from now on.
    #[cfg(feature = "usearch")]
    pub(super) fn use_graph(&self, graph: super::graph::Graph) {
        self.graph.store(Some(Arc::new(graph)));
    }

    /// Questions that wait.
    pub fn waiting(&self) -> usize {
        self.queue.waiting()
    }
}

/// Questions that still wait are refused.
impl Drop for Desk {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            // A panic there was told by the panic itself.
            let _ = thread.join();
        }
    }
}

/// Answers what a graph can answer, and gives back the rest.
#[cfg(feature = "usearch")]
fn answer_by_graph(mut pass: Pass, graph: Option<&super::graph::Graph>) -> Pass {
    use super::graph::{MAX_NEIGHBORS, MIN_WORDS};
    let Some(graph) = graph.filter(|_| pass.published.embeddings.len() >= MIN_WORDS) else { return pass };
    let mut rest = Vec::new();
    for waiting in pass.waiting {
        if waiting.question.n > MAX_NEIGHBORS {
            rest.push(waiting);
            continue;
        }
        match graph.answer(&pass.published, &waiting.question) {
            // Who asked may have gone away.
            Ok(answer) => drop(waiting.reply.send(answer)),
            Err(error) => {
                tracing::warn!(%error, "all words are compared in its place");
                rest.push(waiting);
            }
        }
    }
    pass.waiting = rest;
    pass
}

fn answer(pass: Pass) {
    let questions: Vec<_> = pass.waiting.iter().map(|waiting| waiting.question.borrow()).collect();
    match pass.published.embeddings.answer(&questions) {
        Ok(answers) => {
            for (waiting, answer) in pass.waiting.into_iter().zip(answers) {
                // Who asked may have gone away.
                let _ = waiting.reply.send(answer);
            }
        }
        // The questions were checked when they were asked; who waits is told by the reply that never comes.
        Err(error) => tracing::error!(%error, "questions that cannot be answered"),
    }
}

#[cfg(test)]
mod tests;
