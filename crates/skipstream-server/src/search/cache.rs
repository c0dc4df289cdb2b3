//! Answers of the last minutes, for who asks again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use skipstream::embeddings::Found;

use crate::published::Published;

/// Words whose neighbours are remembered. With ten neighbours of each, that is half a megabyte.
const MAX_WORDS: usize = 1_024;

/// Longer answers are not remembered.
const MAX_NEIGHBORS: usize = 100;

/// The neighbours of words that somebody asked for, of one publication.
#[derive(Debug, Default)]
pub(super) struct Cache {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// It is not kept alive.
    of: Weak<Published>,
    /// By row: how many neighbours were asked for, and the answer.
    answers: HashMap<usize, (usize, Vec<Found>)>,
}

impl Cache {
    /// The `n` nearest of a row, if as many were asked for before: the nearest few are the first of the nearest many.
    pub fn look_up(&self, published: &Arc<Published>, row: usize, n: usize) -> Option<Vec<Found>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.is_of(published) {
            return None;
        }
        let (asked, answer) = known.answers.get(&row)?;
        (n <= *asked).then(|| answer[..n.min(answer.len())].to_vec())
    }

    /// Remembers an answer.
    pub fn remember(&self, published: &Arc<Published>, row: usize, n: usize, answer: &[Found]) {
        if answer.len() > MAX_NEIGHBORS {
            return;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.is_of(published) || known.answers.len() >= MAX_WORDS {
            // When it is full, all begin again: a better choice would cost more than it saves.
            *known = Known { of: Arc::downgrade(published), answers: HashMap::new() };
        }
        known.answers.insert(row, (n, answer.to_vec()));
    }
}

impl Known {
    fn is_of(&self, published: &Arc<Published>) -> bool {
        std::ptr::eq(self.of.as_ptr(), Arc::as_ptr(published))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::testing::published;

    #[test]
    fn fewer_neighbors_than_before_are_known_and_more_are_not() {
        let published = published(5, 2);
        let cache = Cache::default();
        let answer: Vec<Found> = (1..4).map(|row| Found { row, similarity: 0.5 }).collect();
        assert_eq!(cache.look_up(&published, 0, 2), None);
        cache.remember(&published, 0, 3, &answer);
        assert_eq!(cache.look_up(&published, 0, 2).unwrap(), answer[..2]);
        assert_eq!(cache.look_up(&published, 0, 3).unwrap(), answer);
        assert_eq!(cache.look_up(&published, 0, 4), None);
        assert_eq!(cache.look_up(&published, 1, 1), None);
    }

    #[test]
    fn what_was_known_of_older_vectors_is_forgotten() {
        let [old, new] = [published(5, 2), published(5, 2)];
        let cache = Cache::default();
        cache.remember(&old, 0, 1, &[]);
        assert!(cache.look_up(&new, 0, 1).is_none());
        cache.remember(&new, 1, 1, &[]);
        assert!(cache.look_up(&old, 0, 1).is_none() && cache.look_up(&new, 1, 1).is_some());
    }

    #[test]
    fn a_full_cache_begins_again() {
        let published = published(3, 2);
        let cache = Cache::default();
        for row in 0..=MAX_WORDS {
            cache.remember(&published, row, 1, &[]);
        }
        assert!(cache.look_up(&published, 0, 1).is_none());
        assert!(cache.look_up(&published, MAX_WORDS, 1).is_some());
    }
}
