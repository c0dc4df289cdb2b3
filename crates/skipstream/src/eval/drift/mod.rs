//! What changed between two snapshots of a growing model: words that came, words that left, words that moved.
//!
//! The rotation that all words have in common is taken out first (`rotation.rs`). A word's movement is the cosine distance
//! between its old vector and its new one. How far words move by chance is measured from the words themselves, by
//! frequency (`floor.rs`), and words are ranked by how many standard deviations of that chance they moved: a rare word
//! that went far may mean nothing, a frequent one that went half as far may mean a lot.
//!
//! The frequency that counts is that in the snapshot which knows less of the word: the less certain of its two vectors
//! decides how far apart chance puts them. For the same reason a word that was rare in the old snapshot and is frequent in
//! the new one is expected to move.
//!
//! Neighbours are a second opinion, which no rotation touches: of the nearest words before and after, how many are the
//! same.

mod floor;
mod rotation;

use std::cmp::Reverse;

use serde::Serialize;

pub use floor::FloorPoint;

use crate::embeddings::{Embeddings, Neighbor};
use crate::{Error, Result};
use floor::{Floor, SMALLEST_DISTANCE, median};
use rotation::Rotation;

/// The words that the rotation is fitted to, at the most: the most frequent ones.
const ANCHORS: usize = 5_000;

/// Dimensions at the most: the rotation takes their square in memory and their cube in time.
const MAX_DIMENSIONS: usize = 4_096;

/// The words whose neighbours tell how many are the same as a rule.
const SAMPLE: usize = 200;

/// What to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriftOptions {
    /// Look for movement among so many of the words that both have, the most frequent ones.
    pub top: usize,
    /// And only among words that were seen so often in either: nobody can tell where a rarer one is. Where neither
    /// snapshot has counts, there is no minimum.
    pub min_count: u64,
    /// So many moved, new and gone words are listed.
    pub listed: usize,
    /// The nearest words that are compared.
    pub neighbors: usize,
}

impl Default for DriftOptions {
    fn default() -> DriftOptions {
        DriftOptions { top: 20_000, min_count: 20, listed: 20, neighbors: 10 }
    }
}

/// What changed between two snapshots.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Drift {
    /// Words of the old snapshot.
    pub old_words: usize,
    /// Words of the new snapshot.
    pub new_words: usize,
    /// Words that both have.
    pub shared: usize,
    /// Those of them that were looked at.
    pub considered: usize,
    /// How often those were seen at least; nothing where neither snapshot has counts.
    pub min_count: Option<u64>,
    /// The median cosine of old and new vectors before the common rotation was taken out; nothing of no words.
    pub cosine_before_rotation: Option<f64>,
    /// And after.
    pub cosine: Option<f64>,
    /// The share of nearest words that stay the same, the mean of words of all frequencies; nothing of no words.
    pub typical_overlap: Option<f64>,
    /// A word is above the floor if it moved by more than so many standard deviations of chance: √(2 ln n) of n words,
    /// about the most that chance gives to any of them.
    pub floor_deviations: f64,
    /// What chance does at each frequency, the most frequent words first.
    pub floor: Vec<FloorPoint>,
    /// The words above the floor.
    pub above_floor: usize,
    /// The words that moved most for their frequency, the first most.
    pub moved: Vec<MovedWord>,
    /// All words that came, and the most frequent of them.
    pub came: Others,
    /// All words that left, and the most frequent of them.
    pub left: Others,
    /// Every word that was looked at, the most frequent first.
    #[serde(skip)]
    pub movements: Vec<Movement>,
}

/// How far a word moved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Movement {
    /// The word.
    pub word: String,
    /// Its count in the old snapshot, if that is known.
    pub old_count: Option<u64>,
    /// Its count in the new snapshot, if that is known.
    pub new_count: Option<u64>,
    /// The lower of the two; where neither is known, its place from the end of the file that has it later.
    #[serde(skip)]
    pub frequency: u64,
    /// The cosine between its old vector and its new one, without the common rotation.
    pub cosine: f64,
    /// How many standard deviations of chance it moved farther than the middle of words as frequent as it.
    pub surprise: f64,
    /// Whether that is more than chance gives to any word.
    pub above_floor: bool,
}

/// A word that moved, with its company.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MovedWord {
    /// How far it moved.
    #[serde(flatten)]
    pub movement: Movement,
    /// The share of its nearest words that stayed the same.
    pub overlap: f64,
    /// The words nearest to it in the old snapshot, among those that were looked at.
    pub neighbors_before: Vec<String>,
    /// The words nearest to it in the new snapshot.
    pub neighbors_after: Vec<String>,
}

