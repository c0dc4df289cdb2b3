//! What the default strategy, `mini-batch`, does: this page is its definition.
//!
//! It is Algorithm 2 of the paper in plain loops. There are no threads, no vector instructions and no reading ahead, and
//! the vocabulary is a list. `oracle/comparison.rs` compares it with the `Trainer` after every batch, bit for bit.
//!
//! It shares four parts with the engine, each of which has tests of its own: random numbers that depend on what they are
//! for ([`Random::for_purpose`]), the alias table that draws an index with a given weight, the powers of a half-life, and
//! the logistic function.
//!
//! Sums of floats depend on their order. Here every product is added by a fused multiply-add, in one of two orders:
//! - *in order*: one after another, from zero. This holds wherever the code below does not say otherwise.
//! - *in lanes*: dimension d is added to the accumulator d mod 16, and the accumulators are halved until one is left
//!   ([`sum_in_lanes`]).

mod comparison;

use crate::config::{MiniBatchOptions, ReplayStart, Settings, WindowShape};
use crate::half_life::HalfLife;
use crate::kernel::sigmoid;
use crate::noise::AliasTable;
use crate::phrases::naive::Naive;
use crate::random::{Purpose, Random};

/// A word of the vocabulary, with its rows.
struct Word {
    text: String,
    /// Misra and Gries' counter: when it is 0, the word makes room for another.
    counter: u64,
    /// Occurrences since the word was admitted.
    count: u64,
    /// f(w): what these occurrences weigh. Without a half-life, each weighs 1.
    frequency: u64,
    /// The number of the token that admitted it.
    birth: u64,
    /// The number of its last token.
    latest: u64,
    target: Row,
    context: Row,
}

/// A row that is learned, and AdaGrad's sum of squared gradients.
#[derive(Clone)]
struct Row {
    values: Vec<f32>,
    squares: f32,
}

/// A token of the text: the slot of its word, if it has one.
struct Token {
    slot: Option<usize>,
    number: u64,
}

/// A sentence, and how many times it is trained on average.
struct WeightedSentence {
    tokens: Vec<Token>,
    weight: f32,
}

/// Sentences that are replayed together.
#[derive(Default)]
struct Segment {
    sentences: Vec<WeightedSentence>,
    /// How often the segment is still to be trained.
    remaining: usize,
    /// The clock of its batch.
    clock: u64,
}

/// A word that was kept, and the words in its window.
struct Window {
    target: usize,
    contexts: Vec<usize>,
}

/// A target and at most four of its contexts.
struct Run {
    target: usize,
    contexts: Vec<usize>,
}

struct Oracle {
    settings: Settings,
    /// With phrases: see `phrases/tests/naive.rs`.
    phrases: Option<Naive>,
    /// The vocabulary: a word keeps its slot, whose number is its id, until another word needs it.
    slots: Vec<Word>,
    tokens: u64,
    /// What the clock showed at the start of this batch, with a half-life.
    clock: u64,
    /// What a token of this batch weighs.
    weight: u64,
    /// What all tokens weigh.
    total: u64,
    batches: u64,
    /// Text that waits for its replay.
    waiting: Vec<Segment>,
    /// The learning rate of the current batch.
    rate: f32,
    pairs: u64,
    loss: f64,
}

/// A segment takes no more sentences when it adds this many words to a batch.
const SEGMENT_WORDS: usize = 10_000;
/// Contexts of a run, at most.
const RUN_LENGTH: usize = 4;
/// Runs of a group, at most.
const GROUP_RUNS: usize = 16;

