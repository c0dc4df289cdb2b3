//! One cell of the grid: the pairs of a batch whose target is in one block and whose context is in another.

use super::initial::Initial;
use super::mini_batch::Batch;
use super::runs::BlockPairs;
use crate::kernel::{Group, GroupScratch, GroupSettings, Kernel, RUNS};
use crate::noise::{AliasTable, weight};
use crate::parameters::{Block, Layout};
use crate::random::Random;

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

#[derive(Debug, Default)]
pub(super) struct Worker {
    group: Group,
    next: Group,
    scratch: GroupScratch,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trained {
    pub pairs: u64,
    pub loss: f64,
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
/// its first cell prepares both.
pub(super) fn prepare(
    block: usize,
    batch: &Batch,
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
    let frequencies = batch.frequencies.iter().skip(block).step_by(settings.layout.blocks);
    if let Some(left) = batch.fading {
        targets.rows.fade(frequencies.len(), left, settings.group.dimensions);
        contexts.rows.fade(frequencies.len(), left, settings.group.dimensions);
    }
    contexts.noise.rebuild(frequencies.map(|&frequency| weight(frequency, settings.noise_exponent)));
    targets.pairs.collect(batch, block, settings.layout);
}

/// Trains the pairs of a cell, in groups of runs that share their negatives.
pub(super) fn train(
    context_block: usize,
    settings: &CellSettings,
    targets: &mut TargetBlock<'_>,
    contexts: &mut ContextBlock<'_>,
    random: &mut Random,
    worker: &mut Worker,
) -> Trained {
    let Worker { group, next, scratch } = worker;
    let runs = targets.pairs.runs(context_block);
    let mut trained = Trained::default();
    let n_groups = runs.len().div_ceil(RUNS);
    group.clear();
    for number in 0..=n_groups {
        // The rows of a group are prefetched while the group before it is trained.
        next.clear();
        if number < n_groups {
            runs.fill(next, number, n_groups);
            let negatives = std::iter::from_fn(|| contexts.noise.draw(random));
            next.negatives.extend(negatives.take(settings.shared_negatives));
            settings.kernel.prefetch(next, &contexts.rows);
        }
        if number > 0 {
            trained.pairs += group.contexts.len() as u64;
            trained.loss += settings.kernel.train_group(
                group,
                settings.group,
                &mut targets.rows,
                &mut contexts.rows,
                scratch,
            );
        }
        std::mem::swap(group, next);
    }
    trained
}
