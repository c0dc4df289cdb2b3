//! The search: one pass over the vectors answers many queries.
//!
//! The distinct vectors that queries compare words with are their *cues*. The rows are read in blocks. For each block the
//! cosines of all cues are computed once, while the rows are in the L1 cache; then each query combines the cosines of its
//! cues into scores. Analogy sets gain most from this: Google's 19,544 questions have about 900 cues.
//!
//! Of rows of bytes, cosines are first estimated, and those near the best are computed. See `byte_cosines.rs`.
//!
//! Invariant: the answers do not depend on the number of threads, on the instruction set, or on the other queries.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use super::best::{Best, Candidate};
use super::byte_cosines::{ByteBlock, Estimator};
use super::cosine::{cosine, cosine_of, inverse_norm, product, wide_cosine};
use super::quantized::QuantizedRows;
use super::query::{Combine, Query, Term};
use super::rows::{ROWS_IN_L1, Scratch};
use super::{Embeddings, Quantization};
use crate::kernel::{Kernel, Work};

/// Rows whose scores are compared together. The cosines of one cue take 1 KiB.
const BLOCK: usize = 256;

/// Floats compared side by side.
const LANES: usize = 16;

/// The cues and queries of one pass, at most. The cosines take 1 MiB per thread.
const MAX_CUES: usize = 1_024;
const MAX_QUERIES: usize = 1 << 16;

/// Multiplications in a thread's share of the work. With fewer, a second thread starts too late to help.
const WORK_PER_SHARE: usize = 1 << 19;

/// The cosines of a query are estimated if it has at most one answer per this many rows. With more answers, most rows are
/// compared exactly in any case.
const ROWS_PER_ANSWER: usize = 16;

/// Called with the finished share, from 0 to 1, on any thread. [`ControlFlow::Break`] ends the search.
pub(crate) type SearchObserver<'a> = dyn Fn(f64) -> ControlFlow<()> + Sync + 'a;

/// The best rows of each query, the best first. Vectors that are not finite have no direction. `None` if the observer has
/// ended the search.
pub(crate) fn find_best<'a>(
    embeddings: &Embeddings,
    queries: impl ExactSizeIterator<Item = Query<'a>>,
    threads: usize,
    progress: &SearchObserver<'_>,
) -> Option<Vec<Vec<Candidate>>> {
    let total = queries.len() as f64;
    let mut queries = queries.peekable();
    let mut found = Vec::new();
    while queries.peek().is_some() {
        let pass = Pass::new(embeddings, &mut queries);
        let (before, here) = (found.len() as f64, pass.queries.len() as f64);
        let best = pass.run(Kernel::best(), threads, &|share| progress((before + share * here) / total))?;
        found.extend(best.into_iter().map(Best::into_sorted));
    }
    Some(found)
}

/// The score of every candidate row of a query, in the order of rows.
pub(super) fn scores(embeddings: &Embeddings, query: Query<'_>) -> Vec<f32> {
    let pass = Pass::new(embeddings, &mut [query].into_iter().peekable());
    let mut worker = Worker::new(&pass);
    let mut scores = Vec::with_capacity(pass.rows.len());
    for block in blocks(pass.rows.clone()) {
        pass.fill(Kernel::best(), block.clone(), &mut worker);
        let score = |position: usize| pass.queries[0].score(|cue| worker.cosines[cue][position]);
        scores.extend((0..block.len()).map(score));
    }
    scores
}

/// Queries that are answered together.
struct Pass<'a> {
    embeddings: &'a Embeddings,
    cues: Vec<Cue<'a>>,
    queries: Vec<CuedQuery>,
    /// For rows of bytes, if all scores are sums of cosines and no norm is extreme.
    estimates: Option<Estimates<'a>>,
    /// The quick check of each query. Apart from the rest, so that those of an analogy set stay in the cache.
    checks: Vec<Check>,
    /// The rows that any of the queries searches.
    rows: Range<usize>,
}

