//! The pairs of a batch in runs, by the cells of the grid.

use super::mini_batch::Batch;
use crate::kernel::{Group, RUN_LENGTH, RUNS};
use crate::parameters::Layout;

/// The pairs whose targets are in one block.
#[derive(Debug, Default)]
pub(super) struct BlockPairs {
    /// For each context block the pairs of that cell.
    cells: Vec<Runs>,
    /// The batch's positions whose words are in the block, sorted by word.
    positions: Vec<u32>,
    starts: Vec<u32>,
}

impl BlockPairs {
    /// Finds the block's pairs in a batch. `rows` is the number of rows that words of the block have.
    pub fn collect(&mut self, batch: &Batch, block: usize, rows: usize, layout: Layout) {
        self.sort_positions(batch, block, rows, layout);
        self.cells.resize_with(layout.blocks, Runs::default);
        self.cells.iter_mut().for_each(Runs::clear);
        let mut last = None;
        for &position in &self.positions {
            let position = position as usize;
            let target = layout.row(batch.words[position]) as u32;
            if let Some(last) = last.replace(target).filter(|&last| last != target) {
                self.cells.iter_mut().for_each(|cell| cell.close(last));
            }
            let contexts = batch.reaches[position].contexts(&batch.words, position);
            // With `for_each`, the two halves of the window become two plain loops.
            contexts.for_each(|context| {
                self.cells[layout.block(context)].contexts.push(layout.row(context) as u32);
            });
        }
        if let Some(last) = last {
            self.cells.iter_mut().for_each(|cell| cell.close(last));
        }
    }

    /// A counting sort: stable, and linear in words and rows.
    fn sort_positions(&mut self, batch: &Batch, block: usize, rows: usize, layout: Layout) {
        self.starts.clear();
        self.starts.resize(rows + 1, 0);
        let in_block = || batch.words.iter().enumerate().filter(|(_, id)| layout.block(**id) == block);
        for (_, &id) in in_block() {
            self.starts[layout.row(id) + 1] += 1;
        }
        for row in 0..rows {
            self.starts[row + 1] += self.starts[row];
        }
        self.positions.clear();
        self.positions.resize(self.starts[rows] as usize, 0);
        for (position, &id) in in_block() {
            let start = &mut self.starts[layout.row(id)];
            self.positions[*start as usize] = position as u32;
            *start += 1;
        }
    }

    /// The pairs of a cell.
    pub fn runs(&self, context_block: usize) -> &Runs {
        &self.cells[context_block]
    }

    /// The contexts of all pairs of a cell, to give them other row numbers.
    pub fn contexts_mut(&mut self, context_block: usize) -> &mut [u32] {
        &mut self.cells[context_block].contexts
    }
}

/// The pairs of a cell: for each target its contexts, in runs of at most [`RUN_LENGTH`].
#[derive(Debug, Default)]
pub(super) struct Runs {
    targets: Vec<u32>,
    ends: Vec<u32>,
    contexts: Vec<u32>,
}

impl Runs {
    fn clear(&mut self) {
        self.targets.clear();
        self.ends.clear();
        self.contexts.clear();
    }

    /// Makes runs of the contexts after the last run.
    #[inline]
    fn close(&mut self, target: u32) {
        let n_contexts = self.contexts.len() as u32;
        let mut end = self.ends.last().copied().unwrap_or(0);
        while end < n_contexts {
            end = (end + RUN_LENGTH as u32).min(n_contexts);
            self.targets.push(target);
            self.ends.push(end);
        }
    }

    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// The number of groups.
    pub fn groups(&self) -> usize {
        self.len().div_ceil(RUNS)
    }

    /// The contexts of all pairs.
    pub fn contexts(&self) -> &[u32] {
        &self.contexts
    }

    /// Fills a group with every `n_groups`-th run, starting at `number`. The runs of a frequent word are next to each
    /// other; in one group, all of them would be trained with the same old row, which cost a third of the analogies.
    pub fn fill(&self, group: &mut Group, number: usize, n_groups: usize) {
        for run in (number..self.len()).step_by(n_groups) {
            let start = if run == 0 { 0 } else { self.ends[run - 1] };
            // There are few contexts: a loop is faster than a call that copies.
            for &context in &self.contexts[start as usize..self.ends[run] as usize] {
                group.contexts.push(context);
            }
            group.targets.push(self.targets[run]);
            group.ends.push(group.contexts.len() as u32);
        }
    }
}
