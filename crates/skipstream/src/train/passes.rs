//! The multi-pass methods that the paper compares with (section 2): they count the whole corpus, then make passes over it,
//! pair by pair, on one thread.

use std::path::Path;

use super::fresh::admit;
use super::pair_step::PairStep;
use super::reports::Reports;
use super::trainer::{Method, Stream};
use super::{Initial, Observer, StopReason, Trainer};
use crate::config::{Config, Settings};
use crate::corpus::{Ledger, Sentence, Source};
use crate::error::{Error, Result};
use crate::kernel::{FloatMode, Kernel};
use crate::noise::{AliasTable, weight};
use crate::pairs::PairSampler;
use crate::random::{Purpose, Random};
use crate::vocabulary::{Control, Controlled, Observed, WordId};

/// Learns a whole corpus in passes, with the strategies `batch` and `word2vec`.
///
/// Such a model cannot learn more text later.
///
/// ```
/// use skipstream::train::MultiPass;
/// use skipstream::{BatchOptions, Config, Strategy};
/// use skipstream::corpus::Lines;
///
/// let strategy = Strategy::Batch(BatchOptions { passes: 3, ..BatchOptions::default() });
/// let config = Config { dimensions: 16, strategy, ..Config::default() };
/// let mut passes = MultiPass::new(config.clone())?;
/// let open = || Ok(Box::new(Lines::new("tea with milk".as_bytes(), "text", &config.text)?) as _);
/// passes.train(&mut { open }, &mut ())?;
/// assert_eq!(passes.model().embeddings()?.len(), 3);
/// # Ok::<(), skipstream::Error>(())
/// ```
#[derive(Debug)]
pub struct MultiPass {
    trainer: Trainer,
}

impl MultiPass {
    /// An empty model. The strategy must be `batch` or `word2vec`.
    pub fn new(config: Config) -> Result<MultiPass> {
        if config.strategy.passes().is_none() {
            let name = config.strategy.name();
            return Err(Error::setting("strategy", name, "batch or word2vec to make passes"));
        }
        Ok(MultiPass { trainer: Trainer::of_any_strategy(config, Kernel::best())? })
    }

    /// An empty model whose words start with the given vectors.
    pub fn starting_from(config: Config, initial: Initial) -> Result<MultiPass> {
        let MultiPass { trainer } = MultiPass::new(config)?;
        Ok(MultiPass { trainer: trainer.with_initial(initial)? })
    }

    /// Loads a model that was trained in passes.
    pub fn load(path: impl AsRef<Path>) -> Result<MultiPass> {
        let trainer = Trainer::load_any(path.as_ref(), None)?;
        match trainer.method {
            Method::Passes(_) => Ok(MultiPass { trainer }),
            _ => Err(Error::setting("strategy", trainer.settings.strategy().name(), "batch or word2vec")),
        }
    }

    /// Learns a corpus, which `open` opens for the count and for each pass.
    ///
    /// The model is complete when this returns [`StopReason::EndOfText`]. It learns one corpus: another call is an error.
    pub fn train(
        &mut self,
        open: &mut dyn FnMut() -> Result<Box<dyn Source>>,
        observer: &mut dyn Observer,
    ) -> Result<StopReason> {
        let Trainer { settings, stream, method, .. } = &mut self.trainer;
        if stream.vocabulary.tokens() > 0 {
            return Err(Error::PassesAreOver { strategy: settings.strategy().name() });
        }
        let Method::Passes(passes) = method else { unreachable!("the constructors check the strategy") };
        passes.train(settings, stream, open, observer)
    }

    /// Forgets everything that was learned, for instance after an error. Notes and controls stay.
    pub fn reset(&mut self) -> Result<()> {
        let config = self.trainer.settings.config().clone();
        let mut trainer = Trainer::of_any_strategy(config, self.trainer.kernel)?;
        trainer.stream.initial = self.trainer.stream.initial.take();
        trainer.notes = std::mem::take(&mut self.trainer.notes);
        trainer.set_controls(self.trainer.controls().clone())?;
        self.trainer = trainer;
        Ok(())
    }

    /// The model, to read and to save.
    pub fn model(&self) -> &Trainer {
        &self.trainer
    }
}