/// A vector that words are compared with.
struct Cue<'a> {
    vector: Cow<'a, [f32]>,
    /// One divided by its norm.
    inverse_norm: f32,
    /// Whether dot products take the place of its cosines.
    is_product: bool,
}

/// What estimates need.
struct Estimates<'a> {
    rows: &'a QuantizedRows,
    /// Of each cue.
    estimators: Vec<Estimator>,
    /// How far the score of each query can be from its estimate.
    errors: Vec<f32>,
}

/// A query whose terms are cues.
struct CuedQuery {
    positive: Vec<usize>,
    negative: Vec<usize>,
    combine: Combine,
    n: usize,
    rows: Range<usize>,
    exclude: Vec<usize>,
}

/// The cosines of each cue with the rows of a block.
type Cosines = [[f32; BLOCK]];

/// What a thread knows and reuses.
struct Worker {
    best: Vec<Best>,
    /// The score that a further row of each query must exceed.
    bars: Vec<f32>,
    cosines: Vec<[f32; BLOCK]>,
    scratch: Scratch,
}

impl<'a> Pass<'a> {
    /// Takes as many queries as fit into a pass, and at least one.
    fn new<'query: 'a>(
        embeddings: &'a Embeddings,
        queries: &mut std::iter::Peekable<impl Iterator<Item = Query<'query>>>,
    ) -> Pass<'a> {
        let mut pass = Pass {
            embeddings,
            cues: Vec::new(),
            queries: Vec::new(),
            estimates: None,
            checks: Vec::new(),
            rows: 0..0,
        };
        let mut cues_of_rows = HashMap::new();
        loop {
            let fits = |query: &Query<'_>| {
                let n_terms = query.positive.len() + query.negative.len();
                pass.queries.is_empty()
                    || pass.cues.len() + n_terms <= MAX_CUES && pass.queries.len() < MAX_QUERIES
            };
            let Some(query) = queries.next_if(fits) else { break };
            let (cues, is_product) = (&mut pass.cues, query.combine == Combine::Dot);
            let mut cue = |term| match term {
                Term::Row(row) => *cues_of_rows.entry((row, is_product)).or_insert_with(|| {
                    let (vector, inverse_norm) = (embeddings.vector_at(row), embeddings.inverse_norm(row));
                    cues.push(Cue { vector, inverse_norm, is_product });
                    cues.len() - 1
                }),
                Term::Vector(vector) => {
                    let inverse_norm = inverse_norm(Kernel::best().dot(&vector, &vector));
                    cues.push(Cue { vector, inverse_norm, is_product });
                    cues.len() - 1
                }
            };
            let positive = query.positive.into_iter().map(&mut cue).collect();
            let negative = query.negative.into_iter().map(&mut cue).collect();
            let end = query.rows.end.min(embeddings.len());
            let rows = query.rows.start.min(end)..end;
            pass.rows = match pass.queries.is_empty() {
                true => rows.clone(),
                false => pass.rows.start.min(rows.start)..pass.rows.end.max(rows.end),
            };
            let Query { combine, n, exclude, .. } = query;
            let exclude = exclude.into_iter().filter_map(|row| embeddings.vocabulary_row(row)).collect();
            let query = CuedQuery { positive, negative, combine, n: n.min(rows.len()), rows, exclude };
            pass.checks.push(query.check());
            pass.queries.push(query);
        }
        pass.estimates = pass.estimates();
        pass
    }

    fn estimates(&self) -> Option<Estimates<'a>> {
        let rows =
            self.embeddings.quantized_rows().filter(|rows| rows.quantization() == Quantization::Int8)?;
        let can_be_estimated = |query: &CuedQuery| {
            query.combine == Combine::Add && query.n.saturating_mul(ROWS_PER_ANSWER) <= query.rows.len()
        };
        let has_norms = self.cues.iter().all(|cue| cue.inverse_norm > 0.0)
            && !rows.has_extreme_norms(self.embeddings.dimensions());
        if !has_norms || !self.queries.iter().all(can_be_estimated) {
            return None;
        }
        let estimators: Vec<Estimator> =
            self.cues.iter().map(|cue| Estimator::new(&cue.vector, cue.inverse_norm)).collect();
        let errors = self.queries.iter().map(|query| query.error(&estimators)).collect();
        Some(Estimates { rows, estimators, errors })
    }

    fn run(&self, kernel: Kernel, threads: usize, progress: &SearchObserver<'_>) -> Option<Vec<Best>> {
        let work_per_row = self.embeddings.dimensions() * self.cues.len() + self.queries.len();
        let rows_per_share = (WORK_PER_SHARE / work_per_row).max(1).next_multiple_of(BLOCK);
        let n_shares = self.rows.len().div_ceil(rows_per_share);
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let is_ended = AtomicBool::new(false);
        let work = || {
            let mut worker = Worker::new(self);
            loop {
                // A thread's shares ascend: of equal scores, the first it meets is the one to keep.
                let start = self.rows.start + next.fetch_add(1, Ordering::Relaxed) * rows_per_share;
                if start >= self.rows.end || is_ended.load(Ordering::Relaxed) {
                    return worker.best;
                }
                let rows = start..self.rows.end.min(start + rows_per_share);
                kernel.run(Scan { pass: self, kernel, rows, worker: &mut worker });
                let share = (done.fetch_add(1, Ordering::Relaxed) + 1) as f64 / n_shares as f64;
                if progress(share).is_break() {
                    is_ended.store(true, Ordering::Relaxed);
                }
            }
        };
        let best = thread::scope(|scope| {
            let others: Vec<_> = (1..threads.min(n_shares)).map(|_| scope.spawn(work)).collect();
            let mut best = work();
            for other in others {
                let other = other.join().expect("a search does not panic");
                best.iter_mut().zip(other).for_each(|(best, other)| best.merge(other));
            }
            best
        });
        (!is_ended.into_inner()).then_some(best)
    }

    /// Computes the cosines of all cues with the rows of a block.
    #[inline(always)]
    fn fill(&self, kernel: Kernel, block: Range<usize>, worker: &mut Worker) {
        let dimensions = self.embeddings.dimensions();
        for start in block.clone().step_by(ROWS_IN_L1) {
            let rows = start..block.end.min(start + ROWS_IN_L1);
            let position = rows.start - block.start..rows.end - block.start;
            let (values, inverse_norms) =
                self.embeddings.table.rows.block(kernel, rows, dimensions, &mut worker.scratch);
            let is_wide = inverse_norms.contains(&0.0);
            for (cue, cosines) in self.cues.iter().zip(&mut worker.cosines) {
                let cosines = &mut cosines[position.clone()];
                kernel.dots(&cue.vector, values, cosines);
                let dots = cosines.iter_mut().zip(inverse_norms);
                match cue.is_product {
                    false => {
                        dots.for_each(|(value, &norm)| *value = cosine(*value, [cue.inverse_norm, norm]));
                    }
                    true => {
                        dots.for_each(|(value, &norm)| *value = product(*value, [cue.inverse_norm, norm]));
                    }
                }
                if !cue.is_product && (is_wide || cue.inverse_norm == 0.0) {
                    cue.fill_wide(values, inverse_norms, cosines);
                }
            }
        }
    }

    /// Estimates the cosines of all cues with the rows of a block.
    #[inline(always)]
    fn fill_by_estimates(
        &self,
        estimates: &Estimates<'_>,
        kernel: Kernel,
        block: Range<usize>,
        worker: &mut Worker,
    ) {
        for start in block.clone().step_by(ROWS_IN_L1) {
            let rows = start..block.end.min(start + ROWS_IN_L1);
            let position = rows.start - block.start..rows.end - block.start;
            let bytes = ByteBlock::new(estimates.rows, rows, self.embeddings.dimensions());
            for (estimator, cosines) in estimates.estimators.iter().zip(&mut worker.cosines) {
                estimator.estimate(kernel, &bytes, &mut cosines[position.clone()]);
            }
        }
    }

    /// The score of one row.
    fn score(&self, kernel: Kernel, query: &CuedQuery, row: usize, scratch: &mut Scratch) -> f32 {
        let dimensions = self.embeddings.dimensions();
        let (vector, inverse_norm) =
            self.embeddings.table.rows.block(kernel, row..row + 1, dimensions, scratch);
        query.score(|cue| {
            let cue = &self.cues[cue];
            cosine_of(kernel, &cue.vector, vector, [cue.inverse_norm, inverse_norm[0]])
        })
    }

    /// Takes the rows of a block that are better than the worst of the best.
    fn improve(&self, kernel: Kernel, number: usize, block: Range<usize>, worker: &mut Worker) {
        let (query, best) = (&self.queries[number], &mut worker.best[number]);
        for row in block.start.max(query.rows.start)..block.end.min(query.rows.end) {
            let mut similarity = match self.checks[number] {
                Check::Cosine(cue) => worker.cosines[cue][row - block.start],
                _ => query.score(|cue| worker.cosines[cue][row - block.start]),
            };
            if let Some(estimates) = &self.estimates {
                if similarity <= best.bar() - estimates.errors[number] {
                    continue;
                }
                similarity = self.score(kernel, query, row, &mut worker.scratch);
            }
            let candidate = Candidate { similarity, row };
            if best.wants(candidate) && !query.exclude.contains(&row) {
                best.take(candidate);
            }
        }
        worker.bars[number] = best.bar();
    }
}

