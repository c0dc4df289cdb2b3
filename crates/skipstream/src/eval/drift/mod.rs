//! Drift: the words that were added, removed or moved between two states of a model, here called snapshots.
//!
//! The snapshots are aligned first, by the rotation that all words have in common (`rotation.rs`). A word's movement is the
//! cosine distance between its old vector and its new one. Words are ranked by how many standard deviations farther they
//! moved than other words of their frequency (`floor.rs`): a rare word that moved far may mean nothing, a frequent one that
//! moved half as far may mean a lot.
//!
//! The step by which training moves a vector turns a short vector farther than a long one, and words that occur in any company
//! (*and*, *which*, *also*) have short vectors. So a word must also have moved farther than others as the distance is measured
//! in steps: the cosine distance times the lengths of both vectors. A word's surprise is the lower of the two.
//!
//! A word's frequency is its lower count in the two snapshots, because the less certain of its two vectors decides how far
//! apart they are by chance.
//!
//! A word that did not occur since the old snapshot cannot have moved by itself: its vector moves a little because other words
//! pull it along. Only words with at least five new occurrences are ranked, and the noise floor is measured on them alone.
//!
//! The overlap of a word's nearest neighbors before and after is a second opinion that does not depend on the alignment.

mod floor;
mod rotation;

use std::cmp::Reverse;

use serde::Serialize;

pub use floor::FloorPoint;

use crate::Result;
use crate::embeddings::{Embeddings, Neighbor, Query, VectorsError};
use floor::{Floor, SMALLEST_DISTANCE, median};
use rotation::Rotation;

/// The number of most frequent words to which the rotation is fitted.
const ANCHORS: usize = 5_000;

/// The rotation takes memory quadratic and time cubic in the dimensions.
const MAX_DIMENSIONS: usize = 4_096;

/// The number of words whose overlaps are averaged.
const SAMPLE: usize = 200;

/// A word is ranked if it occurred at least this many times since the old snapshot.
const MIN_NEW_OCCURRENCES: u64 = 5;

/// With fewer ranked words, the noise floor would be a guess.
const MIN_RANKED: usize = 10;

/// States of one model share a basis, so most of their vectors agree before they are aligned. In two models that were
/// trained apart, the median cosine is about 0.
const MIN_COSINE_OF_ONE_MODEL: f64 = 0.2;

/// What to compare and list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriftOptions {
    /// The number of most frequent shared words to compare.
    pub top: usize,
    /// The minimum count of a compared word in either snapshot: the vector of a rarer word is too uncertain. Without counts
    /// there is no minimum.
    pub min_count: u64,
    /// The maximum length of the lists of moved, added and removed words.
    pub listed: usize,
    /// The number of nearest neighbors to compare.
    pub neighbors: usize,
}

impl Default for DriftOptions {
    fn default() -> DriftOptions {
        DriftOptions { top: 20_000, min_count: 20, listed: 20, neighbors: 10 }
    }
}

/// What changed between two snapshots.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Drift {
    /// The number of words in the old snapshot.
    pub old_words: usize,
    /// The number of words in the new snapshot.
    pub new_words: usize,
    /// The number of words in both.
    pub shared: usize,
    /// The number of shared words that were compared.
    pub considered: usize,
    /// Their minimum count; `None` if neither snapshot has counts.
    pub min_count: Option<u64>,
    /// The number of compared words that occurred at least five times since the old snapshot, or all if counts are not known.
    /// Only these can have moved.
    pub ranked: usize,
    /// Reasons not to trust the comparison.
    pub warnings: Vec<DriftWarning>,
    /// The median cosine of old and new vectors before alignment; `None` without words.
    pub cosine_before_rotation: Option<f64>,
    /// The median cosine after alignment.
    pub cosine: Option<f64>,
    /// The mean share of nearest neighbors that stay the same, over words of all frequencies; `None` without words.
    pub typical_overlap: Option<f64>,
    /// A word is above the noise floor if it moved more than this many standard deviations farther than words of its
    /// frequency: a quarter more than √(2 ln n) for n words, about the maximum by chance.
    pub floor_deviations: f64,
    /// The noise floor by frequency, the most frequent words first.
    pub floor: Vec<FloorPoint>,
    /// The number of words above the noise floor.
    pub above_floor: usize,
    /// The words that moved most for their frequency, in that order.
    pub moved: Vec<MovedWord>,
    /// Words that only the new snapshot has.
    pub came: Others,
    /// Words that only the old snapshot has.
    pub left: Others,
    /// Every compared word, the most frequent first.
    #[serde(skip)]
    pub movements: Vec<Movement>,
}