/// A trainer of any strategy, for programs that let people choose one.
#[derive(Debug)]
pub enum AnyTrainer {
    /// It learns a stream.
    Stream(Trainer),
    /// It learns a whole corpus.
    Passes(MultiPass),
}

impl AnyTrainer {
    /// An empty model.
    pub fn new(config: Config) -> Result<AnyTrainer> {
        Ok(match config.strategy.passes() {
            None => AnyTrainer::Stream(Trainer::new(config)?),
            Some(_) => AnyTrainer::Passes(MultiPass::new(config)?),
        })
    }

    /// An empty model whose words start with the given vectors.
    pub fn starting_from(config: Config, initial: Initial) -> Result<AnyTrainer> {
        Ok(match config.strategy.passes() {
            None => AnyTrainer::Stream(Trainer::starting_from(config, initial)?),
            Some(_) => AnyTrainer::Passes(MultiPass::starting_from(config, initial)?),
        })
    }

    /// Loads a model.
    pub fn load(path: impl AsRef<Path>, threads: Option<usize>) -> Result<AnyTrainer> {
        let trainer = Trainer::load_any(path.as_ref(), threads)?;
        Ok(match trainer.method {
            Method::Passes(_) => AnyTrainer::Passes(MultiPass { trainer }),
            _ => AnyTrainer::Stream(trainer),
        })
    }

    /// The model, to read and to save.
    pub fn model(&self) -> &Trainer {
        match self {
            AnyTrainer::Stream(trainer) => trainer,
            AnyTrainer::Passes(passes) => &passes.trainer,
        }
    }

    /// The learned sources, for the reader to update.
    pub fn ledger_mut(&mut self) -> &mut Ledger {
        &mut self.model_mut().ledger
    }

    /// Keeps a text with the model, by name, as [`Trainer::notes_mut`] does.
    pub fn set_note(&mut self, name: String, text: String) {
        self.model_mut().notes.insert(name, text);
    }

    /// Pins, blocks, merges or forgets words, as [`Trainer::control`] does.
    pub fn control(&mut self, controls: impl IntoIterator<Item = Control>) -> Result<Vec<Controlled>> {
        self.model_mut().control(controls)
    }

    /// Adds phrases that are always joined, as [`Trainer::add_phrases`] does.
    pub fn add_phrases(&mut self, phrases: impl IntoIterator<Item = impl AsRef<str>>) -> Result<usize> {
        self.model_mut().add_phrases(phrases)
    }

    /// Number of threads from now on; by default all cores. The model does not depend on it.
    pub fn set_threads(&mut self, threads: Option<usize>) -> Result<()> {
        self.model_mut().set_threads(threads)
    }

    fn model_mut(&mut self) -> &mut Trainer {
        match self {
            AnyTrainer::Stream(trainer) => trainer,
            AnyTrainer::Passes(passes) => &mut passes.trainer,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Passes {
    random: Random,
    sampler: PairSampler,
    step: PairStep,
    sentence: Sentence,
    kept: Vec<WordId>,
}

impl Passes {
    pub fn new(settings: &Settings, kernel: Kernel) -> Passes {
        Passes {
            random: Random::for_purpose(settings.seed(), Purpose::Sentences, [0, 0]),
            sampler: PairSampler::new(settings),
            step: PairStep::new(settings, kernel),
            sentence: Sentence::default(),
            kept: Vec::new(),
        }
    }

    /// Batch SGNS: count the whole corpus, fix the noise, then pass over it.
    fn train(
        &mut self,
        settings: &Settings,
        stream: &mut Stream,
        open: &mut dyn FnMut() -> Result<Box<dyn Source>>,
        observer: &mut dyn Observer,
    ) -> Result<StopReason> {
        let _mode = FloatMode::standard();
        let mut report = Reports::default();
        let mut source = open()?;
        while source.read(&mut self.sentence)?.is_sentence() {
            for word in self.sentence.tokens() {
                if let Observed::Admitted(fresh) = stream.vocabulary.observe(word) {
                    admit(fresh, &stream.vocabulary, &mut stream.parameters, stream.initial.as_ref());
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
        let Passes { random, sampler, step, sentence, kept, .. } = self;
        let vocabulary = &stream.vocabulary;
        for _ in 0..random.times(sentence.weight()) {
            let words =
                sentence.tokens().filter_map(|word| vocabulary.id(vocabulary.controls().meaning(word)));
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
}
