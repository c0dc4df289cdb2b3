//! The things that happen.

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::published::{Published, Seq};

/// Words that are listed in one event at the most. How many there are is always told.
const MAX_WORDS: usize = 50;

/// Something that happened.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Event {
    /// New vectors are there to be asked.
    Published {
        /// All lines up to this one are in them.
        seq: Seq,
        /// When.
        time: Timestamp,
        /// Words that are known.
        vocabulary: usize,
        /// Words of text that were learned, since the stream began.
        words: u64,
    },
    /// Words came into the vocabulary.
    Arrived(WordList),
    /// Words had to leave it.
    Evicted(WordList),
    /// What was published was kept.
    Kept(KeptInfo),
    /// A word that somebody watches moved.
    Drift(DriftAlert),
    /// Something cannot be done as it should, and is tried again.
    Problem {
        /// What, for people.
        message: String,
    },
}

/// Words, the most frequent first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WordList {
    /// The first of them.
    pub words: Vec<String>,
    /// How many there are.
    pub n: usize,
}

/// What is known of a kept snapshot
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct KeptInfo {
    /// Its name
    pub name: String,
    /// When its vectors were published
    pub time: Timestamp,
    /// All lines up to this one are learned in it
    pub seq: Seq,
    /// Words that were known then
    pub vocabulary: usize,
    /// Words of text that were learned in it, since the stream began
    pub words: u64,
    /// Whether it stays until somebody deletes it
    pub pinned: bool,
}

/// A watched word that moved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DriftAlert {
    /// The word.
    pub word: String,
    /// The cosine between its old vector and its new one, without the rotation that all words have in common.
    pub cosine: f64,
    /// How many standard deviations of chance it moved farther than words as frequent as it.
    pub surprise: f64,
    /// The name of the kept snapshot that it was compared with.
    pub since: String,
    /// The share of its nearest words that stayed the same.
    pub overlap: f64,
    /// The words nearest to it then.
    pub neighbors_before: Vec<String>,
    /// The words nearest to it now.
    pub neighbors_after: Vec<String>,
}

impl Event {
    /// Its name on the wire.
    pub fn name(&self) -> &'static str {
        match self {
            Event::Published { .. } => "published",
            Event::Arrived(_) => "arrived",
            Event::Evicted(_) => "evicted",
            Event::Kept(_) => "kept",
            Event::Drift(_) => "drift",
            Event::Problem { .. } => "problem",
        }
    }
}

impl From<&Published> for Event {
    fn from(published: &Published) -> Event {
        Event::Published {
            seq: published.seq,
            time: published.time,
            vocabulary: published.embeddings.len(),
            words: published.progress.tokens,
        }
    }
}

impl WordList {
    /// The words of a list; none if there are none.
    pub fn of<'a>(words: impl Iterator<Item = &'a str>) -> Option<WordList> {
        let mut list = WordList { words: Vec::new(), n: 0 };
        for word in words {
            list.n += 1;
            if list.n <= MAX_WORDS {
                list.words.push(word.to_owned());
            }
        }
        (list.n > 0).then_some(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_cut_and_its_length_told() {
        let words: Vec<String> = (0..70).map(|number| number.to_string()).collect();
        let list = WordList::of(words.iter().map(String::as_str)).unwrap();
        assert_eq!((list.words.len(), list.n, list.words[49].as_str()), (50, 70, "49"));
        assert_eq!(WordList::of(std::iter::empty()), None);
    }
}
