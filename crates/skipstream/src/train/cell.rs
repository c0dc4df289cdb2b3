//! One cell of the grid: the pairs of a batch whose target is in one block and whose context is in another.

use super::initial::Initial;
use super::intake::Batch;
use super::runs::BlockPairs;
use crate::kernel::{Group, GroupScratch, GroupSettings, Kernel, RUNS};
use crate::noise::{AliasTable, weight};
use crate::parameters::{Block, LANES, Layout, fill_new_target, first_square};
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

/// What a thread needs to train cells, used again and again.
#[derive(Debug, Default)]
pub(super) struct Worker {
    group: Group,
    next: Group,
    scratch: GroupScratch,
}

/// What training gave.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trained {
    pub pairs: u64,
    pub loss: f64,
}

/// The numbers that all cells share.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellSettings {
    pub kernel: Kernel,
    pub layout: Layout,
    pub group: GroupSettings,
    pub shared_negatives: usize,
    pub noise_exponent: f64,
    pub seed: u64,
}

/// Makes a block ready for a batch. The first cell of a block on either side is the one where both are the same
/// block, so it may do this for both.
pub(super) fn prepare(
    block: usize,
    batch: &Batch,
    initial: Option<&Initial>,
    settings: &CellSettings,
    targets: &mut TargetBlock<'_>,
    contexts: &mut ContextBlock<'_>,
) {
    let dimensions = settings.group.dimensions;
    for fresh in batch.fresh.0.iter().filter(|fresh| settings.layout.block(fresh.id) == block) {
        let row = settings.layout.row(fresh.id);
        let target = &mut targets.rows.row_mut(row).as_flattened_mut()[..dimensions];
        match initial.zip(fresh.start) {
            Some((initial, start)) => initial.fill(start, target),
            None => fill_new_target(target, settings.seed, fresh.birth),
        }
        contexts.rows.row_mut(row).fill([0.0; LANES]);
        targets.rows.accumulators[row] = first_square(dimensions);
        contexts.rows.accumulators[row] = first_square(dimensions);
    }
    let counts = batch.counts.iter().skip(block).step_by(settings.layout.blocks);
    contexts.noise.rebuild(counts.map(|&count| weight(count, settings.noise_exponent)));
    targets.pairs.collect(batch, block, settings.layout);
}

/// Trains the pairs of a cell: runs of a target's contexts, in groups that share their negatives.
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
        // The rows of a group are asked for while the one before is trained.
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
