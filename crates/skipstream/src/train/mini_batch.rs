//! Algorithm 2 of the paper, mini-batch SGNS:
//!
//! ```text
//! 1  for each subset D of the training data
//! 2      update the noise distribution using D     Intake::take_in
//! 3      perform SGD over D                        Grid::train
//! ```
//!
//! D is a [`Batch`]: new text, and old text that is trained once more. f(w) is the vocabulary's count. It
//! determines the noise, q(w) ∝ f(w)^α, from which [`Grid`] draws negatives.
//!
//! `read_ahead.rs` has the loop: it takes in the next batch while this one is trained. `tests/oracle.rs` is the whole
//! strategy in plain loops, and the definition of what it does.

use super::fresh::FreshRows;
use super::grid::Grid;
use super::initial::Initial;
use super::read_ahead::Text;
use super::replay::{ReplayBuffer, Segment};
use crate::config::Settings;
use crate::corpus::Sentence;
use crate::kernel::Kernel;
use crate::pairs::{PairSampler, Reach};
use crate::random::{Purpose, Random};
use crate::vocabulary::{Observed, Vocabulary, WordId};

/// At most one in this many tokens of the stream waits for its replay.
const SHARE_THAT_WAITS: u64 = 4;

#[derive(Debug)]
pub(crate) struct MiniBatch {
    /// Line 2.
    pub(super) intake: Intake,
    /// Line 3.
    pub(super) grid: Grid,
    /// The batch that is trained.
    pub(super) current: Batch,
    /// The batch that is taken in meanwhile.
    pub(super) next: Batch,
}

/// D, with everything that SGD over it needs: the vocabulary may move on meanwhile.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Which batch of the stream it is.
    pub number: u64,
    /// The words that are left after subsampling, sentence after sentence.
    pub words: Vec<WordId>,
    /// The window of each of them.
    pub reaches: Vec<Reach>,
    /// New words, whose rows must be reset first.
    pub fresh: Vec<FreshRows>,
    /// f(w) of each slot, this batch included.
    pub counts: Vec<u64>,
    /// Tokens of old text.
    pub replayed: u64,
}

#[derive(Debug)]
pub(super) struct Intake {
    seed: u64,
    /// Words of new text in a batch.
    new_words: usize,
    /// How often text is trained again.
    replays: u32,
    /// Words of old text that may wait, at most.
    replay_words: usize,
    sampler: PairSampler,
    /// Batches made.
    pub batches: u64,
    pub replay: ReplayBuffer,
    sentence: Sentence,
}

impl Intake {
    /// Takes in the next batch. Returns false if there is no text.
    ///
    /// All of it is counted before any of it is sampled or trained.
    pub fn take_in(
        &mut self,
        text: &mut Text<'_>,
        vocabulary: &mut Vocabulary,
        initial: Option<&Initial>,
        batch: &mut Batch,
    ) -> bool {
        batch.fresh.clear();
        let segments = self.count(text, vocabulary, initial, &mut batch.fresh);
        let is_empty = segments.is_empty();
        if !is_empty {
            self.sample(segments, self.max_waiting(vocabulary.tokens()), vocabulary, batch);
        }
        !is_empty
    }

    /// Words that may wait for their replay after this many tokens, each counted once per replay. The buffer grows with the
    /// text, so that most of a short text is replayed too.
    fn max_waiting(&self, tokens: u64) -> usize {
        let words = (tokens / SHARE_THAT_WAITS).min(self.replay_words as u64);
        words as usize * self.replays as usize
    }

    /// Makes a batch of old text alone, so that at most `max_waiting` words still wait. Returns false if no more do.
    pub fn take_old(&mut self, max_waiting: usize, vocabulary: &Vocabulary, batch: &mut Batch) -> bool {
        if self.replay.due() <= max_waiting {
            return false;
        }
        batch.fresh.clear();
        self.sample(Vec::new(), max_waiting, vocabulary, batch);
        true
    }

