//! Algorithm 1 of the paper, incremental SGNS: pair by pair, on one thread.
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
//! t and c are the rows of the parameters: of the target side and of the context side.
//!
//! `warm_up.rs` has the start of the stream, if it is counted before it is trained.

use super::fresh::admit;
use super::pair_step::PairStep;
use super::read_ahead::Text;
use super::reports::Reports;
use super::trainer::Stream;
use super::{Observer, StopReason};
use crate::config::{IncrementalOptions, Settings};
use crate::corpus::{Sentence, Source};
use crate::error::Result;
use crate::kernel::{FloatMode, Kernel};
use crate::noise::AdaptiveTable;
use crate::pairs::PairSampler;
use crate::random::{Purpose, Random};
use crate::vocabulary::{Observed, WordId};

#[derive(Clone, Debug)]
pub(crate) struct Sentences {
    /// q(w) of Algorithm 1.
    pub noise: AdaptiveTable,
    pub random: Random,
    /// Tokens of the stream that are counted before they are trained.
    pub(super) warm_up_words: u64,
    pub(super) step: PairStep,
    sampler: PairSampler,
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

impl Sentences {
    pub fn new(settings: &Settings, options: IncrementalOptions, kernel: Kernel) -> Sentences {
        Sentences {
            noise: AdaptiveTable::new(options.table_size, settings.noise_exponent()),
            random: Random::for_purpose(settings.seed(), Purpose::Sentences, [0, 0]),
            warm_up_words: options.warm_up_words as u64,
            step: PairStep::new(settings, kernel),
            sampler: PairSampler::new(settings),
            sentence: Sentence::default(),
            tokens: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// Algorithm 1: one pass, with counts and noise that follow each word.
    pub fn train(
        &mut self,
        settings: &Settings,
        stream: &mut Stream,
        source: &mut dyn Source,
        observer: &mut dyn Observer,
    ) -> Result<StopReason> {
        let _mode = FloatMode::standard();
        let mut report = Reports::default();
        let mut text = Text::new(source);
        let mut pause = false;
        while !pause && stream.vocabulary.tokens() < self.warm_up_words {
            let Some(asked) = self.warm_up(settings, stream, &mut text, &mut report, observer) else { break };
            pause = asked;
        }
        while !pause && text.read(&mut self.sentence) {
            self.learn_sentence(stream);
            pause = report.is_paused(self.sentence.len(), stream, observer);
        }
        text.stop()
    }

    /// First all words of the sentence are counted, because a window looks ahead and its words need rows. Then, word by
    /// word, the noise takes in the word, and the word is trained.
    fn learn_sentence(&mut self, stream: &mut Stream) {
        self.observe_sentence(stream);
        self.noise.refresh(&mut self.random);
        let Sentences { noise, random, sampler, step, sentence, tokens, kept, .. } = self;
        let times = random.times(sentence.weight());
        let mut position = 0;
        for token in tokens {
            noise.add(token.word, random);
            if !token.kept {
                continue;
            }
            for _ in 0..times {
                let reach = sampler.reach(position, kept.len(), random);
                for context in reach.contexts(kept, position) {
                    let loss = step.train(&mut stream.parameters, token.word, context, || noise.draw(random));
                    stream.totals.pairs += 1;
                    stream.totals.loss += loss;
                }
            }
            position += 1;
        }
    }

    /// Counts the words of the sentence, and drops frequent ones.
    fn observe_sentence(&mut self, stream: &mut Stream) {
        let Stream { vocabulary, parameters, initial, .. } = stream;
        self.tokens.clear();
        vocabulary.begin_sentence(self.sentence.document());
        for word in self.sentence.tokens() {
            let number = vocabulary.tokens();
            let word = match vocabulary.observe(word) {
                Observed::Known(id) => id,
                Observed::Admitted(fresh) => {
                    fresh.evicted().inspect(|&id| self.noise.forget(id));
                    admit(fresh, vocabulary, parameters, initial.as_ref())
                }
                Observed::Rejected => continue,
            };
            let kept = self.sampler.keeps(vocabulary.count(word), vocabulary.tokens(), &mut self.random);
            self.tokens.push(Token { word, number, kept });
        }
        // A word may have been evicted before the end of its sentence.
        self.tokens.retain(|token| vocabulary.is_same_word_since(token.word, token.number));
        self.kept.clear();
        self.kept.extend(self.tokens.iter().filter(|token| token.kept).map(|token| token.word));
    }
}