impl Oracle {
    /// Algorithm 2, one turn of its loop: takes a batch D from the text and learns it. False if there is no text. A sentence
    /// has a weight, and a time in microseconds since 1970.
    fn learn_batch<'a>(&mut self, text: &mut impl Iterator<Item = (&'a str, f32, i64)>) -> bool {
        let mut text = text.peekable();
        let Some(&(_, _, time)) = text.peek() else { return false };
        let before = self.clock;
        self.forget(time);
        let batch = self.read(&mut text);
        if let Some(phrases) = &mut self.phrases {
            phrases.end_batch();
        }
        let windows = self.sample(batch, self.room());
        self.fade(before);
        self.rate = self.settings.learning_rate();
        self.descend(&windows);
        true
    }

    /// With a half-life, AdaGrad's sums fade by what is left of a weight since the batch before, down to the first value of
    /// a new row.
    fn fade(&mut self, before: u64) {
        let Some(half_life) = self.options().half_life else { return };
        let left = half_life.left_after(self.clock - before) as f32;
        let least = self.new_word("", 0).target.squares;
        for word in &mut self.slots {
            word.target.squares = (word.target.squares * left).max(least);
            word.context.squares = (word.context.squares * left).max(least);
        }
    }

    /// With a half-life, the tokens of a batch weigh more than those of the one before. When the weight has doubled, it and
    /// all sums are halved. The clock is the number of words, or the time of the first sentence; it never goes back.
    fn forget(&mut self, time: i64) {
        let Some(half_life) = self.options().half_life else { return };
        let before = self.clock;
        self.clock = before.max(match half_life {
            HalfLife::Words(_) => self.tokens,
            HalfLife::Seconds(_) => (time + (1 << 59)) as u64,
        });
        self.weight = half_life.weight(self.clock);
        if self.tokens == 0 {
            return;
        }
        for _ in half_life.halvings(before)..half_life.halvings(self.clock) {
            self.total = (self.total / 2).max(1);
            for word in &mut self.slots {
                word.counter /= 2;
                word.frequency = (word.frequency / 2).max(1);
            }
        }
    }

    /// Learns the text that waits for its replay, a batch at a time, at a rate that falls to zero.
    fn finish(&mut self) {
        while self.waiting_words() > 0 {
            let share = (self.waiting_words() as f32 / self.room() as f32).min(1.0);
            let limit = self.waiting_words().saturating_sub(self.options().batch_words);
            let windows = self.sample(Vec::new(), limit);
            self.rate = self.settings.learning_rate() * share;
            self.descend(&windows);
        }
    }

    /// Words that may wait for their replay, each counted once per replay: the text so far, or a quarter of it with an early
    /// start, up to the limit.
    fn room(&self) -> usize {
        let words = match self.options().replay_start {
            ReplayStart::Early => self.tokens / 4,
            ReplayStart::Late => self.tokens,
        };
        self.options().replay_words.min(words as usize) * self.options().replays as usize
    }

    /// Step 1, the new text: counts whole sentences until the batch has enough words, or would have if each sentence were
    /// trained as often as its weight says. The counts are those of the whole batch before anything is trained, and so is
    /// the noise, which follows from them.
    fn read<'a>(&mut self, text: &mut impl Iterator<Item = (&'a str, f32, i64)>) -> Vec<Segment> {
        let mut segments: Vec<Segment> = Vec::new();
        let mut words = 0;
        while words < self.settings.new_words_per_batch(0) {
            let Some((sentence, weight, _)) = text.next() else { break };
            if segments.last().is_none_or(|segment| segment.load() >= SEGMENT_WORDS) {
                let remaining = self.options().replays as usize;
                segments.push(Segment { remaining, clock: self.clock, ..Segment::default() });
            }
            let tokens = self.observe_sentence(&sentence.split(' ').collect::<Vec<_>>());
            let sentence = WeightedSentence { tokens, weight };
            words += sentence.load();
            segments.last_mut().unwrap().sentences.push(sentence);
        }
        segments
    }

    /// Counts the words of a sentence. With phrases, a phrase is a word, and all its words but the first are tokens without one.
    fn observe_sentence(&mut self, sentence: &[&str]) -> Vec<Token> {
        let Some(phrases) = &mut self.phrases else {
            return sentence.iter().map(|word| self.observe(word)).collect();
        };
        let mut tokens = Vec::new();
        for (token, words) in phrases.join(sentence) {
            tokens.push(self.observe(&token));
            for _ in 1..words {
                tokens.push(Token { slot: None, number: self.tokens });
                self.tokens += 1;
                self.total += self.weight;
            }
        }
        tokens
    }

    /// Counts a token by the algorithm of Misra and Gries (section 3.2.1).
    fn observe(&mut self, text: &str) -> Token {
        let number = self.tokens;
        self.tokens += 1;
        self.total += self.weight;
        if let Some(slot) = self.slots.iter().position(|word| word.text == text) {
            let word = &mut self.slots[slot];
            word.counter += self.weight;
            word.frequency += self.weight;
            word.count += 1;
            word.latest = number;
            return Token { slot: Some(slot), number };
        }
        let mut word = self.new_word(text, number);
        if self.slots.len() < self.settings.max_vocabulary() {
            self.slots.push(word);
            return Token { slot: Some(self.slots.len() - 1), number };
        }
        // The word with the smallest counter makes room: the least frequent, and of these the one that was not seen for
        // longest. What is left of its counter, and as much of every other and of the token, cancel each other.
        let rank = |&slot: &usize| {
            let Word { counter, frequency, latest, .. } = self.slots[slot];
            (counter, frequency, latest)
        };
        let slot = (0..self.slots.len()).min_by_key(rank).unwrap();
        let cancelled = self.slots[slot].counter.min(self.weight);
        self.slots.iter_mut().for_each(|word| word.counter -= cancelled);
        word.counter -= cancelled;
        if word.counter == 0 {
            return Token { slot: None, number };
        }
        self.slots[slot] = word;
        Token { slot: Some(slot), number }
    }

    /// Target rows start at random values in ±0.5 / dimensions, context rows at zero.
    fn new_word(&self, text: &str, birth: u64) -> Word {
        let dimensions = self.settings.dimensions();
        let mut random = Random::for_purpose(self.settings.seed(), Purpose::Row, [birth, 0]);
        let scale = 1.0 / dimensions as f64;
        let target = (0..dimensions).map(|_| ((random.uniform() - 0.5) * scale) as f32).collect();
        let squares = (3e-4 / (dimensions as f64 / 100.0).max(1.0).powi(4)) as f32;
        Word {
            text: text.to_owned(),
            counter: self.weight,
            count: 1,
            frequency: self.weight,
            birth,
            latest: birth,
            target: Row { values: target, squares },
            context: Row { values: vec![0.0; dimensions], squares },
        }
    }

    /// The windows of a batch: those of the new text, then those of old text, whose segments are drawn at random until at
    /// most `limit` words wait for their replay.
    fn sample(&mut self, batch: Vec<Segment>, limit: usize) -> Vec<Window> {
        let seed = self.settings.seed();
        let mut random = Random::for_purpose(seed, Purpose::Pairs, [self.batches, 0]);
        let mut draws = Random::for_purpose(seed, Purpose::Replay, [self.batches, 0]);
        let mut ages = Random::for_purpose(seed, Purpose::Replay, [self.batches, 1]);
        let mut windows = Vec::new();
        for segment in &batch {
            self.sample_segment(segment, &mut random, &mut windows);
        }
        self.waiting.extend(batch.into_iter().filter(|segment| segment.remaining > 0));
        while self.waiting_words() > limit {
            let chosen = draws.below(self.waiting.len());
            let segment = &self.waiting[chosen];
            // Old text is replayed with the probability that is left of its weight.
            let age = self.clock - segment.clock;
            let left = self.options().half_life.map(|half_life| half_life.left_after(age));
            if left.is_none_or(|left| ages.uniform() < left) {
                self.sample_segment(segment, &mut random, &mut windows);
            }
            self.waiting[chosen].remaining -= 1;
            if self.waiting[chosen].remaining == 0 {
                self.waiting.swap_remove(chosen);
            }
        }
        windows
    }

    /// Trains each sentence as often as its weight says. A weight that is not a whole number is rounded at random.
    fn sample_segment(&self, segment: &Segment, random: &mut Random, windows: &mut Vec<Window>) {
        for sentence in &segment.sentences {
            let mut times = f64::from(sentence.weight);
            if sentence.weight != 1.0 {
                let whole = times.floor();
                times = if random.uniform() < times - whole { whole + 1.0 } else { whole };
            }
            for _ in 0..times as usize {
                self.sample_sentence(&sentence.tokens, random, windows);
            }
        }
    }

    /// Drops frequent words, then draws a window for each word that is left.
    fn sample_sentence(&self, sentence: &[Token], random: &mut Random, windows: &mut Vec<Window>) {
        let mut kept = Vec::new();
        for token in sentence {
            // The word may have left since, and its slot may have another word.
            let Some(slot) = token.slot else { continue };
            let word = &self.slots[slot];
            if word.birth <= token.number && self.keeps(word.frequency, random) {
                kept.push(slot);
            }
        }
        for (position, &target) in kept.iter().enumerate() {
            let reach = match self.settings.window_shape() {
                WindowShape::Shrinking => 1 + random.below(self.settings.window()),
                WindowShape::Fixed => self.settings.window(),
            };
            let end = (position + 1 + reach).min(kept.len());
            let before = &kept[position.saturating_sub(reach)..position];
            windows.push(Window { target, contexts: [before, &kept[position + 1..end]].concat() });
        }
    }

    /// A word stays with probability √r + r, where r = subsample · total / frequency. If that is 1 or more, no random number
    /// is drawn.
    fn keeps(&self, frequency: u64, random: &mut Random) -> bool {
        let ratio = self.settings.subsample() * self.total as f64 / frequency as f64;
        let probability = ratio.sqrt() + ratio;
        self.settings.subsample() == 0.0 || probability >= 1.0 || random.uniform() < probability
    }

    /// Step 2: SGD over the windows.
    ///
    /// Words are dealt to blocks by their slots, and pairs to cells by the blocks of their target and their context. In
    /// round r, target block b meets context block b + r. (No two cells of a round share a block, which is why the engine can
    /// train them at the same time.)
    fn descend(&mut self, windows: &[Window]) {
        let blocks = self.options().blocks;
        for round in 0..blocks {
            for target_block in 0..blocks {
                let context_block = (target_block + round) % blocks;
                let runs = self.runs(windows, target_block, context_block);
                let cell = (target_block * blocks + round) as u64;
                self.descend_cell(&runs, context_block, cell);
            }
        }
        self.batches += 1;
    }

    /// The pairs of a cell: the contexts of each target, in the order of the text, cut into runs.
    fn runs(&self, windows: &[Window], target_block: usize, context_block: usize) -> Vec<Run> {
        let blocks = self.options().blocks;
        let mut runs = Vec::new();
        for target in (target_block..self.slots.len()).step_by(blocks) {
            let own = windows.iter().filter(|window| window.target == target);
            let contexts: Vec<usize> = own
                .flat_map(|window| &window.contexts)
                .copied()
                .filter(|context| context % blocks == context_block)
                .collect();
            runs.extend(
                contexts.chunks(RUN_LENGTH).map(|contexts| Run { target, contexts: contexts.to_vec() }),
            );
        }
        runs
    }

    /// Trains the runs of a cell in groups. The runs of one target are next to each other, so they are dealt to different
    /// groups. A group shares K negatives, drawn with probability q(w) ∝ f(w)^α from the words of the context block.
    fn descend_cell(&mut self, runs: &[Run], context_block: usize, cell: u64) {
        let blocks = self.options().blocks;
        let words = self.slots.iter().skip(context_block).step_by(blocks);
        let mut noise = AliasTable::default();
        noise.rebuild(words.map(|word| crate::noise::weight(word.frequency, self.settings.noise_exponent())));
        let mut random = Random::for_purpose(self.settings.seed(), Purpose::Negatives, [self.batches, cell]);
        let n_shared = (12 + 4 * self.settings.negatives()).next_multiple_of(8);
        let n_groups = runs.len().div_ceil(GROUP_RUNS);
        for number in 0..n_groups {
            let group: Vec<&Run> = runs.iter().skip(number).step_by(n_groups).collect();
            let draws = (0..n_shared).map(|_| noise.draw(&mut random).unwrap() as usize);
            let negatives: Vec<usize> = draws.map(|index| index * blocks + context_block).collect();
            self.descend_group(&group, &negatives);
        }
    }

    /// SGD over the loss Σ −log σ(t·c) − Σ w log σ(−t·v) of a group, by the rows as they are at its start.
    ///
    /// Each of the K shared negatives stands for k/K negatives of each pair, so its weight w is k/K times the pairs of the
    /// run. A pair whose context is the negative does not count.
    fn descend_group(&mut self, runs: &[&Run], negatives: &[usize]) {
        let share = self.settings.negatives() as f32 / negatives.len() as f32;
        let targets: Vec<Vec<f32>> = runs.iter().map(|run| self.target(run.target).values.clone()).collect();

        // The slope of a logit x is the derivative of the loss by x: σ(x) for a negative, −σ(−x) for a context.
        let mut negative_slopes = vec![vec![0.0f32; runs.len()]; negatives.len()];
        for (slopes, &negative) in negative_slopes.iter_mut().zip(negatives) {
            for ((slope, run), target) in slopes.iter_mut().zip(runs).zip(&targets) {
                let n_pairs = run.contexts.len() as f32;
                let logit = sum_in_order(&self.context(negative).values, target);
                let whole = sigmoid(logit) * (n_pairs * share);
                *slope = whole;
                self.loss += f64::from(n_pairs * share) * softplus(logit);
                for _ in run.contexts.iter().filter(|&&context| context == negative) {
                    *slope -= whole / n_pairs;
                    self.loss -= f64::from(share) * softplus(logit);
                }
            }
        }
        let mut pair_slopes: Vec<Vec<f32>> = Vec::new();
        for (run, target) in runs.iter().zip(&targets) {
            let logits = run.contexts.iter().map(|&c| sum_in_lanes(target, &self.context(c).values));
            let logits: Vec<f32> = logits.collect();
            pair_slopes.push(logits.iter().map(|logit| -sigmoid(-logit)).collect());
            self.loss += logits.iter().map(|logit| softplus(-logit)).sum::<f64>();
            self.pairs += logits.len() as u64;
        }

        // The gradient of a target is slope · row, summed first over the negatives, then over the contexts.
        let mut gradients = vec![vec![0.0; self.settings.dimensions()]; runs.len()];
        for (run, gradient) in gradients.iter_mut().enumerate() {
            for (&negative, slopes) in negatives.iter().zip(&negative_slopes) {
                add(slopes[run], &self.context(negative).values, gradient);
            }
        }

        // Contexts are updated pair by pair; the gradient of one is slope · target.
        for (run, ((target, slopes), gradient)) in
            runs.iter().zip(targets.iter().zip(&pair_slopes).zip(&mut gradients))
        {
            let mean_square = self.mean_square(target);
            for (&context, &slope) in run.contexts.iter().zip(slopes) {
                add(slope, &self.context(context).values, gradient);
                let rate = self.rate;
                let row = self.context(context);
                let rate = row.rate(rate, slope * slope * mean_square);
                add(-rate * slope, target, &mut row.values);
            }
        }

        // Then the negatives, and then the targets, by the gradient of the whole group.
        for (&negative, slopes) in negatives.iter().zip(&negative_slopes) {
            let mut gradient = vec![0.0; self.settings.dimensions()];
            for (&slope, target) in slopes.iter().zip(&targets) {
                add(slope, target, &mut gradient);
            }
            self.step(&gradient, |oracle| oracle.context(negative));
        }
        for (run, gradient) in runs.iter().zip(&gradients) {
            self.step(gradient, |oracle| oracle.target(run.target));
        }
    }

    /// AdaGrad by rows: G += mean square of the gradient; row −= η / √G · gradient.
    fn step(&mut self, gradient: &[f32], row: impl FnOnce(&mut Oracle) -> &mut Row) {
        let (rate, mean_square) = (self.rate, self.mean_square(gradient));
        let row = row(self);
        let rate = row.rate(rate, mean_square);
        add(-rate, gradient, &mut row.values);
    }

    fn mean_square(&self, values: &[f32]) -> f32 {
        sum_in_lanes(values, values) / self.settings.dimensions() as f32
    }

    fn target(&mut self, slot: usize) -> &mut Row {
        &mut self.slots[slot].target
    }

    fn context(&mut self, slot: usize) -> &mut Row {
        &mut self.slots[slot].context
    }

    fn options(&self) -> MiniBatchOptions {
        self.settings.mini_batch()
    }

    /// Words that wait for their replay, each as often as it is still to be trained.
    fn waiting_words(&self) -> usize {
        self.waiting.iter().map(|segment| segment.load() * segment.remaining).sum()
    }

    fn new(settings: Settings) -> Oracle {
        Oracle {
            weight: settings.half_life().map_or(1, |half_life| half_life.weight(0)),
            phrases: Naive::new(&settings),
            settings,
            slots: Vec::new(),
            tokens: 0,
            clock: 0,
            total: 0,
            batches: 0,
            waiting: Vec::new(),
            rate: 0.0,
            pairs: 0,
            loss: 0.0,
        }
    }
}

