//! Fits the table: weighted least squares over the words of the vocabulary, by conjugate gradients.
//!
//! Let `a` be the mean of a word's rows and `y` its vector minus the mean vector. The table minimizes
//! Σ weight · |a − y|² + ridge · |table|². The mean vector is added to every row at the end, and so to every estimate: what
//! n-grams do not tell is the mean, and not zero. (On RW, that gains 0.3 to 0.7 points.)
//!
//! Every dimension is a system of its own with the same matrix, so threads take slices of [`LANES`] dimensions and share
//! nothing that changes. All sums have a fixed order.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::SubwordOptions;
use super::grams;
use crate::config::available_threads;
use crate::embeddings::Embeddings;
use crate::kernel::{Kernel, Work};
use crate::parameters::{LANES, Lanes};
use crate::{Error, Result};

/// The words that are fitted, at most: the most frequent ones.
const MAX_WORDS: usize = 200_000;

/// Longer words are left out. They are rarely words, and this bounds the memory for n-grams.
const MAX_CHARACTERS: usize = 40;

/// Rarer words are left out of a text that is long enough: their vectors are mostly noise. On RW, 1 loses half a point, and
/// 20 a point and a half.
const MIN_COUNT: u64 = 5;

/// The ridge, where the mean weight of a word is 1. On RW, half and twice as much lose up to half a point.
const RIDGE: f64 = 0.05;

/// Iterations of conjugate gradients. More change RW by at most 0.3, in both directions.
const ITERATIONS: usize = 6;

