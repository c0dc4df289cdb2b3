//! One cell of the grid: the pairs of a batch whose target is in one block and whose context is in another.

use super::intake::Batch;
use crate::kernel::{Group, GroupScratch, GroupSettings, Kernel, RUN_LENGTH, RUNS};
use crate::noise::{AliasTable, weight};
use crate::parameters::{BLOCKS, Block, LANES, Layout, fill_new_target};
use crate::random::Random;

/// A block of targets, and the batch's centers in it.
#[derive(Debug)]
pub(super) struct TargetBlock<'a> {
    pub rows: Block<'a>,
    pub centers: &'a mut Centers,
}

/// A block of contexts, and their noise.
#[derive(Debug)]
pub(super) struct ContextBlock<'a> {
    pub rows: Block<'a>,
    pub noise: &'a mut AliasTable,
}

/// The positions of a batch whose words are in one block, sorted by word.
#[derive(Debug, Default)]
pub(super) struct Centers {
    positions: Vec<u32>,
    starts: Vec<u32>,
}

impl Centers {
    /// A counting sort: stable, and linear in words and rows.
    fn collect(&mut self, batch: &Batch, block: usize) {
        let rows = batch.counts.len().div_ceil(BLOCKS);
        self.starts.clear();
        self.starts.resize(rows + 1, 0);
        let in_block = || batch.words.iter().enumerate().filter(|(_, id)| Layout::block(**id) == block);
        for (_, &id) in in_block() {
            self.starts[Layout::row(id) + 1] += 1;
        }
        for row in 0..rows {
            self.starts[row + 1] += self.starts[row];
        }
        self.positions.clear();
        self.positions.resize(self.starts[rows] as usize, 0);
        for (position, &id) in in_block() {
            let start = &mut self.starts[Layout::row(id)];
            self.positions[*start as usize] = position as u32;
            *start += 1;
        }
    }
}

/// What a thread needs to train cells, used again and again.
#[derive(Debug, Default)]
pub(super) struct Worker {
    filling: Group,
    waiting: Group,
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
    settings: &CellSettings,
    targets: &mut TargetBlock<'_>,
    contexts: &mut ContextBlock<'_>,
) {
    for &(id, birth) in batch.fresh.0.iter().filter(|(id, _)| Layout::block(*id) == block) {
        let row = Layout::row(id);
        let target = targets.rows.row_mut(row).as_flattened_mut();
        fill_new_target(&mut target[..settings.group.dimensions], settings.seed, birth);
        contexts.rows.row_mut(row).fill([0.0; LANES]);
        targets.rows.accumulators[row] = 0.0;
        contexts.rows.accumulators[row] = 0.0;
    }
    let counts = batch.counts.iter().skip(block).step_by(BLOCKS);
    contexts.noise.rebuild(counts.map(|&count| weight(count, settings.noise_exponent)));
    targets.centers.collect(batch, block);
}

/// Trains the pairs of a cell: runs of a target's contexts, in groups that share their negatives.
pub(super) fn train(
    context_block: usize,
    batch: &Batch,
    settings: &CellSettings,
    targets: &mut TargetBlock<'_>,
    contexts: &mut ContextBlock<'_>,
    random: &mut Random,
    worker: &mut Worker,
) -> Trained {
    let mut trained = Trained::default();
    worker.filling.clear();
    worker.waiting.clear();
    let mut current = None;
    for &position in &targets.centers.positions {
        let position = position as usize;
        let target = Layout::row(batch.words[position]) as u32;
        if current != Some(target) {
            worker.end_run(current, settings, &mut targets.rows, contexts, random, &mut trained);
            current = Some(target);
        }
        let reach = batch.reaches[position];
        let before = &batch.words[position - usize::from(reach.left)..position];
        let behind = &batch.words[position + 1..][..usize::from(reach.right)];
        for &context in before.iter().chain(behind) {
            if Layout::block(context) != context_block {
                continue;
            }
            worker.filling.contexts.push(Layout::row(context) as u32);
            if worker.filling.open_run() == RUN_LENGTH {
                worker.end_run(current, settings, &mut targets.rows, contexts, random, &mut trained);
            }
        }
    }
    worker.end_run(current, settings, &mut targets.rows, contexts, random, &mut trained);
    worker.end_group(settings, &mut targets.rows, contexts, random, &mut trained);
    worker.end_group(settings, &mut targets.rows, contexts, random, &mut trained);
    trained
}

impl Worker {
    /// Closes the run of `target`, if it has a context.
    #[inline]
    fn end_run(
        &mut self,
        target: Option<u32>,
        settings: &CellSettings,
        targets: &mut Block<'_>,
        contexts: &mut ContextBlock<'_>,
        random: &mut Random,
        trained: &mut Trained,
    ) {
        let Some(target) = target.filter(|_| self.filling.open_run() > 0) else {
            return;
        };
        self.filling.close_run(target);
        if self.filling.targets.len() == RUNS {
            self.end_group(settings, targets, contexts, random, trained);
        }
    }

    /// Closes the group that is being filled, and trains the one before: so its rows have time to arrive.
    fn end_group(
        &mut self,
        settings: &CellSettings,
        targets: &mut Block<'_>,
        contexts: &mut ContextBlock<'_>,
        random: &mut Random,
        trained: &mut Trained,
    ) {
        if !self.filling.targets.is_empty() {
            let negatives = std::iter::from_fn(|| contexts.noise.draw(random));
            self.filling.negatives.extend(negatives.take(settings.shared_negatives));
            settings.kernel.prefetch(&self.filling, targets, &contexts.rows);
        }
        if !self.waiting.targets.is_empty() {
            trained.pairs += self.waiting.contexts.len() as u64;
            trained.loss += settings.kernel.train_group(
                &self.waiting,
                settings.group,
                targets,
                &mut contexts.rows,
                &mut self.scratch,
            );
        }
        self.waiting.clear();
        std::mem::swap(&mut self.filling, &mut self.waiting);
    }
}
