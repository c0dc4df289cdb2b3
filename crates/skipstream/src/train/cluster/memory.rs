//! The memory bound of a worker.

use serde::Serialize;

use super::share::Share;
use crate::config::{Settings, Strategy, WindowShape};
use crate::error::Result;
use crate::kernel::RUNS;
use crate::parameters::{Lanes, Layout};
use crate::train::grid::shared_negatives;
use crate::train::memory::batch_bytes;

/// What a worker takes at most, in bytes, from its settings alone. A cluster moves messages besides, which are as large as
/// `messages` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct WorkerBound {
    /// The rows of its blocks, with AdaGrad's sums.
    pub parameters: u64,
    /// Frequencies and noise of its words, and lists by row.
    pub vocabulary: u64,
    /// Context rows of others, and of its own while they are lent.
    pub guests: u64,
    /// Messages that are sent and received.
    pub messages: u64,
    /// The batch, with its pairs.
    pub batch: u64,
    /// Copies made by saving and loading.
    pub saving: u64,
    /// The program.
    pub program: u64,
}

impl WorkerBound {
    /// The bound of each of these workers.
    pub fn new(settings: &Settings, workers: usize) -> Result<WorkerBound> {
        let share = Share::new(settings, workers)?;
        let layout = Layout::new(settings);
        let rows = (share.largest() * layout.rows_per_block) as u64;
        let row = (layout.lanes_per_row * size_of::<Lanes>() + size_of::<f32>()) as u64;
        let Strategy::MiniBatch(options) = settings.strategy() else {
            unreachable!("shares are of mini-batch")
        };
        // A batch may touch every context; those of one worker visit at a time.
        let guests = if workers > 1 { rows.min(touched(settings, workers)) } else { 0 };
        Ok(WorkerBound {
            parameters: 2 * rows * row,
            // As on one machine, 8 bytes of a frequency and 24 of noise; and 12 bytes for lists of one block.
            vocabulary: 32 * rows + 12 * layout.rows_per_block as u64,
            // A quarter more, so that not every batch needs new memory.
            guests: guests * (row + 8) * 5 / 4,
            // What is lent, or comes from home and from another worker; and what is sent on or back.
            messages: 2 * guests * (row + 8),
            // The counts of all words are the coordinator's.
            batch: batch_bytes(settings, options) - 20 * settings.max_vocabulary() as u64,
            // Files are mapped; a single one has the ids and the sums of all words.
            saving: 8 * settings.max_vocabulary() as u64,
            program: 32 << 20,
        })
    }

    /// The sum.
    pub fn total(&self) -> u64 {
        let WorkerBound { parameters, vocabulary, guests, messages, batch, saving, program } = self;
        parameters + vocabulary + guests + messages + batch + saving + program
    }
}

/// Context rows of one worker that a batch touches: at most a word of the text each, and the negatives of its groups.
///
/// Pairs are counted as if no frequent word was dropped, each as a run of its own. A worker's contexts have its part of them:
/// frequent words are dealt to all blocks, because the first words of a text get the first ids.
fn touched(settings: &Settings, workers: usize) -> u64 {
    let words = settings.mini_batch().batch_words + settings.text().max_sentence_words;
    let contexts = match settings.window_shape() {
        WindowShape::Shrinking => settings.window() + 1,
        WindowShape::Fixed => 2 * settings.window(),
    };
    let negatives = words * contexts * shared_negatives(settings.negatives()) / RUNS;
    (words + negatives / workers) as u64
}
