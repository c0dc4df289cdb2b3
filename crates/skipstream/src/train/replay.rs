//! Old text that waits to be trained again.

use crate::corpus::load;
use crate::random::Random;
use crate::vocabulary::WordId;

/// A piece of the stream, in ids.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Segment {
    /// The number of its first token in the stream.
    pub start: u64,
    /// A word for each token, or [`WordId::NONE`].
    pub words: Vec<WordId>,
    /// Where each sentence ends.
    pub ends: Vec<u32>,
    /// The weight of each sentence; empty if all have weight 1.
    pub weights: Vec<f32>,
    /// How many times it is still to be trained.
    pub remaining: u32,
    /// The clock at the start of its batch, with a half-life.
    pub clock: Option<u64>,
}

impl Segment {
    /// Words at which a segment is full. Small, so that a batch replays text from many places of the stream.
    pub const WORDS: usize = 10_000;

    /// Ends a sentence with the last word.
    pub fn end_sentence(&mut self, weight: f32) {
        if weight != 1.0 {
            self.weights.resize(self.ends.len(), 1.0);
        }
        self.ends.push(self.words.len() as u32);
        if weight != 1.0 || !self.weights.is_empty() {
            self.weights.push(weight);
        }
    }

    /// The sentences.
    pub fn sentences(&self) -> impl Iterator<Item = SegmentSentence<'_>> {
        let mut start = 0;
        let weights = self.weights.iter().copied().chain(std::iter::repeat(1.0));
        self.ends.iter().zip(weights).map(move |(&end, weight)| {
            let words = &self.words[start..end as usize];
            let number = self.start + start as u64;
            start = end as usize;
            SegmentSentence { number, words, weight }
        })
    }

    /// The words that it adds to a batch.
    pub fn load(&self) -> usize {
        if self.weights.is_empty() {
            return self.words.len();
        }
        self.sentences().map(|sentence| load(sentence.words.len(), sentence.weight)).sum()
    }
}

/// A sentence of a segment.
pub(crate) struct SegmentSentence<'a> {
    /// The number of its first token in the stream.
    pub number: u64,
    pub words: &'a [WordId],
    pub weight: f32,
}

/// A bounded buffer of segments. When it holds too much, random segments are trained again.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ReplayBuffer {
    segments: Vec<Segment>,
    /// Words still to be trained, each counted once per training.
    due: usize,
}

impl ReplayBuffer {
    pub fn push(&mut self, segment: Segment) {
        self.due += segment.load() * segment.remaining as usize;
        self.segments.push(segment);
    }

    /// Calls `train` with random segments until at most `limit` words are due, and drops segments that are done. So a
    /// batch of n new words brings n · `replays` old ones once the buffer is full, except those that `skips`.
    pub fn drain_to(
        &mut self,
        limit: usize,
        random: &mut Random,
        mut skips: impl FnMut(&Segment) -> bool,
        mut train: impl FnMut(&Segment),
    ) {
        while self.due > limit {
            let chosen = random.below(self.segments.len());
            let segment = &mut self.segments[chosen];
            if !skips(segment) {
                train(segment);
            }
            self.due -= segment.load();
            segment.remaining -= 1;
            if segment.remaining == 0 {
                self.segments.swap_remove(chosen);
            }
        }
    }

    /// Gives every token the word that `id` makes of its number and its word.
    pub fn replace_words(&mut self, id: impl Fn(u64, WordId) -> WordId) {
        for segment in &mut self.segments {
            let numbers = segment.start..;
            numbers.zip(&mut segment.words).for_each(|(number, word)| *word = id(number, *word));
        }
    }

    /// Words still to be trained, each counted once per training.
    pub fn due(&self) -> usize {
        self.due
    }

    /// Whether a sentence has a weight other than 1.
    pub fn has_weights(&self) -> bool {
        self.segments.iter().any(|segment| !segment.weights.is_empty())
    }

    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(start: u64, words: usize, remaining: u32) -> Segment {
        let words = vec![WordId::NONE; words];
        Segment { start, ends: vec![words.len() as u32], words, remaining, ..Segment::default() }
    }

    #[test]
    fn every_segment_is_trained_as_often_as_it_should_and_the_bound_is_kept() {
        for replays in [1, 3] {
            let mut buffer = ReplayBuffer::default();
            let mut random = Random::new(1);
            let mut trained = vec![0; 100];
            for start in 0..100 {
                buffer.push(segment(start, 10, replays));
                let mut now = 0;
                buffer.drain_to(
                    200 * replays as usize,
                    &mut random,
                    |_| false,
                    |segment| {
                        trained[segment.start as usize] += 1;
                        now += 1;
                    },
                );
                assert!(buffer.due() <= 200 * replays as usize);
                assert!(now <= replays, "a batch brings no more than its share of old text");
            }
            let waiting: Vec<u64> = buffer.segments().iter().map(|segment| segment.start).collect();
            assert!(waiting.iter().any(|&start| start < 80), "drawn at random, not in order");
            buffer.drain_to(0, &mut random, |_| false, |segment| trained[segment.start as usize] += 1);
            assert!(trained.iter().all(|&n| n == replays), "{trained:?}");
            assert!(buffer.segments().is_empty());
        }
    }

    #[test]
    fn sentences_know_the_numbers_of_their_tokens() {
        let words = vec![WordId::NONE; 5];
        let segment = Segment { start: 100, words, ends: vec![2, 2, 5], remaining: 1, ..Segment::default() };
        let found: Vec<_> =
            segment.sentences().map(|sentence| (sentence.number, sentence.words.len())).collect();
        assert_eq!(found, [(100, 2), (102, 0), (102, 3)]);
    }

    #[test]
    fn weights_are_kept_from_the_first_that_is_not_one() {
        let mut segment = Segment::default();
        for (words, weight) in [(2, 1.0), (3, 2.5), (1, 0.0), (4, 1.0)] {
            segment.words.extend(vec![WordId::NONE; words]);
            segment.end_sentence(weight);
            assert_eq!(segment.weights.is_empty(), segment.words.len() == 2);
        }
        let weights: Vec<f32> = segment.sentences().map(|sentence| sentence.weight).collect();
        assert_eq!(weights, [1.0, 2.5, 0.0, 1.0]);
        assert_eq!(segment.load(), 2 + 3 * 3 + 1 + 4);
    }
}