/// A reason not to trust a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DriftWarning {
    /// Too few words have enough new occurrences to tell movement from chance, so no word is said to have moved.
    TooLittleText,
    /// The vectors do not look like two states of one model, so differences between two trainings count as movement.
    NotOneModel,
    /// Most words have a lower count in the new snapshot, so the two may have been swapped.
    Swapped,
}

/// How far a word moved.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Movement {
    /// The word.
    pub word: String,
    /// Its count in the old snapshot, if known.
    pub old_count: Option<u64>,
    /// Its count in the new snapshot, if known.
    pub new_count: Option<u64>,
    /// Occurrences since the old snapshot, if both counts are known.
    pub new_occurrences: Option<u64>,
    /// The lower of the two counts; without counts, a number that keeps the order.
    #[serde(skip)]
    pub frequency: u64,
    /// The cosine between its old vector and its new one, after alignment.
    pub cosine: f64,
    /// How many standard deviations farther it moved than the median word of its frequency: by the cosine distance, or by that
    /// distance times the lengths of both vectors, whichever is less.
    pub surprise: f64,
    /// Whether it is above the noise floor.
    pub above_floor: bool,
}

/// A word that moved, with its neighbors.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MovedWord {
    /// How far it moved.
    #[serde(flatten)]
    pub movement: Movement,
    /// The share of its nearest neighbors that stayed the same.
    pub overlap: f64,
    /// Its nearest neighbors in the old snapshot, among the compared words.
    pub neighbors_before: Vec<String>,
    /// Its nearest neighbors in the new snapshot.
    pub neighbors_after: Vec<String>,
}

/// Words that only one snapshot has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Others {
    /// Their number.
    pub total: usize,
    /// The most frequent of them, with their counts, if known.
    pub words: Vec<(String, Option<u64>)>,
}

impl Drift {
    /// Compares two snapshots, which must have the same dimensions.
    ///
    /// ```
    /// use skipstream::Embeddings;
    /// use skipstream::eval::{Drift, DriftOptions};
    ///
    /// let old = Embeddings::new(2, [("tea", 90), ("milk", 80), ("ink", 70)], vec![1.0, 0.1, 1.0, 0.2, 0.0, 1.0])?;
    /// let new = Embeddings::new(2, [("tea", 95), ("milk", 85), ("jam", 30)], vec![0.1, 1.0, 0.2, 1.0, 1.0, 1.0])?;
    /// let drift = Drift::between(&old, &new, &DriftOptions::default())?;
    /// assert!(drift.moved.is_empty(), "the new vectors are a mirror image of the old ones");
    /// assert_eq!(drift.came.words, [("jam".to_owned(), Some(30))]);
    /// assert_eq!(drift.left.words, [("ink".to_owned(), Some(70))]);
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    pub fn between(old: &Embeddings, new: &Embeddings, options: &DriftOptions) -> Result<Drift> {
        if old.dimensions() != new.dimensions() {
            return Err(VectorsError::Snapshots { old: old.dimensions(), new: new.dimensions() }.into());
        }
        if old.dimensions() > MAX_DIMENSIONS {
            let (dimensions, limit) = (old.dimensions(), MAX_DIMENSIONS);
            return Err(VectorsError::TooManyDimensions { dimensions, limit }.into());
        }
        let (shared, pairs) = Pair::considered(old, new, options);
        let both = Both::new(old, new, &pairs)?;
        let rotation = both.rotation();
        let cosines: Vec<f64> = (0..pairs.len()).map(|row| both.cosine(row, &rotation)).collect();
        let distances: Vec<(u64, f64)> =
            pairs.iter().zip(&cosines).map(|(pair, cosine)| (pair.frequency, distance(*cosine))).collect();
        let lengths = lengths(old, new, &pairs);
        let steps: Vec<(u64, f64)> = distances
            .iter()
            .zip(lengths)
            .map(|(&(count, distance), length)| (count, distance * length))
            .collect();
        let ranked: Vec<usize> = (0..pairs.len()).filter(|&row| pairs[row].is_ranked()).collect();
        let of_ranked = |all: &[(u64, f64)]| ranked.iter().map(|&row| all[row]).collect::<Vec<_>>();
        let (floor, steps_floor) =
            (Floor::measure(&of_ranked(&distances)), Floor::measure(&of_ranked(&steps)));
        let surprise = |row: usize| {
            let [(count, distance), (_, step)] = [distances[row], steps[row]];
            floor.surprise(count, distance).min(steps_floor.surprise(count, step))
        };
        let cosine_before_rotation =
            (!pairs.is_empty()).then(|| median((0..pairs.len()).map(|row| both.plain_cosine(row)).collect()));
        let warnings = warnings(&pairs, ranked.len(), cosine_before_rotation);
        let is_too_little = warnings.contains(&DriftWarning::TooLittleText);
        let movements: Vec<Movement> = pairs
            .iter()
            .enumerate()
            .map(|(row, pair)| {
                let surprise = surprise(row);
                Movement {
                    word: old.word(pair.old).to_owned(),
                    old_count: pair.old_count,
                    new_count: pair.new_count,
                    new_occurrences: pair.new_occurrences(),
                    frequency: pair.frequency,
                    cosine: cosines[row],
                    surprise,
                    above_floor: pair.is_ranked() && !is_too_little && surprise > floor.deviations,
                }
            })
            .collect();

        let n_ranked = ranked.len();
        let mut order = ranked;
        order.retain(|&row| !is_too_little && distances[row].1 >= SMALLEST_DISTANCE);
        order.sort_by(|&left, &right| movements[right].surprise.total_cmp(&movements[left].surprise));
        order.truncate(options.listed);
        Ok(Drift {
            old_words: old.len(),
            new_words: new.len(),
            shared,
            considered: pairs.len(),
            min_count: (old.has_counts() || new.has_counts()).then_some(options.min_count),
            ranked: n_ranked,
            warnings,
            cosine_before_rotation,
            cosine: (!pairs.is_empty()).then(|| median(cosines)),
            typical_overlap: both.typical_overlap(options.neighbors)?,
            floor_deviations: floor.deviations,
            above_floor: movements.iter().filter(|movement| movement.above_floor).count(),
            moved: both.moved(&order, &movements, options.neighbors)?,
            came: Others::of(new, old, options.listed),
            left: Others::of(old, new, options.listed),
            floor: floor.points,
            movements,
        })
    }
}

