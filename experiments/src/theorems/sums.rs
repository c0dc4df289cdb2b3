//! Sums over the pieces of a text.

use super::expansion::Expansion;
use super::vocabulary::{Pieces, ReducedText};
use crate::parallel::{in_parallel, n_cores};

/// Pieces are summed in this number of groups, so that the sum does not depend on the number of threads.
const GROUPS: usize = 64;

/// r(a, b) and r(b, a).
type Pair = [f64; 2];

/// Statistics of the words within a piece.
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
struct Sums {
    /// Of h, for each position.
    direction: Vec<f64>,
    /// For each position, of the pairs with the words 0, 1, 2 … positions before it.
    pairs: Vec<Vec<Pair>>,
    curvature: f64,
    squared_direction: f64,
}

impl Covariances {
    pub fn of(text: &ReducedText, pieces: &Pieces, expansion: &Expansion) -> Self {
        let size = text.counts.len() as u16;
        let row = |a: u16| (0..size).map(move |b| [expansion.rest(a, b), expansion.rest(b, a)]);
        let table: Vec<Pair> = (0..size).flat_map(row).collect();
        let groups = in_parallel(n_cores(), GROUPS, |group| {
            let mut sums = Sums::zero(pieces.longest());
            let mut counts = vec![0; text.counts.len()];
            for piece in (group..pieces.len()).step_by(GROUPS) {
                sums.add_piece(text.piece(pieces, piece), &table, expansion, &mut counts);
            }
            sums
        });
        let mut sums = Sums::zero(pieces.longest());
        for group in &groups {
            sums.add(group);
        }

        let mean = |sum: f64| sum / pieces.len() as f64;
        let later = |pairs: &Vec<Pair>| {
            let mut sum = 0.0;
            let others = pairs.iter().skip(1).map(|pair| {
                sum += mean(pair[1]);
                sum
            });
            std::iter::once(0.0).chain(others).collect()
        };
        Covariances {
            direction: sums.direction.into_iter().map(mean).collect(),
            earlier: sums.pairs.iter().map(|pairs| mean(pairs.iter().map(|pair| pair[0]).sum())).collect(),
            later: sums.pairs.iter().map(later).collect(),
            curvature: mean(sums.curvature),
            squared_direction: mean(sums.squared_direction),
        }
    }
}

impl Sums {
    fn zero(longest: usize) -> Self {
        let pairs = (0..longest).map(|place| vec![Pair::default(); place + 1]).collect();
        Self { direction: vec![0.0; longest], pairs, curvature: 0.0, squared_direction: 0.0 }
    }

    /// `counts` is all zeros before and after the call.
    fn add_piece(&mut self, words: &[u16], table: &[Pair], expansion: &Expansion, counts: &mut [u32]) {
        let (mut directions, mut slopes, mut bends) = (0.0, 0.0, 0.0);
        for (place, &word) in words.iter().enumerate() {
            let word = usize::from(word);
            let row = &table[word * counts.len()..][..counts.len()];
            for (other, sums) in words[..=place].iter().rev().zip(&mut self.pairs[place]) {
                let pair = &row[usize::from(*other)];
                sums[0] += pair[0];
                sums[1] += pair[1];
            }
            self.direction[place] += expansion.direction[word];
            directions += expansion.direction[word];
            slopes += expansion.slopes[word];
            // The increase of the square of the count.
            bends += f64::from(2 * counts[word] + 1) * expansion.bends[word];
            counts[word] += 1;
        }
        for &word in words {
            counts[usize::from(word)] = 0;
        }
        self.curvature += bends - 2.0 * slopes * directions + 2.0 * words.len() as f64 * directions;
        self.squared_direction += directions * directions;
    }

    fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.direction.iter_mut().zip(&other.direction) {
            *mine += theirs;
        }
        let pairs = self.pairs.iter_mut().flatten().zip(other.pairs.iter().flatten());
        for (mine, theirs) in pairs.flat_map(|(mine, theirs)| mine.iter_mut().zip(theirs)) {
            *mine += theirs;
        }
        self.curvature += other.curvature;
        self.squared_direction += other.squared_direction;
    }
}
