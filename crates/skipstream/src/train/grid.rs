//! A batch on all threads, with the same result for any number of them.
//!
//! Words belong to blocks, and a pair to the cell of its target's block and its context's block. Cells that share
//! neither block share no row, so threads train them at the same time. The schedule fixes the order of the cells of each
//! block, and random numbers depend on the cell, not on the thread.

use std::sync::Mutex;

use super::cell::{self, CellSettings, ContextBlock, TargetBlock, Trained, Worker};
use super::initial::Initial;
use super::mini_batch::Batch;
use super::runs::BlockPairs;
use super::schedule::Schedule;
use crate::config::Settings;
use crate::kernel::{GroupSettings, Kernel, NEGATIVES_MULTIPLE};
use crate::noise::AliasTable;
use crate::parameters::{Layout, Parameters};
use crate::random::{Purpose, Random};

#[derive(Debug)]
pub(super) struct Grid {
    settings: CellSettings,
    pairs: Vec<BlockPairs>,
    noises: Vec<AliasTable>,
    workers: Vec<Worker>,
}

impl Grid {
    pub fn new(settings: &Settings, kernel: Kernel) -> Grid {
        let layout = Layout::new(settings);
        let shared_negatives = shared_negatives(settings.negatives());
        Grid {
            settings: CellSettings {
                kernel,
                layout,
                group: GroupSettings {
                    dimensions: settings.dimensions(),
                    learning_rate: settings.learning_rate(),
                    negative_weight: settings.negatives() as f32 / shared_negatives as f32,
                },
                shared_negatives,
                noise_exponent: settings.noise_exponent(),
                seed: settings.seed(),
            },
            pairs: (0..layout.blocks).map(|_| BlockPairs::default()).collect(),
            noises: vec![AliasTable::default(); layout.blocks],
            workers: workers(settings, layout),
        }
    }

    pub fn set_threads(&mut self, settings: &Settings) {
        self.workers = workers(settings, self.settings.layout);
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
        let group = GroupSettings { learning_rate: batch.learning_rate, ..self.settings.group };
        let settings = &CellSettings { group, ..self.settings };
        let work = |worker: &mut Worker| {
            schedule.work(|place| {
                const FREE: &str = "the schedule gives a block to one cell at a time";
                let mut targets = targets[place.target].try_lock().expect(FREE);
                let context = place.context(blocks);
                let mut contexts = contexts[context].try_lock().expect(FREE);
                if place.round == 0 {
                    cell::prepare(place.target, batch, initial, settings, &mut targets, &mut contexts);
                }
                let number = place.target * blocks + place.round;
                let mut random =
                    Random::for_purpose(settings.seed, Purpose::Negatives, [batch.number, number as u64]);
                let trained =
                    cell::train(context, settings, &mut targets, &mut contexts, &mut random, worker);
                results.lock().expect("nothing panics with this lock")[number] = trained;
            });
        };
        std::thread::scope(|scope| {
            let (own, others) = self.workers.split_first_mut().expect("there is a worker for each thread");
            // If the system has no more threads, fewer do the same work.
            let start = |worker| drop(std::thread::Builder::new().spawn_scoped(scope, || work(worker)));
            let (later, now) = others.split_at_mut(needed.min(others.len()));
            now.iter_mut().for_each(start);
            meanwhile();
            later.iter_mut().for_each(start);
            work(own);
        });
        // Always in the same order, because sums of floats depend on it.
        let results = results.into_inner().expect("nothing panics with this lock");
        results.iter().fold(Trained::default(), |sum, cell| Trained {
            pairs: sum.pairs + cell.pairs,
            loss: sum.loss + cell.loss,
        })
    }
}

/// K, the number of negatives that a group shares, for k negatives per pair: 32 for 5, 56 for 10. The quality that sharing
/// costs depends more on K than on K/k.
fn shared_negatives(negatives: usize) -> usize {
    (12 + 4 * negatives).next_multiple_of(NEGATIVES_MULTIPLE)
}

/// One for each thread that has work.
fn workers(settings: &Settings, layout: Layout) -> Vec<Worker> {
    (0..settings.threads().min(layout.blocks)).map(|_| Worker::default()).collect()
}
