//! The adaptive unigram table, in its efficient version (appendix A of the paper), exact under eviction.

use super::{increment, weight};
use crate::random::Random;
use crate::vocabulary::{Recycle, Vocabulary, WordId};

/// A table of words whose shares follow count ^ exponent while the stream goes on.
///
/// **Eviction.** A word that leaves keeps its slots, marked dead by a new generation of its id, and its part in
/// the total z; a draw that hits a dead slot draws again. Each slot holds any word, dead or alive, with
/// probability weight / z, so the live words keep the ratios of their weights exactly. When more than a quarter
/// of z is dead, the table is made anew from the counts; by then the stream has brought as much weight as the
/// walk over the words costs.
#[derive(Clone, Debug, PartialEq)]
pub struct AdaptiveTable {
    exponent: f64,
    size: usize,
    slots: Vec<Slot>,
    /// z of the paper: the weight of all words since the last rebuild, dead ones included.
    total: f64,
    dead: f64,
    /// The generation of each id; a slot of an older one is dead.
    generations: Vec<u32>,
}

/// A word with its generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    word: WordId,
    generation: u32,
}

/// A table as it is saved.
#[derive(Debug)]
pub(crate) struct SavedTable {
    pub slots: Vec<[u32; 2]>,
    pub generations: Vec<u32>,
    pub total: f64,
    pub dead: f64,
}

/// The share of dead weight at which the table is made anew: a draw takes at most 4/3 tries on average.
const DEAD_SHARE: f64 = 0.25;

impl AdaptiveTable {
    /// An empty table of `size` slots, τ.
    pub fn new(size: usize, exponent: f64) -> AdaptiveTable {
        AdaptiveTable {
            exponent,
            size,
            slots: Vec::new(),
            total: 0.0,
            dead: 0.0,
            generations: Vec::new(),
        }
    }

    /// Takes in the `count`-th occurrence of a word.
    pub fn add(&mut self, word: WordId, count: u64, random: &mut Random) {
        let slot = Slot {
            word,
            generation: self.generation(word),
        };
        let increment = increment(count, self.exponent);
        self.total += increment;
        if self.slots.len() < self.size {
            let copies = random.round(increment) as usize;
            let room = self.size - self.slots.len();
            self.slots.extend(std::iter::repeat_n(slot, copies.min(room)));
        } else {
            for _ in 0..random.round(self.size as f64 * increment / self.total) {
                let chosen = random.below(self.slots.len());
                self.slots[chosen] = slot;
            }
        }
    }

    /// A word has left, after `count` occurrences that were added.
    pub fn forget(&mut self, word: WordId, count: u64) {
        self.dead += weight(count, self.exponent);
        self.recycle(word, 0);
    }

    /// Makes the table anew if too much of it is dead. `counts` are those that were added.
    pub fn refresh(&mut self, vocabulary: &Vocabulary, random: &mut Random) {
        if self.dead > DEAD_SHARE * self.total {
            self.rebuild(vocabulary, random);
        }
    }

    /// Systematic sampling: a word of weight w gets w·τ/z slots, rounded up or down with the right expectation.
    fn rebuild(&mut self, vocabulary: &Vocabulary, random: &mut Random) {
        let weigh = |id| weight(vocabulary.count(id), self.exponent);
        let total: f64 = vocabulary.ids().map(weigh).sum();
        let slots = total.min(self.size as f64);
        let mut rebuilt = Vec::with_capacity(slots as usize + 1);
        let mut due = random.uniform();
        for id in vocabulary.ids() {
            due += weigh(id) * slots / total;
            let slot = Slot {
                word: id,
                generation: self.generation(id),
            };
            while due >= 1.0 && rebuilt.len() < self.size {
                rebuilt.push(slot);
                due -= 1.0;
            }
        }
        self.slots = rebuilt;
        self.total = total;
        self.dead = 0.0;
    }

    /// A word drawn with probability q, or nothing where no word is alive.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> Option<WordId> {
        // At most a quarter is dead after `refresh`: this many tries fail together with probability 2^-400.
        for _ in 0..200 {
            if self.slots.is_empty() {
                return None;
            }
            let slot = self.slots[random.below(self.slots.len())];
            if self.is_live(slot) {
                return Some(slot.word);
            }
        }
        self.slots.iter().find(|slot| self.is_live(**slot)).map(|slot| slot.word)
    }

    #[inline]
    fn is_live(&self, slot: Slot) -> bool {
        self.generations.get(slot.word.index()).copied().unwrap_or(0) == slot.generation
    }

    fn generation(&self, word: WordId) -> u32 {
        self.generations.get(word.index()).copied().unwrap_or(0)
    }

    pub(crate) fn save(&self) -> SavedTable {
        SavedTable {
            slots: self.slots.iter().map(|slot| [slot.word.index() as u32, slot.generation]).collect(),
            generations: self.generations.clone(),
            total: self.total,
            dead: self.dead,
        }
    }

    pub(crate) fn restore(&mut self, saved: SavedTable) -> Result<(), String> {
        let SavedTable { slots, generations, total, dead } = saved;
        if slots.len() > self.size {
            return Err(format!("{} noise slots where {} are possible", slots.len(), self.size));
        }
        if !(total.is_finite() && dead.is_finite() && total >= 0.0 && dead >= 0.0) {
            return Err(format!("a noise total of {total}, dead {dead}"));
        }
        self.slots = slots
            .into_iter()
            .map(|[word, generation]| Slot {
                word: WordId::from_saved(word),
                generation,
            })
            .collect();
        self.generations = generations;
        self.total = total;
        self.dead = dead;
        Ok(())
    }

    /// Number of filled slots.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }
}

impl Recycle for AdaptiveTable {
    fn recycle(&mut self, id: WordId, _birth: u64) {
        if self.generations.len() <= id.index() {
            self.generations.resize(id.index() + 1, 0);
        }
        self.generations[id.index()] = self.generations[id.index()].wrapping_add(1);
    }
}
