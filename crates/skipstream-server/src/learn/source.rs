//! The sentences of the queue, as sources for a trainer.

use skipstream::Settings;
use skipstream::corpus::{Read, Sentence, Source};
use skipstream::vocabulary::WordTimes;

use super::queue::Queue;
use crate::error::Error;

/// The sentences of whole batches. It ends when the text does not fill another batch, and reads ahead while the trainer
/// works on the previous one.
pub struct WholeBatches<'a> {
    queue: &'a mut Queue,
    times: &'a mut WordTimes,
    /// They say when a batch ends.
    settings: Settings,
    /// Words of the stream before this source.
    start: u64,
    /// Words of the stream so far.
    tokens: u64,
    /// Words that the open batch still takes.
    wanted: u64,
    /// The maximum number of marks in `times`.
    most_marks: usize,
    /// Whether it ended because there are too many marks, and not because there is no more text.
    pub is_marked_full: bool,
    /// Why the log could not be read.
    pub failure: Option<Error>,
}

impl<'a> WholeBatches<'a> {
    /// Starts at a batch boundary, after `tokens` words of the stream.
    pub fn new(
        queue: &'a mut Queue,
        times: &'a mut WordTimes,
        settings: Settings,
        tokens: u64,
        most_marks: usize,
    ) -> WholeBatches<'a> {
        let (wanted, is_marked_full, failure) = (0, false, None);
        WholeBatches {
            queue,
            times,
            settings,
            start: tokens,
            tokens,
            wanted,
            most_marks,
            is_marked_full,
            failure,
        }
    }
}

impl Source for WholeBatches<'_> {
    fn read(&mut self, sentence: &mut Sentence) -> skipstream::Result<Read> {
        if self.wanted == 0 {
            // Only after a batch, so that each attempt learns at least one.
            if self.tokens > self.start && self.times.marks() > self.most_marks {
                self.is_marked_full = true;
                return Ok(Read::Pending);
            }
            let batch_words = self.settings.new_words_per_batch(self.tokens) as u64;
            match self.queue.fill(batch_words, self.times) {
                Ok(true) => self.wanted = batch_words,
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
        self.tokens += sentence.len() as u64;
        self.wanted = self.wanted.saturating_sub(sentence.load() as u64);
        Ok(Read::Sentence)
    }
}

/// All sentences of the queue, which are taken out: the rest before controls of words.
pub struct Rest<'a>(pub &'a mut Queue);

impl Source for Rest<'_> {
    fn read(&mut self, sentence: &mut Sentence) -> skipstream::Result<Read> {
        Ok(if self.0.take(sentence) { Read::Sentence } else { Read::End })
    }
}

/// The sentences of the queue, which stay there: for a fork.
pub struct Tail<I>(pub I);

impl<'a, I: Iterator<Item = &'a Sentence>> Source for Tail<I> {
    fn read(&mut self, sentence: &mut Sentence) -> skipstream::Result<Read> {
        sentence.clear();
        let Some(next) = self.0.next() else { return Ok(Read::End) };
        next.tokens().for_each(|token| sentence.push(token));
        sentence.set_weight(next.weight());
        next.time().into_iter().for_each(|time| sentence.set_time(time));
        next.document().into_iter().for_each(|number| sentence.set_document(number));
        Ok(Read::Sentence)
    }
}