/// Words that only one snapshot has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Others {
    /// How many there are.
    pub total: usize,
    /// The most frequent of them, with their counts, if these are known.
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
    /// assert!(drift.moved.is_empty(), "all that happened is a mirror image");
    /// assert_eq!(drift.came.words, [("jam".to_owned(), Some(30))]);
    /// assert_eq!(drift.left.words, [("ink".to_owned(), Some(70))]);
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    pub fn between(old: &Embeddings, new: &Embeddings, options: &DriftOptions) -> Result<Drift> {
        if old.dimensions() != new.dimensions() {
            return Err(Error::invalid_vectors(format!(
                "the old vectors have {} dimensions and the new ones {}; only snapshots of one model can be compared",
                old.dimensions(),
                new.dimensions()
            )));
        }
        if old.dimensions() > MAX_DIMENSIONS {
            return Err(Error::invalid_vectors(format!(
                "the vectors have {} dimensions; the rotation between snapshots is found for at most {MAX_DIMENSIONS}",
                old.dimensions()
            )));
        }
        let (shared, pairs) = Pair::considered(old, new, options);
        let both = Both::new(old, new, &pairs)?;
        let rotation = both.rotation();
        let cosines: Vec<f64> = (0..pairs.len()).map(|row| both.cosine(row, &rotation)).collect();
        let distances: Vec<(u64, f64)> =
            pairs.iter().zip(&cosines).map(|(pair, cosine)| (pair.frequency, distance(*cosine))).collect();
        let floor = Floor::measure(&distances);
        let movements: Vec<Movement> = pairs
            .iter()
            .zip(&cosines)
            .map(|(pair, &cosine)| {
                let surprise = floor.surprise(pair.frequency, distance(cosine));
                Movement {
                    word: old.word(pair.old).to_owned(),
                    old_count: pair.old_count,
                    new_count: pair.new_count,
                    frequency: pair.frequency,
                    cosine,
                    surprise,
                    above_floor: surprise > floor.deviations,
                }
            })
            .collect();

        let mut order: Vec<usize> =
            (0..pairs.len()).filter(|&row| distances[row].1 >= SMALLEST_DISTANCE).collect();
        order.sort_by(|&left, &right| movements[right].surprise.total_cmp(&movements[left].surprise));
        order.truncate(options.listed);
        let moved = order.into_iter().map(|row| both.moved(row, &movements[row], options.neighbors));
        let some = !pairs.is_empty();
        Ok(Drift {
            old_words: old.len(),
            new_words: new.len(),
            shared,
            considered: pairs.len(),
            min_count: (old.has_counts() || new.has_counts()).then_some(options.min_count),
            cosine_before_rotation: some
                .then(|| median((0..pairs.len()).map(|row| both.plain_cosine(row)).collect())),
            cosine: some.then(|| median(cosines)),
            typical_overlap: both.typical_overlap(options.neighbors)?,
            floor_deviations: floor.deviations,
            above_floor: movements.iter().filter(|movement| movement.above_floor).count(),
            moved: moved.collect::<Result<_>>()?,
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
    /// How often the word was seen in the snapshot that knows less of it, or a number that keeps the order.
    frequency: u64,
}

impl Pair {
    /// How many words are shared, and those that are looked at, the most frequent first.
    fn considered(old: &Embeddings, new: &Embeddings, options: &DriftOptions) -> (usize, Vec<Pair>) {
        let pair = |row: usize| {
            let new_row = new.index_of(old.word(row))?;
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

/// The words that are looked at, with the same rows in both snapshots.
struct Both {
    old: Embeddings,
    new: Embeddings,
}

impl Both {
    fn new(old: &Embeddings, new: &Embeddings, pairs: &[Pair]) -> Result<Both> {
        let select = |from: &Embeddings, row: fn(&Pair) -> usize| {
            // Numbers in place of counts keep the order.
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

    fn moved(&self, row: usize, movement: &Movement, n: usize) -> Result<MovedWord> {
        let [before, after] = self.neighbors(row, n)?;
        let names =
            |neighbors: &[Neighbor<'_>]| neighbors.iter().map(|neighbor| neighbor.word.to_owned()).collect();
        Ok(MovedWord {
            movement: movement.clone(),
            overlap: overlap(&before, &after),
            neighbors_before: names(&before),
            neighbors_after: names(&after),
        })
    }

    /// The nearest words before and after.
    fn neighbors(&self, row: usize, n: usize) -> Result<[Vec<Neighbor<'_>>; 2]> {
        Ok([
            self.old.neighbors_of_vector(&self.old.vector_at(row), n, &[row])?,
            self.new.neighbors_of_vector(&self.new.vector_at(row), n, &[row])?,
        ])
    }

    fn typical_overlap(&self, n: usize) -> Result<Option<f64>> {
        let step = self.old.len().div_ceil(SAMPLE).max(1);
        let mut overlaps = Vec::new();
        for row in (0..self.old.len()).step_by(step) {
            let [before, after] = self.neighbors(row, n)?;
            overlaps.push(overlap(&before, &after));
        }
        Ok((!overlaps.is_empty()).then(|| overlaps.iter().sum::<f64>() / overlaps.len() as f64))
    }
}

impl Others {
    /// The words of one snapshot that the other does not have.
    fn of(one: &Embeddings, other: &Embeddings, listed: usize) -> Others {
        let missing = || (0..one.len()).filter(|&row| other.index_of(one.word(row)).is_none());
        Others {
            total: missing().count(),
            words: missing()
                .take(listed)
                .map(|row| (one.word(row).to_owned(), one.known_count(row)))
                .collect(),
        }
    }
}

/// The share of the nearest words that are the same; 1 if there are none.
fn overlap(before: &[Neighbor<'_>], after: &[Neighbor<'_>]) -> f64 {
    let same = before.iter().filter(|neighbor| after.iter().any(|other| other.word == neighbor.word)).count();
    if before.is_empty() { 1.0 } else { same as f64 / before.len() as f64 }
}

fn cosine(old: &[f32], new: &[f32]) -> f64 {
    super::pairs::cosine(old, new).clamp(-1.0, 1.0)
}

fn distance(cosine: f64) -> f64 {
    1.0 - cosine
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use crate::corpus::Lines;
    use crate::{Config, MiniBatchOptions, Strategy, Trainer, Vectors};

    fn random_embeddings(n: usize, dimensions: usize) -> Embeddings {
        let mut random = Random::new(3);
        let vectors = (0..n * dimensions).map(|_| random.uniform() as f32 - 0.5).collect();
        Embeddings::new(dimensions, (0..n).map(|row| (format!("w{row}"), (2 * n - row) as u64)), vectors)
            .unwrap()
    }

    fn between(old: &Embeddings, new: &Embeddings) -> Drift {
        Drift::between(old, new, &DriftOptions { min_count: 1, ..DriftOptions::default() }).unwrap()
    }

    /// The same words with other vectors.
    fn with_vectors(embeddings: &Embeddings, change: impl Fn(&str, &[f32]) -> Vec<f32>) -> Embeddings {
        let rows = 0..embeddings.len();
        let vectors =
            rows.clone().flat_map(|row| change(embeddings.word(row), &embeddings.vector_at(row))).collect();
        let words = rows.map(|row| (embeddings.word(row), embeddings.count(row)));
        Embeddings::new(embeddings.dimensions(), words, vectors).unwrap()
    }

    #[test]
    fn vectors_with_too_many_dimensions_are_refused() {
        let one = Embeddings::new(5_000, [("word", 30)], vec![1.0; 5_000]).unwrap();
        let message = Drift::between(&one, &one, &DriftOptions::default()).unwrap_err().to_string();
        assert_eq!(
            message,
            "the vectors have 5000 dimensions; the rotation between snapshots is found for at most 4096"
        );
    }

    #[test]
    fn identical_snapshots_have_not_moved() {
        let embeddings = random_embeddings(300, 8);
        let drift = between(&embeddings, &embeddings);
        assert_eq!((drift.shared, drift.considered, drift.above_floor), (300, 300, 0));
        assert_eq!((drift.moved, drift.came.total, drift.left.total), (Vec::new(), 0, 0));
        assert_eq!(drift.typical_overlap, Some(1.0));
        assert!(drift.cosine.unwrap() > 1.0 - 1e-9);
    }

    #[test]
    fn a_rotated_copy_has_not_moved_and_a_word_that_did_is_found() {
        let old = random_embeddings(300, 8);
        let turned = |vector: &[f32]| {
            let mut turned = vector.to_vec();
            turned.rotate_left(3);
            turned.iter_mut().step_by(2).for_each(|value| *value *= -3.0);
            turned.iter_mut().skip(1).step_by(2).for_each(|value| *value *= 3.0);
            turned
        };
        let drift = between(&old, &with_vectors(&old, |_, vector| turned(vector)));
        assert_eq!((drift.above_floor, drift.moved.len()), (0, 0));
        assert!(drift.cosine_before_rotation.unwrap() < 0.5 && drift.cosine.unwrap() > 1.0 - 1e-6);

        let new = with_vectors(&old, |word, vector| if word == "w7" { vec![1.0; 8] } else { turned(vector) });
        let drift = between(&old, &new);
        assert_eq!((drift.above_floor, drift.moved[0].movement.word.as_str()), (1, "w7"));
        assert!(drift.moved[0].overlap < 0.5);
    }

    #[test]
    fn words_that_came_and_left_are_counted() {
        let old = Embeddings::new(1, [("a", 9), ("b", 8), ("c", 7)], vec![1.0; 3]).unwrap();
        let new = Embeddings::new(1, [("x", 9), ("b", 8), ("y", 7)], vec![1.0; 3]).unwrap();
        let options = DriftOptions { listed: 1, min_count: 1, ..DriftOptions::default() };
        let drift = Drift::between(&old, &new, &options).unwrap();
        assert_eq!(drift.came, Others { total: 2, words: vec![("x".to_owned(), Some(9))] });
        assert_eq!(drift.left, Others { total: 2, words: vec![("a".to_owned(), Some(9))] });
        assert_eq!((drift.old_words, drift.new_words, drift.shared), (3, 3, 1));
    }

    #[test]
    fn without_counts_no_word_is_rare() {
        let counted = random_embeddings(30, 4);
        let uncounted = counted.clone().without_counts();
        let options = DriftOptions { min_count: 55, ..DriftOptions::default() };
        let drift = Drift::between(&uncounted, &uncounted, &options).unwrap();
        assert_eq!((drift.considered, drift.min_count), (30, None));
        assert!(drift.movements.iter().all(|movement| movement.old_count.or(movement.new_count).is_none()));
        let drift = Drift::between(&uncounted, &counted, &options).unwrap();
        assert_eq!((drift.considered, drift.min_count), (6, Some(55)));
    }

    #[test]
    fn rare_words_are_not_looked_at() {
        let embeddings = random_embeddings(30, 4);
        let options = DriftOptions { top: 10, min_count: 55, ..DriftOptions::default() };
        assert_eq!(Drift::between(&embeddings, &embeddings, &options).unwrap().considered, 6);
        let options = DriftOptions { top: 3, ..options };
        assert_eq!(Drift::between(&embeddings, &embeddings, &options).unwrap().considered, 3);
    }

    #[test]
    fn nothing_in_common_is_no_movement() {
        let none: [(&str, u64); 0] = [];
        let empty = Embeddings::new(4, none, Vec::new()).unwrap();
        let drift = between(&empty, &random_embeddings(5, 4));
        assert_eq!((drift.considered, drift.came.total, drift.cosine), (0, 5, None));
    }

    #[test]
    fn other_dimensions_are_refused() {
        let message =
            Drift::between(&random_embeddings(5, 4), &random_embeddings(5, 3), &DriftOptions::default());
        assert_eq!(
            message.unwrap_err().to_string(),
            "the old vectors have 4 dimensions and the new ones 3; only snapshots of one model can be compared"
        );
    }

    /// Sentences about fruit and about computers; `apple` keeps the company that it is told.
    fn text(sentences: usize, apple_in: usize, seed: u64) -> String {
        let topics = ["fruit", "computer"];
        let mut random = Random::new(seed);
        let mut text = String::new();
        for _ in 0..sentences {
            let topic = random.below(2);
            for place in 0..8 {
                match (topic == apple_in, place) {
                    (true, 4) => text += "apple ",
                    _ => text += &format!("{}{} ", topics[topic], random.below(40)),
                }
            }
            text += "\n";
        }
        text
    }

    #[test]
    fn a_word_that_changes_its_company_moves_most() {
        let strategy = Strategy::MiniBatch(MiniBatchOptions { batch_words: 4_000, ..Default::default() });
        let config = Config { dimensions: 16, subsample: 0.0, strategy, ..Config::default() };
        let mut trainer = Trainer::new(config.clone()).unwrap();
        let mut train = |text: String| {
            trainer.train(&mut Lines::new(text.as_bytes(), "text", &config.text).unwrap(), &mut ()).unwrap();
            trainer.embeddings(Vectors::Sum).unwrap()
        };
        let old = train(text(4_000, 0, 1));
        let new = train(text(4_000, 1, 2));
        let drift = Drift::between(&old, &new, &DriftOptions::default()).unwrap();
        let first = &drift.moved[0];
        assert_eq!(first.movement.word, "apple", "{:?}", drift.moved);
        assert!(first.movement.above_floor, "{first:?}");
        assert!(drift.above_floor < 5, "{}", drift.above_floor);
        let fruit = |words: &[String]| words.iter().filter(|word| word.starts_with("fruit")).count();
        assert!(fruit(&first.neighbors_before) >= 9 && fruit(&first.neighbors_after) <= 6, "{first:?}");
    }
}
