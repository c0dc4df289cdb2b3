//! The first line that `train` prints.

use std::fmt;
use std::path::Path;

use indicatif::DecimalBytes;
use serde::Serialize;
use skipstream::train::{InitialSource, MemoryBound};
use skipstream::{Config, MiniBatchOptions, Strategy, Trainer};

use crate::output::count;

/// The state at the start of training: a line for people, JSON for programs.
#[derive(Clone, Debug, Serialize)]
pub struct Headline<'a> {
    pub model: &'a Path,
    pub is_new: bool,
    /// Words learned since the model was created.
    pub words_in_all: u64,
    pub settings: Config,
    /// The file that words are initialized from.
    pub initial: Option<InitialSource>,
    pub threads: usize,
    /// The instruction set in use.
    pub kernel: &'static str,
    /// Memory bound in bytes, with the messages of brokers and without decompression and records.
    pub memory: u64,
    pub memory_bound: MemoryBound,
}

impl<'a> Headline<'a> {
    /// Describes the trainer before the first word.
    pub fn new(model: &'a Path, is_new: bool, trainer: &Trainer, source_bytes: u64) -> Headline<'a> {
        let memory_bound = trainer.memory_bound();
        Headline {
            model,
            is_new,
            words_in_all: trainer.progress().tokens,
            settings: trainer.settings().resolved(),
            initial: trainer.initial().map(|initial| initial.source.clone()),
            threads: trainer.settings().threads(),
            kernel: trainer.instruction_set(),
            memory: memory_bound.total() + source_bytes,
            memory_bound,
        }
    }
}

impl fmt::Display for Headline<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Config { dimensions, window, negatives, strategy, max_vocabulary, .. } = self.settings;
        write!(out, "{}: ", self.model.display())?;
        match self.is_new {
            true => write!(out, "new model")?,
            false => write!(out, "continued after {} words", count(self.words_in_all))?,
        }
        if let Some(initial) = self.initial.as_ref().filter(|_| self.is_new) {
            write!(out, ", words initialized from {}", initial.file)?;
        }
        let strategy_name = strategy.name();
        write!(out, ", {dimensions} dimensions, window {window}, {negatives} negatives, {strategy_name}; ")?;
        match (strategy, self.threads) {
            (Strategy::MiniBatch(MiniBatchOptions { blocks, .. }), threads) if threads > blocks => {
                write!(out, "{blocks} threads (limited by --blocks)")?;
            }
            (Strategy::MiniBatch(_), threads) if threads > 1 => write!(out, "{threads} threads")?,
            _ => write!(out, "1 thread")?,
        }
        let (memory, words) = (DecimalBytes(self.memory), count(max_vocabulary));
        write!(
            out,
            ", {}; memory: at most {memory} for {words} words, excluding decompression and records",
            self.kernel
        )
    }
}
