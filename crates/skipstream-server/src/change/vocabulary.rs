//! Words that entered and left the vocabulary between two published versions.

use std::collections::HashMap;

use serde::Serialize;

use crate::published::Published;

/// Limit on the words listed in one event.
const MAX_LISTED: usize = 50;

/// The words of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct WordList {
    /// At most 50 words.
    pub words: Vec<String>,
    /// The number of all words.
    pub n: usize,
}

/// The words of the previous version, without its vectors.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Each word, with the round in which it was last seen.
    words: HashMap<Box<str>, u64>,
    round: u64,
}

impl Known {
    pub fn new(published: &Published) -> Known {
        Known { words: published.embeddings.words().map(|word| (word.into(), 0)).collect(), round: 0 }
    }

    /// The words that entered and those that left since the last call; `None` if there are none.
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
        let mut evicted: Vec<Box<str>> = Vec::new();
        if self.words.len() > published.embeddings.len() {
            let round = self.round;
            evicted.extend(self.words.extract_if(|_, seen| *seen < round).map(|(word, _)| word));
            evicted.sort_unstable();
        }
        (list(&arrived), list(&evicted))
    }
}

fn list(words: &[impl AsRef<str>]) -> Option<WordList> {
    let listed = words.iter().take(MAX_LISTED).map(|word| word.as_ref().to_owned()).collect();
    (!words.is_empty()).then_some(WordList { words: listed, n: words.len() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::testing::published;

    #[test]
    fn words_that_enter_and_leave_are_reported_once() {
        let mut known = Known::new(&published(1, &[("a", 5, [1.0; 2]), ("b", 4, [1.0; 2])]));
        let next = published(2, &[("c", 9, [1.0; 2]), ("a", 5, [1.0; 2]), ("d", 1, [1.0; 2])]);
        let (arrived, evicted) = known.follow(&next);
        assert_eq!(arrived.unwrap(), WordList { words: vec!["c".to_owned(), "d".to_owned()], n: 2 });
        assert_eq!(evicted.unwrap(), WordList { words: vec!["b".to_owned()], n: 1 });
        assert_eq!(known.follow(&next), (None, None));
    }

    #[test]
    fn a_long_list_is_cut_and_its_length_reported() {
        let words: Vec<String> = (0..70).map(|number| number.to_string()).collect();
        let cut = list(&words).unwrap();
        assert_eq!((cut.words.len(), cut.n, cut.words[49].as_str()), (50, 70, "49"));
        assert_eq!(list(&[] as &[&str]), None);
    }
}
