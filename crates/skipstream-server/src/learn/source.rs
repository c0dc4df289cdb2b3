//! Sentences of the queue, as a trainer reads them.

use skipstream::corpus::{Read, Sentence, Source};

use super::queue::Queue;
use super::times::Times;
use crate::error::Error;

/// Gives the sentences of whole batches, and ends where there is not enough text for another one. It reads on while the
/// trainer is at work on the batch before.
pub struct WholeBatches<'a> {
    queue: &'a mut Queue,
    times: &'a mut Times,
    /// Words that close a batch.
    batch_words: u64,
    /// Words of the open batch.
    words: u64,
    /// Places that may wait for their words' times to be settled.
    most_marks: usize,
    /// Whether it has ended because there are more of those, and not because there is no more text.
    pub is_marked_full: bool,
    /// Why the log could not be read.
    pub failure: Option<Error>,
}

impl<'a> WholeBatches<'a> {
    /// Begins with a batch.
    pub fn new(
        queue: &'a mut Queue,
        times: &'a mut Times,
        batch_words: u64,
        most_marks: usize,
    ) -> WholeBatches<'a> {
        WholeBatches { queue, times, batch_words, words: 0, most_marks, is_marked_full: false, failure: None }
    }
}

impl Source for WholeBatches<'_> {
    fn read(&mut self, sentence: &mut Sentence) -> skipstream::Result<Read> {
        if self.words >= self.batch_words {
            // Behind a batch, so that each attempt learns one at least.
            if self.times.marks() > self.most_marks {
                self.is_marked_full = true;
                return Ok(Read::Pending);
            }
            self.words = 0;
        }
        if self.words == 0 {
            match self.queue.fill(self.batch_words, self.times) {
                Ok(true) => {}
                Ok(false) => return Ok(Read::Pending),
                // A batch has not begun: what was read is learned, and the error is told behind it.
                Err(error) => {
                    self.failure = Some(error);
                    return Ok(Read::Pending);
                }
            }
        }
        let is_taken = self.queue.take(sentence);
        assert!(is_taken, "as many words as close a batch are in the queue");
        self.words += sentence.len() as u64;
        Ok(Read::Sentence)
    }
}

/// Gives the sentences of the queue and leaves them there: for a fork.
pub struct Tail<I>(pub I);

impl<'a, I: Iterator<Item = &'a Sentence>> Source for Tail<I> {
    fn read(&mut self, sentence: &mut Sentence) -> skipstream::Result<Read> {
        sentence.clear();
        let Some(next) = self.0.next() else { return Ok(Read::End) };
        next.tokens().for_each(|token| sentence.push(token));
        Ok(Read::Sentence)
    }
}
