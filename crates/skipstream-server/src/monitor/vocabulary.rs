//! Words that entered and left the vocabulary between two published versions.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::published::Published;

/// Limit on the words listed in one event.
const MAX_LISTED: usize = 50;

/// Limit on the evicted words that are remembered, to recognize those that return.
const MAX_GONE: usize = 100_000;

/// The words of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct WordList {
    /// At most 50 words.
    pub words: Vec<String>,
    /// The number of all words.
    pub n: usize,
    /// How many of them had left before and returned.
    pub returned: usize,
}

/// The words of earlier versions that occurred often enough to be candidates, without their vectors.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Each word, with the round in which it was last seen.
    words: HashMap<Box<str>, u64>,
    round: u64,
    gone: HashSet<Box<str>>,
}

impl Known {
    pub fn new(published: &Published) -> Known {
        let mut known = Known::default();
        known.follow(published);
        known
    }

    /// Forgets words, so that they are not reported as gone.
    pub fn forget(&mut self, words: &[String]) {
        for word in words {
            self.words.remove(word.as_str());
            self.gone.remove(word.as_str());
        }
    }

    /// The words that entered and those that left since the last call; `None` if there are none. A word enters once it has
    /// the default minimum count.
    pub fn follow(&mut self, published: &Published) -> (Option<WordList>, Option<WordList>) {
        let embeddings = &published.embeddings;
        self.round += 1;
        let mut arrived = Vec::new();
        for word in embeddings.words().take(embeddings.candidates(None, None).len()) {
            match self.words.get_mut(word) {
                Some(round) => *round = self.round,
                None => {
                    self.words.insert(word.into(), self.round);
                    arrived.push(word);
                }
            }
        }
        let round = self.round;
        // The minimum count rises with the stream: a word below it has not left.
        let is_gone = |word: &str, seen: &mut u64| *seen < round && embeddings.index_of(word).is_none();
        let mut evicted: Vec<Box<str>> =
            self.words.extract_if(|word, seen| is_gone(word, seen)).map(|(word, _)| word).collect();
        evicted.sort_unstable();
        let returned = arrived.iter().filter(|word| self.gone.remove(**word)).count();
        if self.gone.len() + evicted.len() > MAX_GONE {
            self.gone.clear();
        }
        let lists = (list(&arrived, returned), list(&evicted, 0));
        self.gone.extend(evicted);
        lists
    }
}

fn list(words: &[impl AsRef<str>], returned: usize) -> Option<WordList> {
    let listed = words.iter().take(MAX_LISTED).map(|word| word.as_ref().to_owned()).collect();
    (!words.is_empty()).then_some(WordList { words: listed, n: words.len(), returned })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::testing::published;

    fn names(words: &[&str], returned: usize) -> Option<WordList> {
        list(words, returned)
    }

    #[test]
    fn words_that_enter_and_leave_are_reported_once() {
        let first = published(1, &[("a", 5, [1.0; 2]), ("b", 4, [1.0; 2])]);
        let mut known = Known::new(&first);
        let next = published(2, &[("c", 9, [1.0; 2]), ("a", 5, [1.0; 2]), ("d", 1, [1.0; 2])]);
        assert_eq!(known.follow(&next), (names(&["c", "d"], 0), names(&["b"], 0)));
        assert_eq!(known.follow(&next), (None, None));
        assert_eq!(known.follow(&first), (names(&["b"], 1), names(&["c", "d"], 0)), "b returned");
    }

    #[test]
    fn a_word_enters_once_it_occurred_often_enough() {
        let version =
            |seq, count| published(seq, &[("often", 4_000_000, [1.0; 2]), ("new", count, [1.0; 2])]);
        let mut known = Known::new(&version(1, 1));
        assert_eq!(known.follow(&version(2, 19)), (None, None));
        assert_eq!(known.follow(&version(3, 20)), (names(&["new"], 0), None));
        // Too rare for a longer stream, and still there.
        let longer = published(4, &[("often", 9_000_000, [1.0; 2]), ("new", 3, [1.0; 2])]);
        assert_eq!(known.follow(&longer), (None, None));
    }

    #[test]
    fn a_long_list_is_cut_and_its_length_reported() {
        let words: Vec<String> = (0..70).map(|number| number.to_string()).collect();
        let cut = list(&words, 3).unwrap();
        assert_eq!((cut.words.len(), cut.n, cut.words[49].as_str()), (50, 70, "49"));
        assert_eq!(list(&[] as &[&str], 0), None);
    }
}
