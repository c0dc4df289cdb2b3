//! The time limit for text that does not arrive.

use std::time::{Duration, Instant};

/// Waits for text up to a time limit.
pub struct Patience {
    most: Option<Duration>,
    since: Instant,
    words: Option<u64>,
}

impl Patience {
    /// Without a limit, it waits forever.
    pub fn new(most: Option<Duration>) -> Patience {
        Patience { most, since: Instant::now(), words: None }
    }

    /// Whether the number of words has not changed for the whole time limit.
    pub fn is_over(&mut self, words: u64) -> bool {
        if self.words.replace(words) != Some(words) {
            self.since = Instant::now();
        }
        self.most.is_some_and(|most| self.since.elapsed() >= most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_ends_only_without_words() {
        let mut patience = Patience::new(Some(Duration::from_millis(20)));
        assert!(!patience.is_over(1));
        std::thread::sleep(Duration::from_millis(21));
        assert!(!patience.is_over(2), "a word came");
        std::thread::sleep(Duration::from_millis(21));
        assert!(patience.is_over(2));
        assert!(!Patience::new(None).is_over(0));
    }
}
