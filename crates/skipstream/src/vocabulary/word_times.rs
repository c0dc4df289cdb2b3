//! When words were seen.

use super::{Moves, Vocabulary, WordId};

/// When the words of a vocabulary were first and last seen, in microseconds since 1970.
///
/// The vocabulary knows the numbers of a word's first and last token. A caller whose text has times
/// [marks](WordTimes::mark) the tokens where the time changes; marks are needed until the times are
/// [resolved](WordTimes::resolve). So the times depend on the text alone, not on when they are resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordTimes {
    /// The first and the last time of each slot's word, from tokens that are resolved.
    slots: Vec<[i64; 2]>,
    /// Tokens before this one are resolved.
    resolved: u64,
    /// From this token on, the text has this time. Only where the time changes.
    marks: Vec<(u64, i64)>,
}

impl WordTimes {
    /// All words of a vocabulary with the same time.
    pub fn at(time: i64, vocabulary: &Vocabulary) -> WordTimes {
        let slots = vec![[time; 2]; vocabulary.len()];
        WordTimes { slots, resolved: vocabulary.tokens(), marks: Vec::new() }
    }

    /// The saved times of the words with these ids.
    pub(crate) fn restore(vocabulary: &Vocabulary, ids: &[WordId], times: &[[i64; 2]]) -> WordTimes {
        let mut restored = WordTimes::at(0, vocabulary);
        for (id, &times) in ids.iter().zip(times) {
            restored.slots[id.index()] = times;
        }
        restored
    }

    /// The token with this number, and those after it, have this time.
    pub fn mark(&mut self, token: u64, time: i64) {
        if self.marks.last().is_none_or(|(_, last)| *last != time) {
            self.marks.push((token, time));
        }
    }

    /// When a word was first and last seen, in a vocabulary that has learned the marked text; 0 for a pinned word that has
    /// not occurred.
    pub fn of(&self, vocabulary: &Vocabulary, id: WordId) -> [i64; 2] {
        if vocabulary.count(id) == 0 {
            return [0; 2];
        }
        let time = |token: u64, which: usize| {
            if token < self.resolved {
                return self.slots.get(id.index()).map_or(0, |times| times[which]);
            }
            let after = self.marks.partition_point(|(start, _)| *start <= token);
            after.checked_sub(1).map_or(0, |mark| self.marks[mark].1)
        };
        [time(vocabulary.first_token(id), 0), time(vocabulary.last_token(id), 1)]
    }

    /// Looks up the times of all words, and drops the marks that were needed for it.
    pub fn resolve(&mut self, vocabulary: &Vocabulary) {
        let mut slots = vec![[0; 2]; vocabulary.len()];
        for id in vocabulary.ids() {
            slots[id.index()] = self.of(vocabulary, id);
        }
        self.slots = slots;
        self.resolved = vocabulary.tokens();
        // The last mark before the next token still has that token's time.
        let passed = self.marks.partition_point(|(token, _)| *token <= self.resolved);
        self.marks.drain(..passed.saturating_sub(1));
    }

    /// Follows the words to their new slots. The times must be resolved.
    pub(crate) fn follow(&mut self, moves: &Moves) {
        let time = |origin: Option<WordId>| origin.map_or([0; 2], |id| self.slots[id.index()]);
        self.slots = moves.origins().map(|(_, origin)| time(origin)).collect();
    }

    /// The number of marks in memory.
    pub fn marks(&self) -> usize {
        self.marks.len()
    }

    /// Whether the times are those of all tokens that the vocabulary has seen.
    pub(crate) fn is_current(&self, vocabulary: &Vocabulary) -> bool {
        self.resolved == vocabulary.tokens()
    }
}
