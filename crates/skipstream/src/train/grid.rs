//! A batch on all threads, with the same result for any number of them.
//!
//! Words belong to blocks, and a pair to the cell of its target's block and its context's block. Cells that share
//! neither block share no row, so threads train them at the same time. The schedule fixes the order of the cells of each
//! block, and random numbers depend on the cell, not on the thread.

use std::sync::Mutex;

use super::cell::{self, CellScratch, CellSettings, ContextBlock, TargetBlock, Trained};
use super::initial::Initial;
use super::mini_batch::Batch;
use super::runs::BlockPairs;
use super::schedule::Schedule;
use crate::config::Settings;
use crate::kernel::{GroupSettings, Kernel, NEGATIVES_MULTIPLE};
use crate::noise::AliasTable;
use crate::parameters::{Layout, Parameters};

#[derive(Debug)]
pub(super) struct Grid {
    settings: CellSettings,
    pairs: Vec<BlockPairs>,
    noises: Vec<AliasTable>,
    /// One for each thread that has work.
    scratches: Vec<CellScratch>,
}

impl Grid {
    pub fn new(settings: &Settings, kernel: Kernel) -> Grid {
        let layout = Layout::new(settings);
        Grid {
            settings: CellSettings::new(settings, kernel),
            pairs: (0..layout.blocks).map(|_| BlockPairs::default()).collect(),
            noises: vec![AliasTable::default(); layout.blocks],
            scratches: scratches(settings, layout.blocks),
        }
    }

    pub fn set_threads(&mut self, settings: &Settings) {
        self.scratches = scratches(settings, self.settings.layout.blocks);
    }

    /// Trains a batch. This thread calls `meanwhile` first, while the others train, except as many as `meanwhile` needs:
    /// they start after it.
    pub fn train(
        &mut self,
        parameters: &mut Parameters,
        initial: Option<&Initial>,
        batch: &Batch,
        needed: usize,
        meanwhile: impl FnOnce(),
    ) -> Trained {
        let layout = self.settings.layout;
        let blocks = layout.blocks;
        let targets: Vec<_> = parameters
            .target
            .blocks(layout)
            .zip(&mut self.pairs)
            .map(|(rows, pairs)| Mutex::new(TargetBlock { rows, pairs }))
            .collect();
        let contexts: Vec<_> = parameters
            .context
            .blocks(layout)
            .zip(&mut self.noises)
            .map(|(rows, noise)| Mutex::new(ContextBlock { rows, noise }))
            .collect();
        let results = Mutex::new(vec![Trained::default(); blocks * blocks]);
        let schedule = Schedule::new(blocks);
        let settings = &self.settings.of_batch(batch);
        let work = |scratch: &mut CellScratch| {
            schedule.work(|place| {
                const FREE: &str = "the schedule gives a block to one cell at a time";
                let mut targets = targets[place.target].try_lock().expect(FREE);
                let context = place.context(blocks);
                let mut contexts = contexts[context].try_lock().expect(FREE);
                if place.round == 0 {
                    let frequencies = batch.frequencies.iter().skip(place.target).step_by(blocks).copied();
                    cell::prepare(
                        place.target,
                        batch,
                        frequencies,
                        initial,
                        settings,
                        &mut targets,
                        &mut contexts,
                    );
                }
                let mut random = cell::random(settings.seed, batch.number, place, blocks);
                let ContextBlock { rows, noise } = &mut *contexts;
                let trained =
                    cell::train(context, settings, &mut targets, rows, || noise.draw(&mut random), scratch);
                results.lock().expect("nothing panics with this lock")[place.number(blocks)] = trained;
            });
        };
        std::thread::scope(|scope| {
            let (own, others) = self.scratches.split_first_mut().expect("this thread has one");
            // If the system has no more threads, fewer do the same work.
            let start = |scratch| drop(std::thread::Builder::new().spawn_scoped(scope, || work(scratch)));
            let (later, now) = others.split_at_mut(needed.min(others.len()));
            now.iter_mut().for_each(start);
            meanwhile();
            later.iter_mut().for_each(start);
            work(own);
        });
        Trained::sum(&results.into_inner().expect("nothing panics with this lock"))
    }
}

impl CellSettings {
    pub fn new(settings: &Settings, kernel: Kernel) -> CellSettings {
        let shared_negatives = shared_negatives(settings.negatives());
        CellSettings {
            kernel,
            layout: Layout::new(settings),
            group: GroupSettings {
                dimensions: settings.dimensions(),
                learning_rate: settings.learning_rate(),
                negative_weight: settings.negatives() as f32 / shared_negatives as f32,
            },
            shared_negatives,
            noise_exponent: settings.noise_exponent(),
            seed: settings.seed(),
        }
    }

    /// The same with the rate of a batch.
    pub fn of_batch(&self, batch: &Batch) -> CellSettings {
        let group = GroupSettings { learning_rate: batch.learning_rate, ..self.group };
        CellSettings { group, ..*self }
    }
}

/// K, the number of negatives that a group shares, for k negatives per pair: 32 for 5, 56 for 10. The quality that sharing
/// costs depends more on K than on K/k.
pub(super) fn shared_negatives(negatives: usize) -> usize {
    (12 + 4 * negatives).next_multiple_of(NEGATIVES_MULTIPLE)
}

/// One for each thread that has work, if there are this many target blocks.
pub(super) fn scratches(settings: &Settings, blocks: usize) -> Vec<CellScratch> {
    (0..settings.threads().min(blocks)).map(|_| CellScratch::default()).collect()
}
