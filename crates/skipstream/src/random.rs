//! Named random numbers: a stream of numbers for each purpose.
//!
//! Each generator is seeded with a hash of the model's seed and of the purpose of its numbers (the birth of a row, a batch,
//! a cell of the grid). So the result depends neither on threads nor on interruptions, and most generators need no state in
//! the model file.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use serde::{Deserialize, Serialize};

/// The purpose of a stream of random numbers. Streams of different purposes are independent.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    /// The first values of a target row.
    Row = 1,
    /// Dropping frequent words, and the sizes of windows.
    Pairs = 2,
    /// The negatives of a cell.
    Negatives = 3,
    /// Which segment is replayed.
    Replay = 4,
    /// Everything of the sentence-by-sentence strategies.
    Sentences = 5,
}

/// A generator of random numbers; its state can be saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The generator of `seed`.
    pub fn new(seed: u64) -> Random {
        Random(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// The generator for a purpose, and the batch, cell or birth it belongs to.
    pub(crate) fn for_purpose(seed: u64, purpose: Purpose, place: [u64; 2]) -> Random {
        let hash =
            [purpose as u64, place[0], place[1]].into_iter().fold(seed, |hash, part| mix(hash ^ mix(part)));
        Random::new(hash)
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number from 0 to `limit` − 1. The bias is below limit / 2⁶⁴.
    #[inline]
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.bits()) * limit as u128) >> 64) as usize
    }

    /// A number from 0 (included) to 1 (excluded).
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// `x` rounded up or down so that its expectation is `x`.
    #[inline]
    pub fn round(&mut self, x: f64) -> u64 {
        let floor = x.floor();
        floor as u64 + u64::from(self.uniform() < x - floor)
    }

    /// How many times to train a sentence of this weight. Takes no random number for a weight of 1.
    #[inline]
    pub fn times(&mut self, weight: f32) -> u64 {
        if weight == 1.0 { 1 } else { self.round(weight.into()) }
    }
}

/// The finaliser of SplitMix64: every bit of the input changes half of the output's.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_keeps_the_expectation() {
        let mut random = Random::new(7);
        let n = 100_000;
        let sum: u64 = (0..n).map(|_| random.round(2.3)).sum();
        let mean = sum as f64 / f64::from(n);
        // The standard error is √(0.3·0.7/n) = 0.0015.
        assert!((mean - 2.3).abs() < 0.008, "{mean}");
    }

    #[test]
    fn purposes_and_places_have_streams_of_their_own() {
        let first = |purpose, place| Random::for_purpose(1, purpose, place).bits();
        let all = [
            first(Purpose::Row, [0, 0]),
            first(Purpose::Row, [0, 1]),
            first(Purpose::Row, [1, 0]),
            first(Purpose::Pairs, [0, 0]),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|b| a != b));
        }
    }

    #[test]
    fn below_stays_below_and_reaches_all() {
        let mut random = Random::new(3);
        let mut seen = [0u32; 7];
        for _ in 0..7_000 {
            seen[random.below(7)] += 1;
        }
        assert!(seen.iter().all(|&n| (850..1150).contains(&n)), "{seen:?}");
    }
}