/// The table, row by row.
pub(super) fn fit(
    embeddings: &Embeddings,
    options: &SubwordOptions,
    threads: Option<usize>,
    kernel: Kernel,
) -> Result<Vec<f32>> {
    if threads == Some(0) {
        return Err(Error::setting("threads", 0, "at least 1"));
    }
    let dimensions = embeddings.dimensions();
    let size = options.buckets * dimensions;
    let mut table: Vec<f32> = Vec::new();
    let bytes = size.saturating_mul(size_of::<f32>());
    table.try_reserve_exact(size).map_err(|_| Error::out_of_memory("the table of subwords", bytes))?;
    table.resize(size, 0.0);
    let n_slices = dimensions.div_ceil(LANES);
    let threads = threads.unwrap_or_else(available_threads).min(n_slices);
    let system = System::new(embeddings, options);
    let (next, shared) = (AtomicUsize::new(0), Mutex::new(&mut table));
    let work = || {
        let mut scratch = Scratch::new(options.buckets);
        loop {
            let slice = next.fetch_add(1, Ordering::Relaxed);
            if slice >= n_slices {
                return;
            }
            let columns = slice * LANES..dimensions.min((slice + 1) * LANES);
            kernel.run(Solve { system: &system, embeddings, first: columns.start, scratch: &mut scratch });
            let mut table = shared.lock().expect("no thread panics while it writes");
            for (row, solution) in table.chunks_exact_mut(dimensions).zip(&scratch.solution) {
                let mean = &system.mean[columns.clone()];
                for ((value, solution), mean) in row[columns.clone()].iter_mut().zip(solution).zip(mean) {
                    *value = solution + mean;
                }
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    Ok(table)
}

/// The maximum number of bytes besides the table.
pub(super) fn max_bytes(options: &SubwordOptions, words: usize, threads: usize) -> u64 {
    // A word has fewer n-grams of each length than characters, and itself. A list that grows has up to twice its size, and its old copy.
    let grams = (options.max - options.min + 1) * (MAX_CHARACTERS + 2) + 1;
    let word = 3 * (size_of::<Word>() + grams * grams::HASHES * size_of::<u32>());
    let scratch = 4 * size_of::<Lanes>() * options.buckets;
    let diagonal = (size_of::<f64>() + size_of::<f32>()) * options.buckets;
    (words.min(MAX_WORDS) * word + threads * scratch + diagonal) as u64
}

/// The words with their weights, and the rows of each.
struct System {
    words: Vec<Word>,
    /// The rows of all words, one after the other.
    rows: Vec<u32>,
    /// The mean of the words' vectors.
    mean: Vec<f32>,
    /// One divided by the diagonal of the matrix, by row of the table: Jacobi's preconditioner.
    inverse_diagonal: Vec<f32>,
}

struct Word {
    row: usize,
    /// What an error of the length of its vector (minus the mean) costs, in the mean of all words: the square root of its
    /// count, because a vector that was seen more often is more certain.
    weight: f64,
    /// The end of its rows.
    end: usize,
}

impl System {
    fn new(embeddings: &Embeddings, options: &SubwordOptions) -> System {
        let mut words = Vec::new();
        let mut rows = Vec::new();
        let min_count = embeddings.default_min_count().min(MIN_COUNT);
        let mut sums = vec![0.0; embeddings.dimensions()];
        for row in embeddings.candidates(Some(min_count), Some(MAX_WORDS)) {
            let word = embeddings.word(row);
            // A vector of zeros, or one that is not finite, has an inverse norm of 0.
            let is_fitted = embeddings.inverse_norm(row) > 0.0;
            if word.is_empty() || word.chars().count() > MAX_CHARACTERS || !is_fitted {
                continue;
            }
            grams::for_each_row(word, options, |row| rows.push(row as u32));
            words.push(Word { row, weight: 0.0, end: rows.len() });
            let vector = embeddings.vector_at(row);
            sums.iter_mut().zip(&*vector).for_each(|(sum, &value)| *sum += f64::from(value));
        }
        let mean: Vec<f32> = sums.into_iter().map(|sum| (sum / words.len().max(1) as f64) as f32).collect();
        for word in &mut words {
            let certainty = embeddings
                .known_count(word.row)
                .map_or(1.0, |_| (embeddings.recent_count(word.row) as f64).sqrt());
            let difference = |(&value, &mean)| f64::from(value - mean).powi(2);
            let length = embeddings.vector_at(word.row).iter().zip(&mean).map(difference).sum::<f64>();
            // The only word of its kind is the mean itself.
            word.weight = if length > 0.0 { certainty / length } else { 0.0 };
        }
        let mean_weight = words.iter().map(|word| word.weight / words.len() as f64).sum::<f64>();
        let mut diagonal = vec![RIDGE; options.buckets];
        let mut start = 0;
        for word in &mut words {
            if mean_weight > 0.0 {
                word.weight /= mean_weight;
            }
            let length = (word.end - start) as f64;
            for &row in &rows[start..word.end] {
                diagonal[row as usize] += word.weight / (length * length);
            }
            start = word.end;
        }
        let inverse_diagonal = diagonal.into_iter().map(|value| (1.0 / value) as f32).collect();
        System { words, rows, mean, inverse_diagonal }
    }

    #[inline(always)]
    fn words(&self) -> impl Iterator<Item = (&Word, &[u32])> {
        let mut start = 0;
        self.words.iter().map(move |word| {
            let rows = &self.rows[start..word.end];
            start = word.end;
            (word, rows)
        })
    }
}

/// What one thread needs to solve a slice: a row of each for every row of the table. (Memory mappings of their own, with rows
/// aligned to cache lines, took a quarter longer.)
struct Scratch {
    solution: Vec<Lanes>,
    residual: Vec<Lanes>,
    direction: Vec<Lanes>,
    image: Vec<Lanes>,
}

impl Scratch {
    fn new(buckets: usize) -> Scratch {
        let zeros = || vec![[0.0; LANES]; buckets];
        Scratch { solution: zeros(), residual: zeros(), direction: zeros(), image: zeros() }
    }
}

/// Solves the systems of a slice of dimensions.
struct Solve<'a> {
    system: &'a System,
    embeddings: &'a Embeddings,
    first: usize,
    scratch: &'a mut Scratch,
}

impl Work for Solve<'_> {
    type Result = ();

    #[inline(always)]
    fn run(self) {
        let Solve { system, embeddings, first, scratch } = self;
        let Scratch { solution, residual, direction, image } = scratch;
        solution.fill([0.0; LANES]);
        residual.fill([0.0; LANES]);
        for (word, rows) in system.words() {
            let vector = embeddings.vector_at(word.row);
            let end = vector.len().min(first + LANES);
            let mut part = [0.0; LANES];
            let scale = (word.weight / rows.len() as f64) as f32;
            for ((part, value), mean) in part.iter_mut().zip(&vector[first..end]).zip(&system.mean[first..]) {
                *part = scale * (value - mean);
            }
            rows.iter().for_each(|&row| add(&mut residual[row as usize], &part));
        }
        let mut energy = [0.0; LANES];
        for ((residual, direction), &inverse) in
            residual.iter().zip(&mut *direction).zip(&system.inverse_diagonal)
        {
            for lane in 0..LANES {
                direction[lane] = inverse * residual[lane];
                energy[lane] += f64::from(residual[lane]) * f64::from(direction[lane]);
            }
        }
        for _ in 0..ITERATIONS {
            for (image, direction) in image.iter_mut().zip(&*direction) {
                for lane in 0..LANES {
                    image[lane] = RIDGE as f32 * direction[lane];
                }
            }
            for (word, rows) in system.words() {
                let mut sum = [0.0; LANES];
                rows.iter().for_each(|&row| add(&mut sum, &direction[row as usize]));
                let scale = (word.weight / (rows.len() * rows.len()) as f64) as f32;
                sum.iter_mut().for_each(|value| *value *= scale);
                rows.iter().for_each(|&row| add(&mut image[row as usize], &sum));
            }
            let mut curvature = [0.0; LANES];
            for (image, direction) in image.iter().zip(&*direction) {
                for lane in 0..LANES {
                    curvature[lane] += f64::from(image[lane]) * f64::from(direction[lane]);
                }
            }
            let step = quotients(&energy, &curvature);
            let mut next_energy = [0.0; LANES];
            for (((residual, solution), (direction, image)), &inverse) in residual
                .iter_mut()
                .zip(&mut *solution)
                .zip(direction.iter().zip(&*image))
                .zip(&system.inverse_diagonal)
            {
                for lane in 0..LANES {
                    solution[lane] += step[lane] * direction[lane];
                    residual[lane] -= step[lane] * image[lane];
                    next_energy[lane] += f64::from(residual[lane]) * f64::from(inverse * residual[lane]);
                }
            }
            let keep = quotients(&next_energy, &energy);
            for ((residual, direction), &inverse) in
                residual.iter().zip(&mut *direction).zip(&system.inverse_diagonal)
            {
                for lane in 0..LANES {
                    direction[lane] = inverse * residual[lane] + keep[lane] * direction[lane];
                }
            }
            energy = next_energy;
        }
    }
}

#[inline(always)]
fn add(sum: &mut Lanes, values: &Lanes) {
    for lane in 0..LANES {
        sum[lane] += values[lane];
    }
}

/// The quotients, or 0 where a column is solved.
#[inline(always)]
fn quotients(dividends: &[f64; LANES], divisors: &[f64; LANES]) -> Lanes {
    let mut quotients = [0.0; LANES];
    for lane in 0..LANES {
        if divisors[lane] > 0.0 {
            quotients[lane] = (dividends[lane] / divisors[lane]) as f32;
        }
    }
    quotients
}
