//! Sentences → learned rows: the strategies, and the [`Trainer`] that owns the stream's state.
//!
//! `sentences.rs` is the paper's Algorithm 1, and `warm_up.rs` its optional start; `passes.rs` has the multi-pass methods
//! that the paper compares with. `mini_batch.rs` is Algorithm 2, the default; `read_ahead.rs` has its loop, `passages.rs`
//! reads on all threads, `replay.rs` the old text, and `grid.rs` trains a batch on all threads. `fresh.rs` resets
//! the rows of new words, `initial.rs` has the vectors that words may start with, `live.rs` reads single vectors,
//! `fork.rs` copies a trainer, and `control.rs` pins, blocks, merges and forgets words. [`cluster`] trains the same model
//! with rows on several machines.

mod cell;
pub mod cluster;
mod control;
mod fork;
mod fresh;
mod grid;
mod initial;
mod live;
mod memory;
mod mini_batch;
mod pair_step;
mod passages;
mod passes;
mod read_ahead;
mod replay;
mod reports;
mod runs;
mod schedule;
mod sentences;
mod trainer;
mod warm_up;

pub use initial::{Initial, InitialSource};
pub use live::LiveVectors;
pub use memory::MemoryBound;
pub(crate) use mini_batch::MiniBatch;
#[cfg(feature = "unstable")]
pub use mini_batch::count_words;
pub(crate) use passes::Passes;
pub use passes::{AnyTrainer, MultiPass};
pub(crate) use replay::{ReplayBuffer, Segment};
pub(crate) use sentences::Sentences;
pub use trainer::Trainer;
pub(crate) use trainer::{Method, Stream};

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

/// What was trained since the stream began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Pairs of a target and a context that were trained.
    pub pairs: u64,
    /// The sum of their losses; [`Totals::mean_loss`] divides.
    pub loss: f64,
    /// Tokens that were replayed.
    pub replayed: u64,
}

impl Totals {
    /// The mean loss of a pair: −log σ(t·c) − Σ log σ(−t·v).
    pub fn mean_loss(&self) -> f64 {
        if self.pairs == 0 { 0.0 } else { self.loss / self.pairs as f64 }
    }

    /// What was added since `earlier`.
    pub fn since(&self, earlier: &Totals) -> Totals {
        Totals {
            pairs: self.pairs - earlier.pairs,
            loss: self.loss - earlier.loss,
            replayed: self.replayed - earlier.replayed,
        }
    }
}

/// The progress of training, for an [`Observer`].
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Tokens read since the stream began.
    pub tokens: u64,
    /// What was trained since the stream began.
    pub totals: Totals,
    /// Words in the vocabulary.
    pub vocabulary: usize,
    /// Words that were evicted.
    pub evictions: u64,
}

/// Follows the training, and may ask it to pause.
///
/// A closure is an observer, and so is `()`, which never asks for a pause.
pub trait Observer {
    /// Called a few times a second while there is text. [`ControlFlow::Break`] asks the trainer to pause at the next
    /// boundary, where its state can be saved.
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()>;
}

impl<F: FnMut(&Progress) -> ControlFlow<()>> Observer for F {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        self(progress)
    }
}

impl Observer for () {
    fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Why [`Trainer::train`] returned. All text that was read is learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The source has ended.
    EndOfText,
    /// The source has no text now, but may have more later.
    Pending,
    /// The observer asked for a pause. The source is at the next sentence.
    Paused,
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