/// A word that both snapshots have.
struct Pair {
    old: usize,
    new: usize,
    old_count: Option<u64>,
    new_count: Option<u64>,
    /// The lower of the two counts, or a number that keeps the order.
    frequency: u64,
}

impl Pair {
    /// Occurrences since the old snapshot. A lower count means that the word left and came back in between.
    fn new_occurrences(&self) -> Option<u64> {
        let (old, new) = (self.old_count?, self.new_count?);
        Some(if new < old { new } else { new - old })
    }

    fn is_ranked(&self) -> bool {
        self.new_occurrences().is_none_or(|occurrences| occurrences >= MIN_NEW_OCCURRENCES)
    }

    /// The number of shared words, and those to compare, the most frequent first.
    fn considered(old: &Embeddings, new: &Embeddings, options: &DriftOptions) -> (usize, Vec<Pair>) {
        let pair = |row: usize| {
            let new_row = new.exact_index_of(old.word(row))?;
            let (old_count, new_count) = (old.known_count(row), new.known_count(new_row));
            let known = old_count.into_iter().chain(new_count).min();
            let frequency = known.unwrap_or_else(|| old.count(row).min(new.count(new_row)));
            Some(Pair { old: row, new: new_row, old_count, new_count, frequency })
        };
        let mut pairs: Vec<Pair> = (0..old.len()).filter_map(pair).collect();
        let shared = pairs.len();
        if old.has_counts() || new.has_counts() {
            pairs.retain(|pair| pair.frequency >= options.min_count);
        }
        pairs.sort_by_key(|pair| (Reverse(pair.frequency), pair.old));
        pairs.truncate(options.top);
        (shared, pairs)
    }
}

fn warnings(pairs: &[Pair], ranked: usize, cosine_before_rotation: Option<f64>) -> Vec<DriftWarning> {
    let shrank =
        pairs.iter().filter(|pair| pair.new_count < pair.old_count && pair.new_count.is_some()).count();
    let is_swapped = 2 * shrank > pairs.len();
    let is_other_model = cosine_before_rotation.is_some_and(|cosine| cosine < MIN_COSINE_OF_ONE_MODEL);
    // Identical snapshots have nothing to warn about: nothing happened between them.
    let is_same = !pairs.is_empty() && pairs.iter().all(|pair| pair.new_count == pair.old_count);
    [
        (is_swapped, DriftWarning::Swapped),
        (is_other_model, DriftWarning::NotOneModel),
        (ranked < MIN_RANKED && !is_same, DriftWarning::TooLittleText),
    ]
    .into_iter()
    .filter_map(|(holds, warning)| holds.then_some(warning))
    .collect()
}

/// The compared words, with the same rows in both snapshots.
struct Both {
    old: Embeddings,
    new: Embeddings,
}

