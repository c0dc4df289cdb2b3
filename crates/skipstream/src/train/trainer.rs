//! The trainer: the stream's state, and the strategy that moves it.

use super::{MiniBatch, Observer, Outcome, Progress, Sentences, Totals};
use crate::config::{Config, Settings, Strategy};
use crate::corpus::Source;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::parameters::Parameters;
use crate::vocabulary::Vocabulary;

/// Learns from a stream. Owns everything that changes.
#[derive(Debug)]
pub struct Trainer {
    pub(crate) settings: Settings,
    pub(crate) stream: Stream,
    pub(crate) method: Method,
}

/// What every strategy works on.
#[derive(Debug)]
pub(crate) struct Stream {
    pub vocabulary: Vocabulary,
    pub parameters: Parameters,
    pub totals: Totals,
}

impl Stream {
    pub fn progress(&self) -> Progress {
        Progress {
            tokens: self.vocabulary.tokens(),
            totals: self.totals,
            vocabulary: self.vocabulary.len(),
            evictions: self.vocabulary.totals().evictions,
        }
    }
}

/// A strategy with its state.
#[derive(Debug)]
pub(crate) enum Method {
    MiniBatch(Box<MiniBatch>),
    Sentences(Box<Sentences>),
}

impl Trainer {
    /// An empty model.
    pub fn new(config: Config) -> Result<Trainer> {
        let settings = config.check()?;
        let kernel = Kernel::best();
        Ok(Trainer {
            stream: Stream {
                vocabulary: Vocabulary::new(settings.max_vocabulary, settings.seed),
                parameters: Parameters::new(&settings)?,
                totals: Totals::default(),
            },
            method: match settings.strategy {
                Strategy::MiniBatch => Method::MiniBatch(Box::new(MiniBatch::new(&settings, kernel))),
                _ => Method::Sentences(Box::new(Sentences::new(&settings, kernel))),
            },
            settings,
        })
    }

    /// Learns from a source until it ends, or until the observer wants a rest.
    pub fn train(&mut self, source: &mut dyn Source, observer: &mut dyn Observer) -> Result<Outcome> {
        match &mut self.method {
            Method::MiniBatch(method) => method.train(&mut self.stream, source, observer),
            Method::Sentences(_) => Err(Error::Unsupported("later".into())),
        }
    }

    /// The words, with their counts.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.stream.vocabulary
    }

    /// The rows.
    pub fn parameters(&self) -> &Parameters {
        &self.stream.parameters
    }

    /// How far training has come.
    pub fn progress(&self) -> Progress {
        self.stream.progress()
    }
}
