//! The hash function of words.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use foldhash::SharedSeed;
use foldhash::fast::SeedableRandomState;

/// Hashes words for the tables that find them.
///
/// Every process draws a key from the operating system. With a known key, anyone could write a text of words that collide,
/// and each of them would be compared with all others. No result depends on the key: tables are never iterated.
#[derive(Clone, Debug)]
pub(crate) struct WordHasher(SeedableRandomState);

impl WordHasher {
    /// The hash function of this process.
    pub fn new() -> WordHasher {
        static KEY: LazyLock<(u64, SharedSeed)> = LazyLock::new(|| {
            let random = || RandomState::new().hash_one(0);
            (random(), SharedSeed::from_u64(random()))
        });
        let (seed, shared) = &*KEY;
        WordHasher(SeedableRandomState::with_seed(*seed, shared))
    }

    #[inline]
    pub fn hash(&self, word: &[u8]) -> u64 {
        self.0.hash_one(word)
    }
}

#[cfg(test)]
mod tests {
    use foldhash::fast::FixedState;

    use super::*;

    #[test]
    fn words_that_collide_under_a_known_key_do_not_collide_here() {
        let collides = |word: &String| FixedState::with_seed(1).hash_one(word.as_bytes()) & 0xFFF == 0;
        let words: Vec<String> =
            (0u64..).map(|number| format!("w{number}")).filter(collides).take(1_000).collect();
        let hasher = WordHasher::new();
        let same = words.iter().filter(|word| hasher.hash(word.as_bytes()) & 0xFFF == 0).count();
        // One in 4,096 by chance. 20 of 1,000 never happen.
        assert!(same < 20, "{same} of {} words are still in one place of a table of 4,096", words.len());
    }

    #[test]
    fn a_process_has_one_hash_function() {
        assert_eq!(WordHasher::new().hash(b"tea"), WordHasher::new().hash(b"tea"));
        assert_ne!(WordHasher::new().hash(b"tea"), WordHasher::new().hash(b"eat"));
    }
}
