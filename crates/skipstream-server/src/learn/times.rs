//! When words were seen.

use jiff::Timestamp;
use skipstream::vocabulary::{Vocabulary, WordId};

use crate::log::from_microseconds;
use crate::published::Seen;

/// When the words of a vocabulary were seen, as their lines say.
///
/// The vocabulary knows the numbers of a word's first and last token. Which line brought a token is remembered as long as
/// that number may be asked for: until the words' times are settled. So the times depend on the lines alone, and not on when
/// somebody looked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// The first and the last time of each slot's word, in microseconds, as far as its tokens are settled.
    slots: Vec<[i64; 2]>,
    /// Tokens before this one are settled.
    settled: u64,
    /// From this token on, lines have this time. Only where it changes.
    marks: Vec<(u64, i64)>,
}

impl Times {
    /// Of words of which only a time is known.
    pub fn at(time: Timestamp, vocabulary: &Vocabulary) -> Times {
        Times {
            slots: vec![[time.as_microsecond(); 2]; vocabulary.slots()],
            settled: vocabulary.tokens(),
            marks: Vec::new(),
        }
    }

    /// As they were saved: for each slot the first and the last time.
    pub fn restored(slots: Vec<[i64; 2]>, settled: u64) -> Times {
        Times { slots, settled, marks: Vec::new() }
    }

    /// The token with this number, and those behind it, are of a line with this time.
    pub fn mark(&mut self, token: u64, time: Timestamp) {
        let time = time.as_microsecond();
        if self.marks.last().is_none_or(|(_, last)| *last != time) {
            self.marks.push((token, time));
        }
    }

    /// When the word was seen, in a vocabulary that has learned these lines.
    pub fn seen(&self, vocabulary: &Vocabulary, id: WordId) -> Seen {
        let [first, last] = self.of(vocabulary, id);
        Seen { first: from_microseconds(first), last: from_microseconds(last) }
    }

    /// Settles the times of all words; what is only needed for that is forgotten.
    pub fn settle(&mut self, vocabulary: &Vocabulary) {
        let mut slots = vec![[0; 2]; vocabulary.slots()];
        for id in vocabulary.ids() {
            slots[id.index()] = self.of(vocabulary, id);
        }
        self.slots = slots;
        self.settled = vocabulary.tokens();
        // The last mark before the next token still says what time that token has.
        let passed = self.marks.partition_point(|(token, _)| *token <= self.settled);
        self.marks.drain(..passed.saturating_sub(1));
    }

    /// What is settled: for each slot the first and the last time.
    pub fn slots(&self) -> &[[i64; 2]] {
        &self.slots
    }

    /// Marks that wait to be settled.
    pub fn marks(&self) -> usize {
        self.marks.len()
    }

    fn of(&self, vocabulary: &Vocabulary, id: WordId) -> [i64; 2] {
        let settled = |which: usize| self.slots.get(id.index()).map_or(0, |times| times[which]);
        let time = |token: u64, which| if token < self.settled { settled(which) } else { self.marked(token) };
        [time(vocabulary.first_token(id), 0), time(vocabulary.last_token(id), 1)]
    }

    fn marked(&self, token: u64) -> i64 {
        let behind = self.marks.partition_point(|(start, _)| *start <= token);
        behind.checked_sub(1).map_or(0, |mark| self.marks[mark].1)
    }
}
