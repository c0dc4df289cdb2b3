//! Algorithm 3 of the paper, the adaptive unigram table:
//!
//! ```text
//! 4   f(w) ← f(w) + 1                        `count`, by the caller
//! 5   F ← f(w)^α − (f(w) − 1)^α              `increment`; α is `exponent`
//! 6   z ← z + F                              `total`
//! 7   if |T| < τ                             T is `slots`, τ is `size`
//! 8       add F copies of w to T
//! 9   else
//! 10      for j = 1 … τ
//! 11          T[j] ← w with probability F/z
//! ```
//!
//! F copies are F rounded up or down at random, so that F is their expectation.

use super::super::increment;
use crate::random::Random;

/// The adaptive unigram table as the paper defines it: every word visits every slot.
#[derive(Debug)]
pub struct PlainTable {
    exponent: f64,
    size: usize,
    slots: Vec<u32>,
    total: f64,
}

impl PlainTable {
    /// An empty table of `size` slots.
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

    /// The slots. Each holds a word w with probability q(w).
    pub fn slots(&self) -> &[u32] {
        &self.slots
    }
}
