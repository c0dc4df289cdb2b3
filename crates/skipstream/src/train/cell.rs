//! One cell of the grid: the pairs of a batch whose target is in one block and whose context is in another.

use super::initial::Initial;
use super::mini_batch::Batch;
use super::runs::BlockPairs;
use super::schedule::CellPlace;
use crate::kernel::{Group, GroupScratch, GroupSettings, Kernel};
use crate::noise::{AliasTable, weight};
use crate::parameters::{Block, Layout};
use crate::random::{Purpose, Random};

/// A block of targets, and the batch's pairs whose targets are in it.
#[derive(Debug)]
pub(super) struct TargetBlock<'a> {
    pub rows: Block<'a>,
    pub pairs: &'a mut BlockPairs,
}

/// A block of contexts, and their noise.
#[derive(Debug)]
pub(super) struct ContextBlock<'a> {
    pub rows: Block<'a>,
    pub noise: &'a mut AliasTable,
}

/// The buffers of a thread that trains cells.
#[derive(Debug, Default)]
pub(super) struct CellScratch {
    group: Group,
    next: Group,
    scratch: GroupScratch,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trained {
    pub pairs: u64,
    pub loss: f64,
}

impl Trained {
    /// The sum over the cells, always in the order of their numbers, because sums of floats depend on it.
    pub fn sum(cells: &[Trained]) -> Trained {
        cells.iter().fold(Trained::default(), |sum, cell| Trained {
            pairs: sum.pairs + cell.pairs,
            loss: sum.loss + cell.loss,
        })
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct CellSettings {
    pub kernel: Kernel,
    pub layout: Layout,
    pub group: GroupSettings,
    pub shared_negatives: usize,
    pub noise_exponent: f64,
    pub seed: u64,
}

/// Prepares a block for a batch. In the first round the target block and the context block of a cell are the same block, so
/// its first cell prepares both. `frequencies` are those of the block's words, by row.
pub(super) fn prepare(
    block: usize,
    batch: &Batch,
    frequencies: impl ExactSizeIterator<Item = u64>,
    initial: Option<&Initial>,
    settings: &CellSettings,
    targets: &mut TargetBlock<'_>,
    contexts: &mut ContextBlock<'_>,
) {
    for fresh in batch.fresh.iter().filter(|fresh| settings.layout.block(fresh.id) == block) {
        let row = settings.layout.row(fresh.id);
        let rows = [targets.rows.row_mut(row), contexts.rows.row_mut(row)];
        fresh.reset(rows, settings.group.dimensions, settings.seed, initial);
    }
    let rows = frequencies.len();
    if let Some(left) = batch.fading {
        targets.rows.fade(rows, left, settings.group.dimensions);
        contexts.rows.fade(rows, left, settings.group.dimensions);
    }
    contexts.noise.rebuild(frequencies.map(|frequency| weight(frequency, settings.noise_exponent)));
    targets.pairs.collect(batch, block, rows, settings.layout);
}

/// The random numbers that draw the negatives of a cell.
pub(super) fn random(seed: u64, batch: u64, place: CellPlace, blocks: usize) -> Random {
    let number = place.target * blocks + place.round;
    Random::for_purpose(seed, Purpose::Negatives, [batch, number as u64])
}

/// Trains the pairs of a cell, in groups of runs that share their negatives, which `draw` gives.
pub(super) fn train(
    context_block: usize,
    settings: &CellSettings,
    targets: &mut TargetBlock<'_>,
    contexts: &mut Block<'_>,
    mut draw: impl FnMut() -> Option<u32>,
    scratch: &mut CellScratch,
) -> Trained {
    let CellScratch { group, next, scratch } = scratch;
    let runs = targets.pairs.runs(context_block);
    let mut trained = Trained::default();
    let n_groups = runs.groups();
    group.clear();
    for number in 0..=n_groups {
        // The rows of a group are prefetched while the group before it is trained.
        next.clear();
        if number < n_groups {
            runs.fill(next, number, n_groups);
            next.negatives.extend(std::iter::from_fn(&mut draw).take(settings.shared_negatives));
            settings.kernel.prefetch(next, contexts);
        }
        if number > 0 {
            trained.pairs += group.contexts.len() as u64;
            trained.loss +=
                settings.kernel.train_group(group, settings.group, &mut targets.rows, contexts, scratch);
        }
        std::mem::swap(group, next);
    }
    trained
}
