//! Algorithm 2 of the paper, mini-batch SGNS:
//!
//! ```text
//! 1  for each subset D of the training data
//! 2      update the noise distribution using D     Intake::take_in
//! 3      perform SGD over D                        Grid::train
//! ```
//!
//! D is a [`Batch`]: new text, and old text that is trained once more. f(w) is the vocabulary's frequency. It
//! determines the noise, q(w) ∝ f(w)^α, from which [`Grid`] draws negatives.
//!
//! `read_ahead.rs` has the loop: it takes in the next batch while this one is trained. `tests/oracle.rs` is the whole
//! strategy in plain loops, and the definition of what it does.

use super::fresh::FreshRows;
use super::grid::Grid;
use super::initial::Initial;
use super::passages::LookedUp;
use super::read_ahead::Text;
use super::replay::{ReplayBuffer, Segment, SegmentSentence};
use crate::config::{ReplayStart, Settings};
use crate::corpus::{Sentence, load};
use crate::error::{Error, Result};
use crate::half_life::HalfLife;
use crate::kernel::Kernel;
use crate::pairs::{PairSampler, Reach};
use crate::phrases::Phrases;
use crate::random::{Purpose, Random};
use crate::vocabulary::{Observed, Vocabulary, WordId};

/// At most one in this many tokens of the stream waits for its replay, if replays begin early.
const SHARE_THAT_WAITS: u64 = 4;

#[derive(Debug)]
pub(crate) struct MiniBatch {
    /// Line 2.
    pub(super) batches: Batches,
    /// Line 3.
    pub(super) grid: Grid,
}

/// One batch after the other.
#[derive(Debug)]
pub(super) struct Batches {
    pub intake: Intake,
    /// The batch that is trained.
    pub current: Batch,
    /// The batch that is taken in meanwhile.
    pub next: Batch,
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
    pub frequencies: Vec<u64>,
    /// Tokens of old text.
    pub replayed: u64,
    pub learning_rate: f32,
    /// What is left of AdaGrad's sums, if old text is forgotten.
    pub fading: Option<f32>,
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
    /// When old text is trained again for the first time.
    replay_start: ReplayStart,
    half_life: Option<HalfLife>,
    learning_rate: f32,
    sampler: PairSampler,
    /// Batches made.
    pub batches: u64,
    pub replay: ReplayBuffer,
    pub phrases: Phrases,
    sentence: Sentence,
    /// Threads that read, if the source has passages.
    readers: usize,
    /// Whether the last batch had passages.
    has_passages: bool,
}

impl Intake {
    /// Without replays, from the batch that begins after `tokens` tokens of the stream.
    pub fn new(settings: &Settings, tokens: u64) -> Result<Intake> {
        Ok(Intake {
            seed: settings.seed(),
            new_words: settings.new_words_per_batch(tokens),
            replays: 0,
            replay_words: 0,
            replay_start: ReplayStart::default(),
            half_life: settings.half_life(),
            learning_rate: settings.learning_rate(),
            sampler: PairSampler::new(settings),
            batches: 0,
            replay: ReplayBuffer::default(),
            phrases: Phrases::new(settings)?,
            sentence: Sentence::default(),
            readers: readers(settings),
            has_passages: false,
        })
    }

    fn set_replays(&mut self, settings: &Settings) {
        let options = settings.mini_batch();
        self.replays = options.replays;
        self.new_words = settings.new_words_per_batch(0);
        self.replay_words = options.replay_words;
        self.replay_start = options.replay_start;
    }

