//! Algorithm 1 of the paper, and the batch strategies that it is compared with: pair by pair, on one thread.
//!
//! The paper's symbols: f(w) is `vocabulary.count`, q(w) is `noise`, t and c are the rows of `parameters.target`
//! and `parameters.context`, α is `noise_exponent`, c is `window`, k is `negatives`.

use super::trainer::Stream;
use super::{Observer, Outcome, Wish};
use crate::config::{Settings, Strategy};
use crate::corpus::{Sentence, Source};
use crate::error::Result;
use crate::kernel::{Kernel, Optimizer};
use crate::noise::{AdaptiveTable, AliasTable};
use crate::pairs::PairSampler;
use crate::parameters::{Lanes, Parameters};
use crate::random::{Purpose, Random};
use crate::vocabulary::{Observed, Recycle, Vocabulary, WordId};

/// The state of the strategies `incremental`, `batch` and `word2vec`.
#[derive(Debug)]
pub(crate) struct Sentences {
    pub noise: AdaptiveTable,
    pub random: Random,
    kernel: Kernel,
    sampler: PairSampler,
    optimizer: Optimizer,
    negatives: usize,
    sentence: Sentence,
    /// The words of the sentence, each with its count at that moment.
    seen: Vec<(WordId, u64, u64)>,
    kept: Vec<(WordId, u64)>,
    evicted: Vec<(WordId, u64)>,
    gradient: Vec<Lanes>,
}

/// Tokens between two calls of the observer.
const REPORT_EVERY: u64 = 20_000;

impl Sentences {
    pub fn new(settings: &Settings, kernel: Kernel) -> Sentences {
        Sentences {
            noise: AdaptiveTable::new(settings.table_size, settings.noise_exponent),
            random: Random::for_purpose(settings.seed, Purpose::Sentences, [0, 0]),
            kernel,
            sampler: PairSampler::new(settings),
            optimizer: Optimizer {
                learning_rate: settings.learning_rate(),
                dimensions: settings.dimensions,
            },
            negatives: settings.negatives,
            sentence: Sentence::default(),
            seen: Vec::new(),
            kept: Vec::new(),
            evicted: Vec::new(),
            gradient: Vec::new(),
        }
    }
}
