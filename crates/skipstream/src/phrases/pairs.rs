//! A bounded summary of pairs: the one of Misra and Gries, as in the vocabulary.
//!
//! A pair is three numbers and has no text, so it takes a fraction of the memory of a word.

use std::cmp::Reverse;

use hashbrown::HashTable;

use crate::error::{Error, Result};
use crate::hash::WordHasher;

/// The left part, the right part, and what is between them.
pub(super) type PairKey = [u32; 3];

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pair {
    pub key: PairKey,
    /// Misra–Gries' counter; 0 if a new pair may have the slot.
    pub counter: u32,
    /// Occurrences since the pair was admitted.
    pub count: u64,
    /// The number of units that had been seen when it was admitted. A part that is younger is another word.
    pub birth: u64,
}

#[derive(Clone, Debug)]
pub(super) struct PairTable {
    capacity: usize,
    hasher: WordHasher,
    /// The slots, by key.
    index: HashTable<u32>,
    pairs: Vec<Pair>,
    /// The pairs whose counter was 0 after the last cancellation. The last is the next to go, unless its counter has risen.
    leaving: Vec<u32>,
}

impl PairTable {
    /// An empty table, with all memory that it will need. (The index has twice the capacity, so that it cleans up after
    /// evictions in place.)
    pub fn new(capacity: usize) -> Result<PairTable> {
        let (mut pairs, mut index) = (Vec::new(), HashTable::new());
        if pairs.try_reserve_exact(capacity).is_err() || index.try_reserve(2 * capacity, |_| 0).is_err() {
            let bytes = PairTable::max_bytes(capacity) as usize;
            return Err(Error::out_of_memory(format!("{capacity} pairs"), bytes));
        }
        Ok(PairTable { capacity, hasher: WordHasher::new(), index, pairs, leaving: Vec::new() })
    }

    /// Maximum memory of a table in bytes.
    pub fn max_bytes(capacity: usize) -> u64 {
        let links = (2 * capacity * 8 / 7 + 16).next_power_of_two() * (size_of::<u32>() + 1);
        (capacity * (size_of::<Pair>() + size_of::<u32>()) + links) as u64
    }

    /// Counts a pair. One of the same key that `is_stale` makes room for it.
    pub fn observe(&mut self, key: PairKey, now: u64, is_stale: impl Fn(&Pair) -> bool) {
        let new = Pair { key, counter: 1, count: 1, birth: now };
        if let Some(slot) = self.slot(key) {
            let pair = &mut self.pairs[slot];
            if is_stale(pair) {
                *pair = new;
            } else {
                pair.counter = pair.counter.saturating_add(1);
                pair.count += 1;
            }
        } else if self.pairs.len() < self.capacity {
            self.pairs.push(new);
            self.link(self.pairs.len() - 1);
        } else if let Some(slot) = self.next_to_leave() {
            let old = self.hash(self.pairs[slot].key);
            if let Ok(link) = self.index.find_entry(old, |&other| other as usize == slot) {
                link.remove();
            }
            self.pairs[slot] = new;
            self.link(slot);
        } else {
            // The pair and one count of every other cancel each other.
            self.pairs.iter_mut().for_each(|pair| pair.counter -= 1);
            self.list_leaving();
        }
    }

