//! The sentences of the queue, as sources for a trainer.

use skipstream::corpus::{Read, Sentence, Source};
use skipstream::vocabulary::WordTimes;

use super::queue::Queue;
use crate::error::Error;

/// The sentences of whole batches. It ends when the text does not fill another batch, and reads ahead while the trainer
/// works on the previous one.
pub struct WholeBatches<'a> {
    queue: &'a mut Queue,
    times: &'a mut WordTimes,
    /// Words that close a batch.
    batch_words: u64,
    /// Words of the open batch.
    words: u64,
    /// The maximum number of marks in `times`.
    most_marks: usize,
    /// Whether it ended because there are too many marks, and not because there is no more text.
    pub is_marked_full: bool,
    /// Why the log could not be read.
    pub failure: Option<Error>,
}

impl<'a> WholeBatches<'a> {
    /// Starts at a batch boundary.
    pub fn new(
        queue: &'a mut Queue,
        times: &'a mut WordTimes,
        batch_words: u64,
        most_marks: usize,
    ) -> WholeBatches<'a> {
        WholeBatches { queue, times, batch_words, words: 0, most_marks, is_marked_full: false, failure: None }
    }
}

impl Source for WholeBatches<'_> {
    fn read(&mut self, sentence: &mut Sentence) -> skipstream::Result<Read> {
        if self.words >= self.batch_words {
            // Only after a batch, so that each attempt learns at least one.
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
                // No batch has begun: everything that was read is learned before the error is returned.
                Err(error) => {
                    self.failure = Some(error);
                    return Ok(Read::Pending);
                }
            }
        }
        let is_taken = self.queue.take(sentence);
        assert!(is_taken, "the queue has enough words for a batch");
        self.words += sentence.len() as u64;
        Ok(Read::Sentence)
    }
}

/// The sentences of the queue, which stay there: for a fork.
pub struct Tail<I>(pub I);

impl<'a, I: Iterator<Item = &'a Sentence>> Source for Tail<I> {
    fn read(&mut self, sentence: &mut Sentence) -> skipstream::Result<Read> {
        sentence.clear();
        let Some(next) = self.0.next() else { return Ok(Read::End) };
        next.tokens().for_each(|token| sentence.push(token));
        Ok(Read::Sentence)
    }
}