    /// Counts the words of whole sentences until there are enough.
    fn count(
        &mut self,
        text: &mut Text<'_>,
        vocabulary: &mut Vocabulary,
        initial: Option<&Initial>,
        fresh: &mut Vec<FreshRows>,
    ) -> Vec<Segment> {
        let first = vocabulary.tokens();
        let mut segments: Vec<Segment> = Vec::new();
        while vocabulary.tokens() - first < self.new_words as u64 && text.read(&mut self.sentence) {
            if segments.last().is_none_or(|segment| segment.words.len() >= Segment::WORDS) {
                let (start, remaining) = (vocabulary.tokens(), self.replays);
                segments.push(Segment { start, remaining, ..Segment::default() });
            }
            let segment = segments.last_mut().expect("there is one, or it was pushed just now");
            for token in self.sentence.tokens() {
                segment.words.push(match vocabulary.observe(token) {
                    Observed::Known(id) => id,
                    Observed::Admitted(word) => {
                        word.reset(|id, birth| fresh.push(FreshRows::new(id, birth, token, initial)))
                    }
                    Observed::Rejected => WordId::NONE,
                });
            }
            segment.ends.push(segment.words.len() as u32);
        }
        segments
    }

    /// Drops frequent words and draws windows, of the new text and of old text.
    fn sample(
        &mut self,
        segments: Vec<Segment>,
        max_waiting: usize,
        vocabulary: &Vocabulary,
        batch: &mut Batch,
    ) {
        batch.number = self.batches;
        self.batches += 1;
        batch.words.clear();
        batch.reaches.clear();
        batch.counts.clear();
        batch.counts.extend(vocabulary.counts());
        // A word may have been evicted before the batch was complete.
        batch.fresh.retain(|fresh| vocabulary.first_token(fresh.id) == fresh.birth);
        batch.replayed = 0;
        let mut random = Random::for_purpose(self.seed, Purpose::Pairs, [batch.number, 0]);
        for segment in segments {
            batch.add(&segment, &self.sampler, vocabulary, &mut random);
            if self.replays > 0 {
                self.replay.push(segment);
            }
        }
        let mut draws = Random::for_purpose(self.seed, Purpose::Replay, [batch.number, 0]);
        self.replay.drain_to(max_waiting, &mut draws, |segment| {
            batch.add(segment, &self.sampler, vocabulary, &mut random);
            batch.replayed += segment.words.len() as u64;
        });
    }
}

impl Batch {
    /// Adds the words of a segment that are kept, with their windows.
    fn add(
        &mut self,
        segment: &Segment,
        sampler: &PairSampler,
        vocabulary: &Vocabulary,
        random: &mut Random,
    ) {
        let tokens = vocabulary.tokens();
        for (number, sentence) in segment.sentences() {
            let start = self.words.len();
            self.words.extend((number..).zip(sentence).filter_map(|(number, &id)| {
                let kept = id != WordId::NONE
                    && vocabulary.is_same_word_since(id, number)
                    && sampler.keeps(vocabulary.count(id), tokens, random);
                kept.then_some(id)
            }));
            let length = self.words.len() - start;
            self.reaches.extend((0..length).map(|position| sampler.reach(position, length, random)));
        }
    }
}

impl MiniBatch {
    pub fn new(settings: &Settings, kernel: Kernel) -> MiniBatch {
        let intake = Intake {
            seed: settings.seed(),
            new_words: 0,
            replays: 0,
            replay_words: 0,
            sampler: PairSampler::new(settings),
            batches: 0,
            replay: ReplayBuffer::default(),
            sentence: Sentence::default(),
        };
        let grid = Grid::new(settings, kernel);
        let mut method = MiniBatch { intake, grid, current: Batch::default(), next: Batch::default() };
        method.set_replays(settings);
        method
    }

    /// How often new text is trained again from now on.
    pub fn set_replays(&mut self, settings: &Settings) {
        let options = settings.mini_batch();
        self.intake.replays = options.replays;
        self.intake.new_words = settings.new_words_per_batch();
        self.intake.replay_words = options.replay_words;
    }

    pub fn set_threads(&mut self, settings: &Settings) {
        self.grid.set_threads(settings);
    }

    pub fn batches(&self) -> u64 {
        self.intake.batches
    }

    pub fn replay(&self) -> &ReplayBuffer {
        &self.intake.replay
    }

    pub fn restore(&mut self, batches: u64, replay: ReplayBuffer) {
        self.intake.batches = batches;
        self.intake.replay = replay;
    }
}