    /// Threads that read the next batch, besides the calling one.
    pub fn helpers(&self) -> usize {
        if self.has_passages { self.readers - 1 } else { 0 }
    }

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
        batch.fading = None;
        let segments = self.count(text, vocabulary, initial, batch);
        let is_empty = segments.is_empty();
        if !is_empty {
            batch.learning_rate = self.learning_rate;
            self.sample(segments, self.max_waiting(vocabulary.tokens()), vocabulary, batch);
            self.phrases.end_batch();
        }
        !is_empty
    }

    /// Words that may wait for their replay after this many tokens, each counted once per replay. With an early start, the
    /// buffer grows with the text, so that most of a short text is replayed too.
    fn max_waiting(&self, tokens: u64) -> usize {
        let words = match self.replay_start {
            ReplayStart::Early => tokens / SHARE_THAT_WAITS,
            ReplayStart::Late => tokens,
        };
        words.min(self.replay_words as u64) as usize * self.replays as usize
    }

    /// Makes a batch of at least `words` words of old text alone, if that much still waits. Returns false if none do.
    ///
    /// The end of a text is known, so the rate can fall to zero: a model at rest is better than one that still moves. It is
    /// the share of the buffer that is full, and not of what waited at first, so that a pause changes nothing.
    pub fn take_old(&mut self, words: usize, vocabulary: &Vocabulary, batch: &mut Batch) -> bool {
        let due = self.replay.due();
        if due == 0 {
            return false;
        }
        let full = self.max_waiting(vocabulary.tokens());
        batch.learning_rate = self.learning_rate * (due as f32 / full as f32).min(1.0);
        batch.fading = None;
        batch.fresh.clear();
        self.sample(Vec::new(), due.saturating_sub(words), vocabulary, batch);
        true
    }

    /// Counts the words of whole sentences until there are enough.
    fn count(
        &mut self,
        text: &mut Text<'_>,
        vocabulary: &mut Vocabulary,
        initial: Option<&Initial>,
        batch: &mut Batch,
    ) -> Vec<Segment> {
        let (segments, replays, wanted) = (Vec::new(), self.replays, self.new_words);
        let Batch { fresh, fading, .. } = batch;
        let mut counted = Counted { segments, replays, wanted, segment_load: 0, fresh, fading, initial };
        self.has_passages = false;
        while counted.wanted > 0 {
            // Which tokens are joined depends on all that come before.
            if self.readers > 1 && !self.phrases.is_on() {
                self.has_passages |= text.read_passages(vocabulary, self.readers, &mut counted);
            }
            if counted.wanted == 0 || !text.read(&mut self.sentence) {
                break;
            }
            let time = self.sentence.time();
            if let Some(half_life @ HalfLife::Seconds(_)) = self.half_life
                && time.is_none()
            {
                let limit = "a number of words, because the text has no times";
                text.fail(Error::setting("half_life", half_life, limit));
                break;
            }
            counted.begin_sentence(vocabulary, time, self.sentence.document());
            if self.phrases.is_on() {
                for (token, words) in self.phrases.join(&self.sentence) {
                    counted.count(token, vocabulary);
                    counted.pass(words - 1, vocabulary);
                }
            } else {
                self.sentence.tokens().for_each(|token| counted.count(token, vocabulary));
            }
            counted.end_sentence(self.sentence.len(), self.sentence.weight());
        }
        counted.segments
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
        batch.frequencies.clear();
        batch.frequencies.extend(vocabulary.frequencies());
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
        let [mut draws, mut ages] =
            [0, 1].map(|which| Random::for_purpose(self.seed, Purpose::Replay, [batch.number, which]));
        let is_forgotten = |segment: &Segment| {
            let age = vocabulary.clock().zip(segment.clock).map(|(now, then)| now.saturating_sub(then));
            self.half_life
                .zip(age)
                .is_some_and(|(half_life, age)| ages.uniform() >= half_life.left_after(age))
        };
        self.replay.drain_to(max_waiting, &mut draws, is_forgotten, |segment| {
            batch.add(segment, &self.sampler, vocabulary, &mut random);
            batch.replayed += segment.words.len() as u64;
        });
    }
}

/// Reads and counts a text, batch by batch, without training.
#[cfg(feature = "unstable")]
pub fn count_words(
    source: &mut dyn crate::corpus::Source,
    vocabulary: &mut Vocabulary,
    settings: &Settings,
) -> Result<()> {
    let intake = Intake::new(settings, 0)?;
    let (mut intake, mut text) = (Intake { readers: settings.threads(), ..intake }, Text::new(source));
    while !intake.count(&mut text, vocabulary, None, &mut Batch::default()).is_empty() {}
    text.stop().map(drop)
}

/// Threads that read while the others train. One is enough until reading takes longer than the training of the others: it
/// is about a tenth of the work, and a third where words are more than the text between white space.
fn readers(settings: &Settings) -> usize {
    // Passages have no times.
    if let Some(HalfLife::Seconds(_)) = settings.half_life() {
        return 1;
    }
    1 + settings.threads() / if settings.text().is_plain() { 8 } else { 3 }
}

/// The new text of a batch.
pub(super) struct Counted<'a> {
    segments: Vec<Segment>,
    replays: u32,
    /// Words that are missing.
    pub wanted: usize,
    /// Words that the last segment adds to a batch.
    segment_load: usize,
    fresh: &'a mut Vec<FreshRows>,
    fading: &'a mut Option<f32>,
    initial: Option<&'a Initial>,
}