    /// The pairs, by slot.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    pub fn slot(&self, key: PairKey) -> Option<usize> {
        let is_key = |&slot: &u32| self.pairs[slot as usize].key == key;
        self.index.find(self.hash(key), is_key).map(|&slot| slot as usize)
    }

    /// Keeps the pairs to which `change` gives a key. Those after a pair that leaves move down.
    pub fn retain(&mut self, mut change: impl FnMut(&Pair) -> Option<PairKey>) {
        self.pairs.retain_mut(|pair| {
            let key = change(pair);
            pair.key = key.unwrap_or(pair.key);
            key.is_some()
        });
        self.index.clear();
        (0..self.pairs.len()).for_each(|slot| self.link(slot));
        self.list_leaving();
    }

    /// Takes over saved pairs, or returns what is wrong with them.
    pub fn restore(&mut self, pairs: impl ExactSizeIterator<Item = Pair>) -> Result<(), String> {
        if pairs.len() > self.capacity {
            return Err(format!("{} pairs where {} are possible", pairs.len(), self.capacity));
        }
        for pair in pairs {
            if self.slot(pair.key).is_some() {
                return Err(format!("pair {} is there twice", self.pairs.len()));
            }
            self.pairs.push(pair);
            self.link(self.pairs.len() - 1);
        }
        self.list_leaving();
        Ok(())
    }

    fn hash(&self, key: PairKey) -> u64 {
        self.hasher.hash(bytemuck::bytes_of(&key))
    }

    fn link(&mut self, slot: usize) {
        let PairTable { index, pairs, hasher, .. } = self;
        let hash = |&slot: &u32| hasher.hash(bytemuck::bytes_of(&pairs[slot as usize].key));
        index.insert_unique(hash(&(slot as u32)), slot as u32, hash);
    }

    fn next_to_leave(&mut self) -> Option<usize> {
        loop {
            let slot = self.leaving.pop()? as usize;
            if self.pairs[slot].counter == 0 {
                return Some(slot);
            }
        }
    }

    /// Lists the pairs whose counter is 0, the least frequent last; of two that are as frequent, the one of the lower slot.
    fn list_leaving(&mut self) {
        let PairTable { pairs, leaving, .. } = self;
        leaving.clear();
        leaving.extend((0..pairs.len() as u32).filter(|&slot| pairs[slot as usize].counter == 0));
        leaving.sort_unstable_by_key(|&slot| Reverse((pairs[slot as usize].count, slot)));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::random::Random;

    #[test]
    fn counts_are_within_the_error_of_misra_and_gries() {
        for capacity in [10, 40, 400] {
            let mut table = PairTable::new(capacity).unwrap();
            let mut truth: HashMap<PairKey, u64> = HashMap::new();
            let mut random = Random::new(capacity as u64);
            let n = 20_000;
            for _ in 0..n {
                let key = [0, 1, 2].map(|_| (6f64.powf(random.uniform()) - 1.0) as u32);
                *truth.entry(key).or_default() += 1;
                table.observe(key, 0, |_| false);
                assert!(table.pairs().len() <= capacity);
            }
            for (key, &count) in &truth {
                let pair = table.slot(*key).map(|slot| &table.pairs()[slot]);
                let (counter, since) = pair.map_or((0, 0), |pair| (u64::from(pair.counter), pair.count));
                assert!(counter <= since && since <= count);
                assert!((count - counter) * (capacity as u64 + 1) <= n);
            }
        }
    }

    #[test]
    fn a_table_that_was_saved_continues_as_if_it_had_not_been() {
        let mut random = Random::new(1);
        let mut key = move || [0, 1, 2].map(|_| (5f64.powf(random.uniform()) - 1.0) as u32);
        let mut whole = PairTable::new(20).unwrap();
        let mut resumed = PairTable::new(20).unwrap();
        for number in 0..5_000 {
            let key = key();
            whole.observe(key, number, |_| false);
            resumed.observe(key, number, |_| false);
            if number.is_multiple_of(37) {
                let saved = resumed.pairs().to_vec();
                resumed = PairTable::new(20).unwrap();
                resumed.restore(saved.into_iter()).unwrap();
            }
            assert_eq!(whole.pairs(), resumed.pairs());
        }
    }

    #[test]
    fn a_pair_of_words_that_are_gone_starts_again() {
        let mut table = PairTable::new(5).unwrap();
        (0..3).for_each(|_| table.observe([1, 2, 0], 10, |_| false));
        table.observe([1, 2, 0], 20, |pair| pair.birth < 15);
        assert_eq!(table.pairs(), [Pair { key: [1, 2, 0], counter: 1, count: 1, birth: 20 }]);
    }

    #[test]
    fn pairs_that_stay_are_found_under_their_new_keys() {
        let mut table = PairTable::new(5).unwrap();
        (0..5).for_each(|left| table.observe([left, 9, 0], 0, |_| false));
        table.retain(|pair| (pair.key[0] % 2 == 0).then(|| [pair.key[0] / 2, 9, 0]));
        assert_eq!(
            (0..4).map(|left| table.slot([left, 9, 0])).collect::<Vec<_>>(),
            [Some(0), Some(1), Some(2), None]
        );
    }

    #[test]
    fn too_many_pairs_and_equal_pairs_are_refused() {
        let pair = |left| Pair { key: [left, 0, 0], counter: 1, count: 1, birth: 0 };
        let restore = |pairs: Vec<Pair>| PairTable::new(2).unwrap().restore(pairs.into_iter()).unwrap_err();
        assert_eq!(restore(vec![pair(1), pair(2), pair(3)]), "3 pairs where 2 are possible");
        assert_eq!(restore(vec![pair(1), pair(1)]), "pair 1 is there twice");
    }
}