impl Row {
    /// AdaGrad's rate after one more gradient.
    fn rate(&mut self, learning_rate: f32, mean_square: f32) -> f32 {
        self.squares += mean_square;
        learning_rate / self.squares.sqrt()
    }
}

impl WeightedSentence {
    /// The words that it adds to a batch: each as often as the weight says, rounded up, and at least once.
    fn load(&self) -> usize {
        self.tokens.len() * (self.weight.ceil() as usize).max(1)
    }
}

impl Segment {
    fn load(&self) -> usize {
        self.sentences.iter().map(WeightedSentence::load).sum()
    }
}

/// row += factor · values.
fn add(factor: f32, values: &[f32], row: &mut [f32]) {
    for (value, sum) in values.iter().zip(row) {
        *sum = factor.mul_add(*value, *sum);
    }
}

/// A dot product, dimension after dimension.
fn sum_in_order(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).fold(0.0, |sum, (left, right)| left.mul_add(*right, sum))
}

/// A dot product in sixteen accumulators: the upper half is added to the lower one until one is left.
fn sum_in_lanes(left: &[f32], right: &[f32]) -> f32 {
    let mut lanes = [0.0f32; 16];
    for (dimension, (left, right)) in left.iter().zip(right).enumerate() {
        lanes[dimension % 16] = left.mul_add(*right, lanes[dimension % 16]);
    }
    for half in [8, 4, 2, 1] {
        for lane in 0..half {
            lanes[lane] += lanes[lane + half];
        }
    }
    lanes[0]
}

/// −log σ(−x), in double precision.
fn softplus(x: f32) -> f64 {
    let x = f64::from(x);
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}