impl Both {
    fn new(old: &Embeddings, new: &Embeddings, pairs: &[Pair]) -> Result<Both> {
        let select = |from: &Embeddings, row: fn(&Pair) -> usize| {
            // Numbers instead of counts keep the order.
            let words = pairs
                .iter()
                .zip((0..pairs.len() as u64).rev())
                .map(|(pair, rank)| (old.word(pair.old), rank));
            let vectors = pairs.iter().flat_map(|pair| from.unit_vector(row(pair))).collect();
            Embeddings::new(from.dimensions(), words, vectors)
        };
        Ok(Both { old: select(old, |pair| pair.old)?, new: select(new, |pair| pair.new)? })
    }

    fn rotation(&self) -> Rotation {
        let rows: Vec<_> = (0..self.old.len().min(ANCHORS))
            .map(|row| (self.old.vector_at(row), self.new.vector_at(row)))
            .collect();
        Rotation::between(self.old.dimensions(), rows.iter().map(|(old, new)| (&old[..], &new[..])))
    }

    fn cosine(&self, row: usize, rotation: &Rotation) -> f64 {
        cosine(&self.old.vector_at(row), &rotation.apply(&self.new.vector_at(row)))
    }

    fn plain_cosine(&self, row: usize) -> f64 {
        cosine(&self.old.vector_at(row), &self.new.vector_at(row))
    }

    /// The words of some rows, with their neighbors.
    fn moved(&self, rows: &[usize], movements: &[Movement], n: usize) -> Result<Vec<MovedWord>> {
        let names =
            |neighbors: &[Neighbor<'_>]| neighbors.iter().map(|neighbor| neighbor.word.to_owned()).collect();
        let word = |(&row, (before, after)): (&usize, (Vec<_>, Vec<_>))| MovedWord {
            movement: movements[row].clone(),
            overlap: overlap(&before, &after),
            neighbors_before: names(&before),
            neighbors_after: names(&after),
        };
        Ok(rows.iter().zip(self.neighbors(rows, n)?).map(word).collect())
    }

    /// The nearest neighbors of some rows, before and after.
    fn neighbors(
        &self,
        rows: &[usize],
        n: usize,
    ) -> Result<impl ExactSizeIterator<Item = (Vec<Neighbor<'_>>, Vec<Neighbor<'_>>)>> {
        let queries: Vec<Query<'_>> = rows.iter().map(|&row| Query::neighbors(row, n)).collect();
        let before = self.old.search_many(&queries, None)?;
        Ok(before.into_iter().zip(self.new.search_many(&queries, None)?))
    }

    fn typical_overlap(&self, n: usize) -> Result<Option<f64>> {
        let rows: Vec<usize> = (0..self.old.len()).step_by(self.old.len().div_ceil(SAMPLE).max(1)).collect();
        let sum: f64 = self.neighbors(&rows, n)?.map(|(before, after)| overlap(&before, &after)).sum();
        Ok((!rows.is_empty()).then(|| sum / rows.len() as f64))
    }
}

impl Others {
    /// The words of one snapshot that the other does not have.
    fn of(one: &Embeddings, other: &Embeddings, listed: usize) -> Others {
        let missing = || (0..one.len()).filter(|&row| other.exact_index_of(one.word(row)).is_none());
        Others {
            total: missing().count(),
            words: missing()
                .take(listed)
                .map(|row| (one.word(row).to_owned(), one.known_count(row)))
                .collect(),
        }
    }
}

/// The share of the nearest neighbors that are the same; 1 if there are none.
fn overlap(before: &[Neighbor<'_>], after: &[Neighbor<'_>]) -> f64 {
    let same = before.iter().filter(|neighbor| after.iter().any(|other| other.word == neighbor.word)).count();
    if before.is_empty() { 1.0 } else { same as f64 / before.len() as f64 }
}

/// The product of the lengths of each word's two vectors, as a multiple of the median: snapshots may be scaled.
fn lengths(old: &Embeddings, new: &Embeddings, pairs: &[Pair]) -> Vec<f64> {
    let length = |vector: &[f32]| vector.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
    let product = |pair: &Pair| length(&old.vector_at(pair.old)) * length(&new.vector_at(pair.new));
    let products: Vec<f64> = pairs.iter().map(product).collect();
    let middle = median(products.clone());
    // The median is zero if half of the vectors are.
    products.into_iter().map(|product| if middle > 0.0 { product / middle } else { 1.0 }).collect()
}

fn cosine(old: &[f32], new: &[f32]) -> f64 {
    super::pairs::cosine(old, new).clamp(-1.0, 1.0)
}

fn distance(cosine: f64) -> f64 {
    1.0 - cosine
}

#[cfg(test)]
mod tests;