impl Cue<'_> {
    /// Computes the cosines with the rows that have no inverse norm, or with all if this vector has none.
    #[cold]
    fn fill_wide(&self, rows: &[f32], inverse_norms: &[f32], cosines: &mut [f32]) {
        let rows = rows.chunks_exact(self.vector.len()).zip(inverse_norms);
        for ((row, &inverse_norm), cosine) in rows.zip(cosines) {
            if inverse_norm == 0.0 || self.inverse_norm == 0.0 {
                *cosine = wide_cosine(&self.vector, row);
            }
        }
    }
}

impl Worker {
    fn new(pass: &Pass<'_>) -> Worker {
        let best: Vec<Best> = pass.queries.iter().map(|query| Best::new(query.n)).collect();
        Worker {
            bars: best.iter().map(Best::bar).collect(),
            best,
            cosines: vec![[0.0; BLOCK]; pass.cues.len()],
            scratch: Scratch::default(),
        }
    }
}

/// A thread's share of a pass, compiled for each instruction set.
struct Scan<'a> {
    pass: &'a Pass<'a>,
    kernel: Kernel,
    rows: Range<usize>,
    worker: &'a mut Worker,
}

impl Work for Scan<'_> {
    type Result = ();

    #[inline(always)]
    fn run(self) {
        let Scan { pass, kernel, rows, worker } = self;
        for block in blocks(rows) {
            match &pass.estimates {
                None => pass.fill(kernel, block.clone(), worker),
                Some(estimates) => pass.fill_by_estimates(estimates, kernel, block.clone(), worker),
            }
            for (number, check) in pass.checks.iter().enumerate() {
                let error = pass.estimates.as_ref().map_or(0.0, |estimates| estimates.errors[number]);
                // Hardly any block has a better row, once a few were read.
                if check.may_exceed(worker.bars[number] - error, &worker.cosines) {
                    pass.improve(kernel, number, block.clone(), worker);
                }
            }
        }
    }
}

