//! The adaptive unigram table, in its efficient version (appendix A of the paper), exact under eviction.

use bytemuck::NoUninit;

use super::{increment, weight};
use crate::random::Random;
use crate::vocabulary::WordId;

/// A table of words whose shares follow count ^ exponent as the stream goes on.
///
/// **Eviction.** An evicted word keeps its slots and its part of the total z, but a new generation of its id marks the
/// slots as dead; a draw that hits a dead slot draws again. Each slot holds any word, dead or alive, with probability
/// weight / z, so the ratios of the live words are exact. When more than a quarter of z is dead, the table is rebuilt from
/// the counts; by then the stream has added as much weight as the walk over the words costs.
#[derive(Clone, Debug, PartialEq)]
pub struct AdaptiveTable {
    exponent: f64,
    size: usize,
    slots: Vec<Slot>,
    /// z of the paper: the weight of all words since the last rebuild, dead ones included.
    total: f64,
    dead: f64,
    /// What is known of each id.
    words: Vec<Word>,
}

/// An id: a slot of an older generation is dead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Word {
    /// Occurrences that were added.
    count: u64,
    generation: u32,
}

/// A word with its generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, NoUninit)]
#[repr(C)]
struct Slot {
    word: WordId,
    generation: u32,
}

/// A table as it is saved.
#[derive(Debug)]
pub(crate) struct SavedTable {
    pub slots: Vec<[u32; 2]>,
    pub generations: Vec<u32>,
    pub totals: [f64; 2],
}

/// The share of dead weight at which the table is rebuilt. A draw takes at most 4/3 tries on average.
const DEAD_SHARE: f64 = 0.25;

impl AdaptiveTable {
    /// An empty table of `size` slots, τ.
    pub fn new(size: usize, exponent: f64) -> AdaptiveTable {
        AdaptiveTable { exponent, size, slots: Vec::new(), total: 0.0, dead: 0.0, words: Vec::new() }
    }

    /// Takes in an occurrence of a word.
    pub fn add(&mut self, id: WordId, random: &mut Random) {
        let word = self.word(id);
        word.count += 1;
        let slot = Slot { word: id, generation: word.generation };
        let increment = increment(word.count, self.exponent);
        self.total += increment;
        if self.slots.len() < self.size {
            let copies = random.round(increment) as usize;
            let room = self.size - self.slots.len();
            if self.slots.capacity() < self.slots.len() + copies {
                // Twice as much, but never more than the table's size.
                self.slots.reserve_exact(room.min(self.slots.len().max(1 << 10)));
            }
            self.slots.extend(std::iter::repeat_n(slot, copies.min(room)));
        } else {
            for _ in 0..random.round(self.size as f64 * increment / self.total) {
                let chosen = random.below(self.slots.len());
                self.slots[chosen] = slot;
            }
        }
    }

    /// Takes in the whole text so far at once: these are the counts of all ids.
    pub fn recount(&mut self, counts: &[u64], random: &mut Random) {
        self.words.resize(counts.len(), Word::default());
        self.words.iter_mut().zip(counts).for_each(|(word, &count)| word.count = count);
        self.rebuild(random);
    }

    /// Forgets a word that left the vocabulary: its slots are dead, and the next word of its id has no weight yet.
    pub fn forget(&mut self, id: WordId) {
        let exponent = self.exponent;
        let word = self.word(id);
        let gone = weight(word.count, exponent);
        word.count = 0;
        word.generation = word.generation.wrapping_add(1);
        self.dead += gone;
    }

    fn word(&mut self, id: WordId) -> &mut Word {
        if self.words.len() <= id.index() {
            self.words.resize(id.index() + 1, Word::default());
        }
        &mut self.words[id.index()]
    }

    /// Rebuilds the table if too much of it is dead.
    pub fn refresh(&mut self, random: &mut Random) {
        if self.dead > DEAD_SHARE * self.total {
            self.rebuild(random);
        }
    }

    /// Systematic sampling: a word of weight w gets w·τ/z slots, rounded up or down with the right expectation.
    fn rebuild(&mut self, random: &mut Random) {
        let exponent = self.exponent;
        let total: f64 = self.words.iter().map(|word| weight(word.count, exponent)).sum();
        let slots = total.min(self.size as f64);
        self.slots.clear();
        let mut due = random.uniform();
        for (index, word) in (0u32..).zip(&self.words) {
            due += weight(word.count, exponent) * slots / total;
            let slot = Slot { word: WordId::from_saved(index), generation: word.generation };
            while due >= 1.0 && self.slots.len() < self.size {
                self.slots.push(slot);
                due -= 1.0;
            }
        }
        self.total = total;
        self.dead = 0.0;
    }

    /// Draws a word with probability q. `None` if no word is alive.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> Option<WordId> {
        // At most a quarter is dead after `refresh`: this many tries fail together with probability 2^-400.
        for _ in 0..200 {
            if self.slots.is_empty() {
                return None;
            }
            let slot = self.slots[random.below(self.slots.len())];
            // Without evictions nothing is dead, and the look-up can be saved.
            if self.dead == 0.0 || self.is_live(slot) {
                return Some(slot.word);
            }
        }
        self.slots.iter().find(|slot| self.is_live(**slot)).map(|slot| slot.word)
    }

    #[inline]
    fn is_live(&self, slot: Slot) -> bool {
        let word = self.words.get(slot.word.index());
        word.is_some_and(|word| word.generation == slot.generation)
    }

    /// The slots as they are saved: pairs of word and generation.
    pub(crate) fn saved_slots(&self) -> &[u32] {
        bytemuck::cast_slice(&self.slots)
    }

    pub(crate) fn generations(&self) -> Vec<u32> {
        self.words.iter().map(|word| word.generation).collect()
    }

    /// The total weight, and the dead part of it.
    pub(crate) fn totals(&self) -> [f64; 2] {
        [self.total, self.dead]
    }

    /// The table that was saved; the counts are the vocabulary's.
    pub(crate) fn restore(
        &mut self,
        saved: SavedTable,
        counts: impl Iterator<Item = u64>,
    ) -> Result<(), String> {
        if saved.slots.len() > self.size {
            return Err(format!("{} noise slots where {} are possible", saved.slots.len(), self.size));
        }
        if !saved.totals.iter().all(|total| total.is_finite() && *total >= 0.0) {
            return Err(format!("noise totals of {:?}", saved.totals));
        }
        self.words = saved
            .generations
            .into_iter()
            .zip(counts.chain(std::iter::repeat(0)))
            .map(|(generation, count)| Word { count, generation })
            .collect();
        let n_words = self.words.len() as u32;
        if let Some([word, _]) = saved.slots.iter().find(|slot| slot[0] >= n_words) {
            return Err(format!("noise for slot {word} of {n_words}"));
        }
        let slots = saved.slots.into_iter();
        self.slots =
            slots.map(|[word, generation]| Slot { word: WordId::from_saved(word), generation }).collect();
        [self.total, self.dead] = saved.totals;
        Ok(())
    }

    /// Number of filled slots.
    #[cfg(feature = "unstable")]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether nothing was added.
    #[cfg(feature = "unstable")]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }
}
