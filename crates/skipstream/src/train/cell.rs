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
    runs: Runs,
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
    worker.runs.collect(batch, targets.centers, context_block);
    let Worker { runs, group, next, scratch } = worker;
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
            settings.kernel.prefetch(next, &targets.rows, &contexts.rows);
        }
        if number > 0 {
            trained.pairs += group.contexts.len() as u64;
            trained.loss +=
                settings.kernel.train_group(group, settings.group, &mut targets.rows, &mut contexts.rows, scratch);
        }
        std::mem::swap(group, next);
    }
    trained
}

/// The pairs of a cell: for each target its contexts, in runs of at most [`RUN_LENGTH`].
#[derive(Debug, Default)]
struct Runs {
    targets: Vec<u32>,
    ends: Vec<u32>,
    contexts: Vec<u32>,
}

impl Runs {
    fn collect(&mut self, batch: &Batch, centers: &Centers, context_block: usize) {
        self.targets.clear();
        self.ends.clear();
        self.contexts.clear();
        let mut current = None;
        for &position in &centers.positions {
            let position = position as usize;
            let target = Layout::row(batch.words[position]) as u32;
            if let Some(current) = current.filter(|&current| current != target) {
                self.close(current);
            }
            current = Some(target);
            let reach = batch.reaches[position];
            let before = &batch.words[position - usize::from(reach.left)..position];
            let behind = &batch.words[position + 1..][..usize::from(reach.right)];
            for &context in before.iter().chain(behind) {
                if Layout::block(context) == context_block {
                    self.contexts.push(Layout::row(context) as u32);
                    if self.open() == RUN_LENGTH {
                        self.close(target);
                    }
                }
            }
        }
        if let Some(current) = current {
            self.close(current);
        }
    }

    /// Contexts behind the last run.
    fn open(&self) -> usize {
        self.contexts.len() - self.ends.last().map_or(0, |&end| end as usize)
    }

    /// Ends a run, if it has a context.
    fn close(&mut self, target: u32) {
        if self.open() > 0 {
            self.targets.push(target);
            self.ends.push(self.contexts.len() as u32);
        }
    }

    fn len(&self) -> usize {
        self.targets.len()
    }

    /// Every `n_groups`-th run, from `number` on: the runs of a frequent word stand together, and would all be
    /// trained with the same old row if they were in the same group.
    fn fill(&self, group: &mut Group, number: usize, n_groups: usize) {
        for run in (number..self.len()).step_by(n_groups) {
            let start = if run == 0 { 0 } else { self.ends[run - 1] };
            group.contexts.extend_from_slice(&self.contexts[start as usize..self.ends[run] as usize]);
            group.targets.push(self.targets[run]);
            group.ends.push(group.contexts.len() as u32);
        }
    }
}
