//! Which words came and left between publications.

use std::collections::HashMap;

use crate::events::WordList;
use crate::published::Published;

/// The words that were known last. They are kept apart from the vectors, so that old vectors need not stay in memory.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Each word, with the number of the round in which it was seen last.
    words: HashMap<Box<str>, u64>,
    round: u64,
}

impl Known {
    pub fn new(published: &Published) -> Known {
        Known { words: published.embeddings.words().map(|word| (word.into(), 0)).collect(), round: 0 }
    }

    /// The words that came and those that left since the last call.
    pub fn follow(&mut self, published: &Published) -> (Option<WordList>, Option<WordList>) {
        self.round += 1;
        let mut arrived = Vec::new();
        for word in published.embeddings.words() {
            match self.words.get_mut(word) {
                Some(round) => *round = self.round,
                None => {
                    self.words.insert(word.into(), self.round);
                    arrived.push(word);
                }
            }
        }
        let mut evicted = Vec::new();
        if self.words.len() > published.embeddings.len() {
            let round = self.round;
            evicted.extend(self.words.extract_if(|_, seen| *seen < round).map(|(word, _)| word));
            evicted.sort_unstable();
        }
        (WordList::of(arrived.into_iter()), WordList::of(evicted.iter().map(|word| &**word)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::testing::published;

    #[test]
    fn words_that_come_and_leave_are_told_once() {
        let mut known = Known::new(&published(1, &[("a", 5, [1.0; 2]), ("b", 4, [1.0; 2])]));
        let next = published(2, &[("c", 9, [1.0; 2]), ("a", 5, [1.0; 2]), ("d", 1, [1.0; 2])]);
        let (arrived, evicted) = known.follow(&next);
        assert_eq!(arrived.unwrap(), WordList { words: vec!["c".to_owned(), "d".to_owned()], n: 2 });
        assert_eq!(evicted.unwrap(), WordList { words: vec!["b".to_owned()], n: 1 });
        assert_eq!(known.follow(&next), (None, None));
    }
}
