//! Algorithm 3 of the paper, word for word.

use super::increment;
use crate::random::Random;

/// The adaptive unigram table as the paper defines it: every slot is visited at every word.
#[derive(Debug)]
pub struct PlainTable {
    exponent: f64,
    size: usize,
    slots: Vec<u32>,
    total: f64,
}

impl PlainTable {
    /// An empty table of `size` slots, τ.
    pub fn new(size: usize, exponent: f64) -> PlainTable {
        PlainTable { exponent, size, slots: Vec::new(), total: 0.0 }
    }

    /// Takes in the `count`-th occurrence of a word.
    pub fn add(&mut self, word: u32, count: u64, random: &mut Random) {
        let increment = increment(count, self.exponent);
        self.total += increment;
        if self.slots.len() < self.size {
            let copies = random.round(increment) as usize;
            let room = self.size - self.slots.len();
            self.slots.extend(std::iter::repeat_n(word, copies.min(room)));
        } else {
            for slot in &mut self.slots {
                if random.uniform() < increment / self.total {
                    *slot = word;
                }
            }
        }
    }

    /// The slots, each of which holds a word with probability q.
    pub fn slots(&self) -> &[u32] {
        &self.slots
    }
}
