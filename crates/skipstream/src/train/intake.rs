//! Text → a batch that is ready to be trained: read, counted, subsampled, with its windows.

use super::initial::Initial;
use super::replay::{ReplayBuffer, Segment};
use crate::config::Settings;
use crate::corpus::{Read, Sentence, Source};
use crate::error::{Error, Result};
use crate::pairs::{PairSampler, Reach};
use crate::random::{Purpose, Random};
use crate::vocabulary::{FreshWord, Observed, Recycle, Vocabulary, WordId};

/// A batch, with all that training it needs to know: the vocabulary may move on meanwhile.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Which batch of the stream it is.
    pub number: u64,
    /// The words that are left after subsampling, sentence behind sentence.
    pub words: Vec<WordId>,
    /// How far the window of each of them reaches; never out of its sentence.
    pub reaches: Vec<Reach>,
    /// Words whose rows must be reset first, with their births.
    pub fresh: Fresh,
    /// The count of each slot, this batch included.
    pub counts: Vec<u64>,
    /// Tokens of old text in it.
    pub replayed: u64,
}

/// Rows that must be reset before they are used.
#[derive(Debug, Default)]
pub(super) struct Fresh(pub Vec<FreshRow>);

/// A row that must be reset.
#[derive(Clone, Copy, Debug)]
pub(super) struct FreshRow {
    pub id: WordId,
    pub birth: u64,
    /// The row among the initial vectors with which its word starts.
    pub start: Option<u32>,
}

impl Recycle for Fresh {
    fn recycle(&mut self, id: WordId, birth: u64) {
        self.0.push(FreshRow { id, birth, start: None });
    }
}

impl Fresh {
    /// The id of a new word, whose row is to be reset.
    fn admit(&mut self, word: FreshWord, start: Option<u32>) -> WordId {
        let id = word.settle(self);
        self.0.last_mut().expect("settling pushed one").start = start;
        id
    }
}

/// Makes batches.
#[derive(Debug)]
pub(super) struct Intake {
    seed: u64,
    new_words: usize,
    replays: u32,
    /// Old words that may be due.
    due_words: usize,
    sampler: PairSampler,
    /// Batches made.
    pub batches: u64,
    pub replay: ReplayBuffer,
    sentence: Sentence,
    /// What stopped the source behind the last batch.
    failure: Option<Error>,
}

impl Intake {
    pub fn new(settings: &Settings) -> Intake {
        let mut intake = Intake {
            seed: settings.seed(),
            new_words: 0,
            replays: 0,
            due_words: 0,
            sampler: PairSampler::new(settings),
            batches: 0,
            replay: ReplayBuffer::default(),
            sentence: Sentence::default(),
            failure: None,
        };
        intake.set_replays(settings);
        intake
    }

    /// How often new text is trained again, and what follows from it.
    pub fn set_replays(&mut self, settings: &Settings) {
        let options = settings.mini_batch();
        self.replays = options.replays;
        self.new_words = settings.new_words_per_batch();
        self.due_words = options.replay_words * options.replays as usize;
    }

    /// Reads the next batch: [`Read::Sentence`] when there is one. A batch is smaller where the source has no more text,
    /// or none now.
    ///
    /// Where the source fails, what it gave before is a batch; the error comes with the next call.
    pub fn fill(
        &mut self,
        source: &mut dyn Source,
        vocabulary: &mut Vocabulary,
        initial: Option<&Initial>,
        batch: &mut Batch,
    ) -> Result<Read> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        batch.fresh.0.clear();
        let (segments, last) = self.read(source, vocabulary, initial, &mut batch.fresh);
        if segments.is_empty() {
            return self.failure.take().map_or(Ok(last), Err);
        }
        self.seal(segments, self.due_words, vocabulary, batch);
        Ok(Read::Sentence)
    }

    /// The error that would come with the next call.
    pub fn take_failure(&mut self) -> Option<Error> {
        self.failure.take()
    }

    /// Makes a batch of old text alone, until at most `due` words of it are due; false where there is none.
    pub fn fill_from_replay(&mut self, due: usize, vocabulary: &Vocabulary, batch: &mut Batch) -> bool {
        if self.replay.due() <= due {
            return false;
        }
        batch.fresh.0.clear();
        self.seal(Vec::new(), due, vocabulary, batch);
        true
    }

    fn read(
        &mut self,
        source: &mut dyn Source,
        vocabulary: &mut Vocabulary,
        initial: Option<&Initial>,
        fresh: &mut Fresh,
    ) -> (Vec<Segment>, Read) {
        let first = vocabulary.tokens();
        let mut segments: Vec<Segment> = Vec::new();
        while vocabulary.tokens() - first < self.new_words as u64 {
            match source.read(&mut self.sentence) {
                Ok(Read::Sentence) => {}
                Ok(none) => return (segments, none),
                Err(error) => {
                    self.failure = Some(error);
                    break;
                }
            }
            let segment = match segments.last_mut() {
                Some(segment) if segment.words.len() < Segment::WORDS => segment,
                _ => {
                    segments.push(Segment {
                        start: vocabulary.tokens(),
                        remaining: self.replays,
                        ..Segment::default()
                    });
                    segments.last_mut().expect("one was pushed just now")
                }
            };
            for token in self.sentence.tokens() {
                segment.words.push(match vocabulary.observe(token) {
                    Observed::Known(id) => id,
                    Observed::Admitted(word) => {
                        fresh.admit(word, initial.and_then(|initial| initial.row(token)))
                    }
                    Observed::Rejected { .. } => WordId::NONE,
                });
            }
            segment.ends.push(segment.words.len() as u32);
        }
        (segments, Read::Sentence)
    }

    /// The counts now hold the whole batch (Algorithm 2, line 2): drops frequent words, draws windows, adds old text.
    fn seal(&mut self, segments: Vec<Segment>, due: usize, vocabulary: &Vocabulary, batch: &mut Batch) {
        batch.number = self.batches;
        self.batches += 1;
        batch.words.clear();
        batch.reaches.clear();
        batch.counts.clear();
        batch.counts.extend(vocabulary.counts());
        batch.fresh.0.retain(|row| vocabulary.was_born(row.id, row.birth));
        batch.replayed = 0;
        let mut random = Random::for_purpose(self.seed, Purpose::Pairs, [batch.number, 0]);
        let sampler = &self.sampler;
        for segment in segments {
            sample(sampler, &segment, vocabulary, batch, &mut random);
            if self.replays > 0 {
                self.replay.push(segment);
            }
        }
        let mut draws = Random::for_purpose(self.seed, Purpose::Replay, [batch.number, 0]);
        self.replay.drain_to(due, &mut draws, |segment| {
            sample(sampler, segment, vocabulary, batch, &mut random);
            batch.replayed += segment.words.len() as u64;
        });
    }
}

/// Adds what is kept of a segment to the batch.
fn sample(
    sampler: &PairSampler,
    segment: &Segment,
    vocabulary: &Vocabulary,
    batch: &mut Batch,
    random: &mut Random,
) {
    let tokens = vocabulary.tokens();
    for (number, sentence) in segment.sentences() {
        let start = batch.words.len();
        batch.words.extend((number..).zip(sentence).filter_map(|(number, &id)| {
            // The id may have gone to another word since.
            let kept = id != WordId::NONE
                && vocabulary.still_means(id, number)
                && sampler.keeps(vocabulary.count(id), tokens, random);
            kept.then_some(id)
        }));
        let length = batch.words.len() - start;
        batch.reaches.extend((0..length).map(|position| sampler.reach(position, length, random)));
    }
}
