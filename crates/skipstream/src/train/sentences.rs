//! Algorithm 1 of the paper, incremental SGNS, and the batch strategies that it is compared with: pair by pair, on one
//! thread.
//!
//! ```text
//! 2  for i = 1 … n                           learn_sentence
//! 3      f(w_i) ← f(w_i) + 1                 observe_sentence: the vocabulary's count
//! 4      q(w) ← f(w)^α / Σ f(w')^α           `noise`; α is `noise_exponent`
//! 5      for j = −c … −1, 1 … c              `Reach::contexts`; c is `window`
//! 6          draw v_1 … v_k from q(w)        `PairStep::train`; k is `negatives`
//! 7          SGD: t of w_i, c of w_i+j and of v_1 … v_k
//! ```
//!
//! t and c are the rows of [`Parameters`]: of the target side and of the context side.

use super::fresh::admit;
use super::read_ahead::Text;
use super::trainer::Stream;
use super::{Observer, StopReason};
use crate::config::{Settings, Strategy};
use crate::corpus::{Sentence, Source};
use crate::error::Result;
use crate::kernel::{Kernel, Optimizer};
use crate::noise::{AdaptiveTable, AliasTable, weight};
use crate::pairs::PairSampler;
use crate::parameters::{Accumulators, LANES, Lanes, Parameters, RowMut};
use crate::random::{Purpose, Random};
use crate::vocabulary::{Observed, WordId};

/// The state of the strategies `incremental`, `batch` and `word2vec`.
#[derive(Clone, Debug)]
pub(crate) struct Sentences {
    /// q(w) of Algorithm 1.
    pub noise: AdaptiveTable,
    pub random: Random,
    sampler: PairSampler,
    step: PairStep,
    sentence: Sentence,
    tokens: Vec<Token>,
    kept: Vec<WordId>,
}

/// A token of the current sentence.
#[derive(Clone, Copy, Debug)]
struct Token {
    word: WordId,
    /// Its number in the stream.
    number: u64,
    kept: bool,
}

/// Tokens between two calls of the observer.
const REPORT_EVERY: u64 = 20_000;