fn blocks(rows: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    rows.clone().step_by(BLOCK).map(move |start| start..rows.end.min(start + BLOCK))
}

impl CuedQuery {
    /// The score of a row, from its cosine with each cue.
    #[inline(always)]
    fn score(&self, cosine: impl Fn(usize) -> f32) -> f32 {
        let [positive, negative] =
            [&self.positive, &self.negative].map(|cues| cues.iter().map(|&cue| cosine(cue)));
        match self.combine {
            Combine::Add | Combine::Dot => {
                negative.fold(positive.fold(0.0, |sum, cosine| sum + cosine), |sum, cosine| sum - cosine)
            }
            Combine::Multiply { epsilon } => {
                let product = |cosine: f32, product: f32| product * ((1.0 + cosine) / 2.0);
                let above = positive.fold(1.0, |all, cosine| product(cosine, all));
                above / (negative.fold(1.0, |all, cosine| product(cosine, all)) + epsilon)
            }
        }
    }

    /// How far a sum of cosines can be from its estimate: by the errors of the cosines, and by the rounding of the sum.
    fn error(&self, estimators: &[Estimator]) -> f32 {
        let cues = || self.positive.iter().chain(&self.negative);
        let n_cues = cues().count() as f32;
        cues().map(|&cue| estimators[cue].error).sum::<f32>() + n_cues * n_cues * f32::EPSILON
    }

