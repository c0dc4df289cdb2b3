//! Sums over the pieces of a text.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::difference::EXPONENTS;
use super::expansion::Expansion;
use super::vocabulary::{Pieces, ReducedText};

/// Pieces are summed in this number of groups, so that the sum does not depend on the number of threads.
const GROUPS: usize = 64;

/// r(a, b) and r(b, a) for each exponent, stored side by side.
type Pair = [f64; 2 * EXPONENTS.len()];

/// Statistics of the words within a piece, for one exponent.
pub struct Covariances {
    /// E[h(x_s)] for each position s.
    pub direction: Vec<f64>,
    /// E[r(x_s, x_s)] and of the sum of r(x_s, x_t) over earlier positions t.
    pub earlier: Vec<f64>,
    /// For each position s, the sums of E[r(x_t, x_s)] over the nearest 0, 1, 2 … earlier places t.
    pub later: Vec<Vec<f64>>,
    /// E[N'FN + 2l Σ h].
    pub curvature: f64,
    /// E[(Σ h)²].
    pub squared_direction: f64,
}

/// Sums over pieces.
pub struct Sums {
    /// Of h, for each position.
    direction: Vec<[f64; EXPONENTS.len()]>,
    /// For each position, of the pairs with the words 0, 1, 2 … positions before it.
    pairs: Vec<Vec<Pair>>,
    curvature: [f64; EXPONENTS.len()],
    squared_direction: [f64; EXPONENTS.len()],
}

impl Sums {
    pub fn of(text: &ReducedText, pieces: &Pieces, expansions: &[Expansion; EXPONENTS.len()]) -> Self {
        let size = text.counts.len() as u16;
        let mut table: Vec<Pair> = Vec::with_capacity(text.counts.len().pow(2));
        for a in 0..size {
            for b in 0..size {
                let [first, second] = expansions;
                table.push([first.rest(a, b), first.rest(b, a), second.rest(a, b), second.rest(b, a)]);
            }
        }
        let group = |index: usize| {
            let mut sums = Self::zero(pieces.longest());
            let mut counts = vec![0; text.counts.len()];
            for piece in (index..pieces.len()).step_by(GROUPS) {
                sums.add_piece(text.piece(pieces, piece), &table, expansions, &mut counts);
            }
            sums
        };
        let next = AtomicUsize::new(0);
        let worker = || {
            let mut done = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= GROUPS {
                    return done;
                }
                done.push((index, group(index)));
            }
        };
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let mut groups: Vec<_> = thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
            workers.into_iter().flat_map(|worker| worker.join().expect("a worker does not panic")).collect()
        });
        groups.sort_by_key(|(index, _)| *index);
        let mut sums = Self::zero(pieces.longest());
        for (_, group) in groups {
            sums.add(&group);
        }
        sums
    }

    pub fn covariances(&self, exponent: usize, n_pieces: usize) -> Covariances {
        let mean = |sum: f64| sum / n_pieces as f64;
        Covariances {
            direction: self.direction.iter().map(|place| mean(place[exponent])).collect(),
            earlier: self
                .pairs
                .iter()
                .map(|pairs| mean(pairs.iter().map(|pair| pair[2 * exponent]).sum()))
                .collect(),
            later: self
                .pairs
                .iter()
                .map(|pairs| {
                    let mut sum = 0.0;
                    let others = pairs.iter().skip(1).map(|pair| {
                        sum += mean(pair[2 * exponent + 1]);
                        sum
                    });
                    std::iter::once(0.0).chain(others).collect()
                })
                .collect(),
            curvature: mean(self.curvature[exponent]),
            squared_direction: mean(self.squared_direction[exponent]),
        }
    }

    fn zero(longest: usize) -> Self {
        Self {
            direction: vec![Default::default(); longest],
            pairs: (0..longest).map(|place| vec![Default::default(); place + 1]).collect(),
            curvature: Default::default(),
            squared_direction: Default::default(),
        }
    }

    /// `counts` is all zeros before and after the call.
    fn add_piece(
        &mut self,
        words: &[u16],
        table: &[Pair],
        expansions: &[Expansion; EXPONENTS.len()],
        counts: &mut [u32],
    ) {
        for (place, &word) in words.iter().enumerate() {
            let row = &table[usize::from(word) * counts.len()..][..counts.len()];
            for (other, sums) in words[..=place].iter().rev().zip(&mut self.pairs[place]) {
                let pair = &row[usize::from(*other)];
                for (sum, value) in sums.iter_mut().zip(pair) {
                    *sum += value;
                }
            }
        }
        for (exponent, expansion) in expansions.iter().enumerate() {
            let (mut directions, mut slopes, mut bends) = (0.0, 0.0, 0.0);
            for (place, &word) in words.iter().enumerate() {
                let word = usize::from(word);
                self.direction[place][exponent] += expansion.direction[word];
                directions += expansion.direction[word];
                slopes += expansion.slopes[word];
                // The increase of the square of the count.
                bends += f64::from(2 * counts[word] + 1) * expansion.bends[word];
                counts[word] += 1;
            }
            for &word in words {
                counts[usize::from(word)] = 0;
            }
            self.curvature[exponent] +=
                bends - 2.0 * slopes * directions + 2.0 * words.len() as f64 * directions;
            self.squared_direction[exponent] += directions * directions;
        }
    }

    fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.direction.iter_mut().zip(&other.direction) {
            add(mine, theirs);
        }
        for (mine, theirs) in self.pairs.iter_mut().flatten().zip(other.pairs.iter().flatten()) {
            add(mine, theirs);
        }
        add(&mut self.curvature, &other.curvature);
        add(&mut self.squared_direction, &other.squared_direction);
    }
}

fn add<const N: usize>(mine: &mut [f64; N], theirs: &[f64; N]) {
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        *mine += theirs;
    }
}