impl Sentences {
    pub fn new(settings: &Settings, kernel: Kernel) -> Sentences {
        // The strategies that make passes have an alias table instead.
        let table_size = match settings.strategy() {
            Strategy::Incremental(options) => options.table_size,
            _ => 0,
        };
        Sentences {
            noise: AdaptiveTable::new(table_size, settings.noise_exponent()),
            random: Random::for_purpose(settings.seed(), Purpose::Sentences, [0, 0]),
            sampler: PairSampler::new(settings),
            step: PairStep::new(settings, kernel),
            sentence: Sentence::default(),
            tokens: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// Algorithm 1: one pass, with counts and noise that follow each word.
    pub fn train_incrementally(
        &mut self,
        stream: &mut Stream,
        source: &mut dyn Source,
        observer: &mut dyn Observer,
    ) -> Result<StopReason> {
        let mut report = Reports::default();
        let mut text = Text::new(source);
        while text.read(&mut self.sentence) {
            self.learn_sentence(stream);
            if report.is_paused(self.sentence.len(), stream, observer) {
                break;
            }
        }
        text.stop()
    }

    /// First all words of the sentence are counted, because a window looks ahead and its words need rows. Then, word by
    /// word, the noise takes in the word, and the word is trained.
    fn learn_sentence(&mut self, stream: &mut Stream) {
        self.observe_sentence(stream);
        self.noise.refresh(&mut self.random);
        let Sentences { noise, random, sampler, step, tokens, kept, .. } = self;
        let mut position = 0;
        for token in tokens {
            noise.add(token.word, random);
            if !token.kept {
                continue;
            }
            let reach = sampler.reach(position, kept.len(), random);
            for context in reach.contexts(kept, position) {
                let loss = step.train(&mut stream.parameters, token.word, context, || noise.draw(random));
                stream.totals.pairs += 1;
                stream.totals.loss += loss;
            }
            position += 1;
        }
    }

    /// Counts the words of the sentence, and drops frequent ones.
    fn observe_sentence(&mut self, stream: &mut Stream) {
        let Stream { vocabulary, parameters, initial, .. } = stream;
        self.tokens.clear();
        for word in self.sentence.tokens() {
            let number = vocabulary.tokens();
            let word = match vocabulary.observe(word) {
                Observed::Known(id) => id,
                Observed::Admitted(fresh) => admit(fresh, word, parameters, initial.as_ref()),
                Observed::Rejected { evicted } => {
                    for &id in evicted {
                        self.noise.forget(id);
                    }
                    continue;
                }
            };
            let kept = self.sampler.keeps(vocabulary.count(word), vocabulary.tokens(), &mut self.random);
            self.tokens.push(Token { word, number, kept });
        }
        // A word may have been evicted before the end of its sentence.
        self.tokens.retain(|token| vocabulary.is_same_word_since(token.word, token.number));
        self.kept.clear();
        self.kept.extend(self.tokens.iter().filter(|token| token.kept).map(|token| token.word));
    }

    /// Batch SGNS (section 2): count the whole corpus, fix the noise, then pass over it.
    pub fn train_in_passes(
        &mut self,
        settings: &Settings,
        stream: &mut Stream,
        open: &mut dyn FnMut() -> Result<Box<dyn Source>>,
        observer: &mut dyn Observer,
    ) -> Result<StopReason> {
        let mut report = Reports::default();
        let mut source = open()?;
        while source.read(&mut self.sentence)?.is_sentence() {
            for word in self.sentence.tokens() {
                if let Observed::Admitted(fresh) = stream.vocabulary.observe(word) {
                    admit(fresh, word, &mut stream.parameters, stream.initial.as_ref());
                }
            }
            if report.is_paused(self.sentence.len(), stream, observer) {
                return Ok(StopReason::Paused);
            }
        }
        let mut noise = AliasTable::default();
        let counts = stream.vocabulary.counts();
        noise.rebuild(counts.map(|count| weight(count, settings.noise_exponent())));
        let passes = settings.strategy().passes().unwrap_or(1);
        let all = stream.vocabulary.tokens() as f64 * f64::from(passes);
        let mut done = 0.0;
        for _ in 0..passes {
            let mut source = open()?;
            while source.read(&mut self.sentence)?.is_sentence() {
                if settings.strategy().adagrad().is_none() {
                    let left = (1.0 - done / all).max(1e-4);
                    self.step.optimizer.learning_rate = settings.learning_rate() * left as f32;
                }
                self.pass_over_sentence(stream, &noise);
                done += self.sentence.len() as f64;
                if report.is_paused(self.sentence.len(), stream, observer) {
                    return Ok(StopReason::Paused);
                }
            }
        }
        Ok(StopReason::EndOfText)
    }

    fn pass_over_sentence(&mut self, stream: &mut Stream, noise: &AliasTable) {
        let Sentences { random, sampler, step, sentence, kept, .. } = self;
        let vocabulary = &stream.vocabulary;
        let words = sentence.tokens().filter_map(|word| vocabulary.id(word));
        kept.clear();
        kept.extend(words.filter(|&id| sampler.keeps(vocabulary.count(id), vocabulary.tokens(), random)));
        for position in 0..kept.len() {
            let reach = sampler.reach(position, kept.len(), random);
            for context in reach.contexts(kept, position) {
                let draw = || noise.draw(random).map(WordId::from_saved);
                let loss = step.train(&mut stream.parameters, kept[position], context, draw);
                stream.totals.pairs += 1;
                stream.totals.loss += loss;
            }
        }
    }
}

/// The update of one pair.
#[derive(Clone, Debug)]
struct PairStep {
    kernel: Kernel,
    optimizer: Optimizer,
    negatives: usize,
    drawn: Vec<WordId>,
    gradient: Vec<Lanes>,
}

impl PairStep {
    fn new(settings: &Settings, kernel: Kernel) -> PairStep {
        PairStep {
            kernel,
            optimizer: Optimizer {
                learning_rate: settings.learning_rate(),
                dimensions: settings.dimensions(),
            },
            negatives: settings.negatives(),
            drawn: Vec::new(),
            gradient: vec![[0.0; LANES]; settings.dimensions().div_ceil(LANES)],
        }
    }

    /// Lines 6 and 7. Returns the loss.
    fn train(
        &mut self,
        parameters: &mut Parameters,
        target: WordId,
        context: WordId,
        mut draw: impl FnMut() -> Option<WordId>,
    ) -> f64 {
        let layout = parameters.layout();
        let Parameters { target: targets, context: contexts, .. } = parameters;
        let target = layout.row_in_matrix(target);
        self.drawn.clear();
        for _ in 0..self.negatives {
            if let Some(negative) = draw_other(context, &mut draw) {
                let row = layout.row_in_matrix(negative);
                self.kernel.prefetch_row(contexts.rows.row(row));
                if let Accumulators::Dimension(sums) = &contexts.accumulators {
                    self.kernel.prefetch_row(sums.row(row));
                }
                self.drawn.push(negative);
            }
        }
        let mut loss = 0.0;
        self.gradient.fill([0.0; LANES]);
        let mut train = |word: WordId, positive| {
            let row = layout.row_in_matrix(word);
            let RowMut { values, state } = contexts.row_mut(row);
            loss += self.kernel.train_context(
                self.optimizer,
                positive,
                targets.rows.row(target),
                values,
                state,
                &mut self.gradient,
            );
        };
        train(context, true);
        for &negative in &self.drawn {
            train(negative, false);
        }
        let RowMut { values, state } = targets.row_mut(target);
        self.kernel.descend(self.optimizer, 1.0, &self.gradient, values, state);
        loss
    }
}

/// Draws a word other than the context. `None` if there seems to be no other word.
fn draw_other(context: WordId, draw: &mut impl FnMut() -> Option<WordId>) -> Option<WordId> {
    (0..64).find_map(|_| draw().filter(|&negative| negative != context))
}

/// Calls the observer after every [`REPORT_EVERY`] tokens.
#[derive(Debug, Default)]
struct Reports {
    tokens: u64,
}

impl Reports {
    /// Whether the observer was called and asks for a pause.
    fn is_paused(&mut self, tokens: usize, stream: &Stream, observer: &mut dyn Observer) -> bool {
        self.tokens += tokens as u64;
        if self.tokens < REPORT_EVERY {
            return false;
        }
        self.tokens = 0;
        observer.progress(&stream.progress()).is_break()
    }
}