    fn check(&self) -> Check {
        match (&self.positive[..], &self.negative[..], self.combine) {
            (&[cue], [], Combine::Add | Combine::Dot) => Check::Cosine(cue),
            (&[b, c], &[a], Combine::Add) => Check::Add([a, b, c]),
            (&[b, c], &[a], Combine::Multiply { epsilon }) => Check::Multiply([a, b, c], epsilon),
            _ => Check::None,
        }
    }
}

/// Tells by vector instructions, and without a division, whether any row of a block may exceed a score.
#[derive(Clone, Copy)]
enum Check {
    Cosine(usize),
    Add([usize; 3]),
    Multiply([usize; 3], f32),
    /// Rarer queries do without.
    None,
}

impl Check {
    /// Rows beyond the end of a short last block are checked, too: a needless yes does no harm.
    #[inline(always)]
    fn may_exceed(self, bar: f32, cosines: &Cosines) -> bool {
        match self {
            Check::Cosine(cue) => greatest([&cosines[cue]], |[cosine]| cosine) > bar,
            Check::Add(cues) => greatest(cues.map(|cue| &cosines[cue]), |[a, b, c]| b + c - a) > bar,
            Check::Multiply(cues, epsilon) => {
                // (b + 1)/2 · (c + 1)/2 / ((a + 1)/2 + ε) > bar, with a little less than the bar: rounding must not hide
                // a score above it.
                let (bar, shift) = (2.0 * (bar - bar.abs() * 1e-5), 1.0 + 2.0 * epsilon);
                let cosines = cues.map(|cue| &cosines[cue]);
                bar == f32::NEG_INFINITY
                    || greatest(cosines, |[a, b, c]| (b + 1.0) * (c + 1.0) - bar * (a + shift)) > 0.0
            }
            Check::None => true,
        }
    }
}

/// The greatest value that a function takes on a block.
#[inline(always)]
fn greatest<const N: usize>(cosines: [&[f32; BLOCK]; N], value: impl Fn([f32; N]) -> f32) -> f32 {
    let mut greatest = [f32::NEG_INFINITY; LANES];
    for chunk in 0..BLOCK / LANES {
        let chunks = cosines.map(|cosines| &cosines.as_chunks::<LANES>().0[chunk]);
        for lane in 0..LANES {
            let value = value(chunks.map(|chunk| chunk[lane]));
            greatest[lane] = if value > greatest[lane] { value } else { greatest[lane] };
        }
    }
    greatest.into_iter().fold(f32::NEG_INFINITY, f32::max)
}

#[cfg(test)]
mod tests;