impl Counted<'_> {
    fn begin_sentence(&mut self, vocabulary: &mut Vocabulary, time: Option<i64>, document: Option<u64>) {
        vocabulary.begin_sentence(document);
        if self.segments.is_empty() {
            *self.fading = vocabulary.begin_batch(time).map(|left| left as f32);
        }
        if self.segments.is_empty() || self.segment_load >= Segment::WORDS {
            self.segment_load = 0;
            let (start, remaining, clock) = (vocabulary.tokens(), self.replays, vocabulary.clock());
            self.segments.push(Segment { start, remaining, clock, ..Segment::default() });
        }
    }

    fn segment(&mut self) -> &mut Segment {
        self.segments.last_mut().expect("every sentence begins a segment if there is none")
    }

    fn end_sentence(&mut self, words: usize, weight: f32) {
        let load = load(words, weight);
        self.wanted = self.wanted.saturating_sub(load);
        self.segment_load += load;
        self.segment().end_sentence(weight);
    }

    fn count(&mut self, token: &str, vocabulary: &mut Vocabulary) {
        let word = match vocabulary.observe(token) {
            Observed::Known(id) => id,
            Observed::Admitted(word) => word.reset(|id, birth| {
                self.fresh.push(FreshRows::new(id, birth, vocabulary.word(id), self.initial));
            }),
            Observed::Rejected => WordId::NONE,
        };
        self.segment().words.push(word);
    }

    /// The next words belong to the phrase that was counted. They are tokens without a word, so that tokens have the numbers
    /// of their words in the text, and a batch as many tokens as words.
    fn pass(&mut self, words: u32, vocabulary: &mut Vocabulary) {
        vocabulary.pass(words);
        self.segment().words.extend((0..words).map(|_| WordId::NONE));
    }

    /// Counts the sentences of a passage until there are enough words or, as the result says, an error comes.
    pub fn count_passage(&mut self, looked_up: &mut LookedUp, vocabulary: &mut Vocabulary) -> Result<()> {
        let LookedUp { passage, found, since, first, .. } = looked_up;
        while self.wanted > 0
            && let Some(sentence) = passage.take_sentence().transpose()?
        {
            // A passage has no documents.
            self.begin_sentence(vocabulary, None, None);
            let mut start = sentence.start;
            while start < sentence.end {
                let rest = &found[start - *first..sentence.end - *first];
                let known = vocabulary.observe_found(rest, *since);
                self.segment().words.extend_from_slice(&rest[..known]);
                start += known;
                if start < sentence.end {
                    self.count(passage.word(start), vocabulary);
                    start += 1;
                }
            }
            self.end_sentence(sentence.len(), 1.0);
        }
        Ok(())
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
        let total = vocabulary.total_frequency();
        for SegmentSentence { number, words, weight } in segment.sentences() {
            for _ in 0..random.times(weight) {
                let start = self.words.len();
                self.words.extend((number..).zip(words).filter_map(|(number, &id)| {
                    let kept = id != WordId::NONE
                        && vocabulary.is_same_word_since(id, number)
                        && sampler.keeps(vocabulary.frequency(id), total, random);
                    kept.then_some(id)
                }));
                let length = self.words.len() - start;
                self.reaches.extend((0..length).map(|position| sampler.reach(position, length, random)));
            }
        }
    }
}

impl MiniBatch {
    pub fn new(settings: &Settings, kernel: Kernel) -> Result<MiniBatch> {
        let mut intake = Intake::new(settings, 0)?;
        intake.set_replays(settings);
        let batches = Batches { intake, current: Batch::default(), next: Batch::default() };
        Ok(MiniBatch { batches, grid: Grid::new(settings, kernel) })
    }

    /// How often new text is trained again from now on.
    pub fn set_replays(&mut self, settings: &Settings) {
        self.batches.intake.set_replays(settings);
    }

    pub fn set_threads(&mut self, settings: &Settings) {
        self.grid.set_threads(settings);
        self.batches.intake.readers = readers(settings);
    }

    pub fn batches(&self) -> u64 {
        self.batches.intake.batches
    }

    pub fn replay(&self) -> &ReplayBuffer {
        &self.batches.intake.replay
    }

    pub fn replay_mut(&mut self) -> &mut ReplayBuffer {
        &mut self.batches.intake.replay
    }

    pub fn phrases(&self) -> &Phrases {
        &self.batches.intake.phrases
    }

    pub fn phrases_mut(&mut self) -> &mut Phrases {
        &mut self.batches.intake.phrases
    }

    pub fn restore(&mut self, batches: u64, replay: ReplayBuffer) {
        self.batches.intake.batches = batches;
        self.batches.intake.replay = replay;
    }
}
