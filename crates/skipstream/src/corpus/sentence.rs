//! A sentence: tokens in one reusable buffer.

use super::passage::Passage;
use crate::Result;

/// The tokens of one sentence, in a buffer that is reused, its weight, and its time and document if it has them.
///
/// ```
/// use skipstream::corpus::Sentence;
///
/// let mut sentence = Sentence::default();
/// sentence.push("word");
/// sentence.push("vectors");
/// assert_eq!(sentence.tokens().collect::<Vec<_>>(), ["word", "vectors"]);
/// ```
#[derive(Debug, Clone)]
pub struct Sentence {
    /// The tokens' bytes, possibly with other bytes between them.
    pub(super) text: String,
    /// Where each token starts and ends in `text`.
    pub(super) spans: Vec<(u32, u32)>,
    weight: f32,
    time: Option<i64>,
    document: Option<u64>,
}

impl Default for Sentence {
    fn default() -> Sentence {
        Sentence { text: String::new(), spans: Vec::new(), weight: 1.0, time: None, document: None }
    }
}

impl Sentence {
    /// The maximum weight: a batch ends with a sentence, however often that is trained, and its memory is bounded.
    pub const MAX_WEIGHT: f32 = 10.0;

    /// Removes all tokens and keeps the memory. The weight is 1 again, and there is no time or document.
    pub fn clear(&mut self) {
        self.text.clear();
        self.spans.clear();
        self.weight = 1.0;
        self.time = None;
        self.document = None;
    }

    /// How many times the sentence is trained, on average, where another is trained once. Its words are counted once.
    pub fn weight(&self) -> f32 {
        self.weight
    }

    /// Sets the weight, from 0 to [`MAX_WEIGHT`](Self::MAX_WEIGHT).
    ///
    /// # Panics
    /// If it is outside this range.
    pub fn set_weight(&mut self, weight: f32) {
        assert!((0.0..=Self::MAX_WEIGHT).contains(&weight), "a weight is from 0 to {}", Self::MAX_WEIGHT);
        self.weight = weight;
    }

    /// The time of the text in microseconds since 1970, if it is known. A [half-life](crate::HalfLife) may be measured by it.
    pub fn time(&self) -> Option<i64> {
        self.time
    }

    /// Sets the time of the text, in microseconds since 1970.
    pub fn set_time(&mut self, time: i64) {
        self.time = Some(time);
    }

    /// The number of the document that it is part of, if it is known. The vocabulary then
    /// [counts](crate::vocabulary::Vocabulary::document_count) the documents that words occur in.
    pub fn document(&self) -> Option<u64> {
        self.document
    }

    /// Sets the number of the document. Sentences in a row with the same number are of one document. The sentences of a
    /// [passage](Source::cut) have none.
    pub fn set_document(&mut self, number: u64) {
        self.document = Some(number);
    }

    /// The words that it adds to a batch: all of them as often as its weight says, rounded up, and at least once.
    pub fn load(&self) -> usize {
        load(self.len(), self.weight)
    }

    /// Adds a token at the end.
    ///
    /// # Panics
    /// If the tokens of one sentence exceed 4 GiB.
    pub fn push(&mut self, token: &str) {
        let start = self.text.len();
        self.text.push_str(token);
        self.spans.push((offset(start), offset(self.text.len())));
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there are no tokens.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The tokens, in order.
    pub fn tokens(&self) -> impl ExactSizeIterator<Item = &str> {
        self.spans.iter().map(|&(start, end)| &self.text[start as usize..end as usize])
    }

    pub(crate) fn token(&self, number: usize) -> &str {
        let (start, end) = self.spans[number];
        &self.text[start as usize..end as usize]
    }
}

/// The words that a sentence adds to a batch.
pub(crate) fn load(words: usize, weight: f32) -> usize {
    words * (weight.ceil() as usize).max(1)
}

pub(super) fn offset(bytes: usize) -> u32 {
    u32::try_from(bytes).expect("a sentence is far below 4 GiB: its words and their bytes are limited")
}

/// What reading from a [`Source`] gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    /// The next sentence.
    Sentence,
    /// Nothing now; more may come later.
    Pending,
    /// Nothing more: the text has ended.
    End,
}

impl Read {
    /// Whether there was a sentence.
    pub fn is_sentence(self) -> bool {
        self == Read::Sentence
    }
}

/// A source of sentences.
pub trait Source {
    /// Reads the next sentence into `sentence`, which is cleared first.
    ///
    /// A sentence has at least one token. Where there is none, and after an error, `sentence` is empty.
    fn read(&mut self, sentence: &mut Sentence) -> Result<Read>;

    /// Cuts whole lines of at most `max_bytes` off the text, so that another thread can split them into sentences. `None`
    /// where that is not possible: [`read`](Self::read) gives the next sentence, and another call may succeed after it.
    ///
    /// A passage must be [put back](Self::put_back) before anything else is read.
    fn cut(&mut self, max_bytes: usize) -> Option<Passage> {
        let _ = max_bytes;
        None
    }

    /// Takes back a passage after sentences were taken from it. What is left of it will be cut or read again. Those that
    /// are used up come back in the order in which they were cut, and then the others, the last first.
    fn put_back(&mut self, passage: Passage) {
        drop(passage);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cleared_sentence_holds_only_what_came_after() {
        let mut sentence = Sentence::default();
        sentence.push("old");
        sentence.clear();
        assert!(sentence.is_empty());
        sentence.push("naïve");
        sentence.push("");
        sentence.push("日本");
        assert_eq!(sentence.len(), 3);
        assert_eq!(sentence.tokens().collect::<Vec<_>>(), ["naïve", "", "日本"]);
    }
}
