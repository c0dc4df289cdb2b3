//! Many pairs and one set of negatives, as small matrix products.
//!
//! **What is computed.** A group is up to [`RUNS`] runs; a run is a target and up to [`RUN_LENGTH`] of its contexts. All
//! runs share K negatives, each of which is a share k/K of the k negatives of each pair: in a run of n pairs, a negative has
//! the weight n·k/K, less k/K for each context that is the same word (a negative that equals the positive does not count).
//! With the loss of the pair kernel (see `tests/scalar.rs`),
//! 1. all logits are computed from the current rows: t·c for the pairs, t·v for the negatives;
//! 2. the contexts of the pairs are updated one by one, in order;
//! 3. the negatives, then the targets, are updated once, by the gradient of the whole group.
//!
//! AdaGrad's sum of a row grows by the mean square of the gradient over the dimensions.
//!
//! **How.** For the logits of the negatives a lane is a target: the targets are transposed, the negatives'
//! values broadcast, and no sum across lanes is needed. For the gradients a lane is a dimension. All three are products of
//! small matrices (`product.rs`), computed in tiles that fit in the registers of the instruction set. At 100 dimensions
//! and 32 negatives a group of some 50 pairs takes about 10,000 multiply-adds of sixteen lanes.

mod descent;
mod negatives;
mod pairs;
mod product;

use super::instructions::Instructions;
use super::pair::prefetch_row;
use crate::parameters::{Block, LANES, Lanes};

/// Runs of a group: a target for each lane.
pub(crate) const RUNS: usize = LANES;
/// Maximum number of contexts of a run.
pub(crate) const RUN_LENGTH: usize = 4;
/// The number of shared negatives is a multiple of it, so that every tile is full.
pub(crate) const NEGATIVES_MULTIPLE: usize = 8;

/// What is trained together: rows of a target block and of a context block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    /// The target of each run.
    pub targets: Vec<u32>,
    /// Where each run's contexts end.
    pub ends: Vec<u32>,
    /// The contexts of all runs.
    pub contexts: Vec<u32>,
    /// The shared negatives; their number is a multiple of [`NEGATIVES_MULTIPLE`].
    pub negatives: Vec<u32>,
}

impl Group {
    pub fn clear(&mut self) {
        self.targets.clear();
        self.ends.clear();
        self.contexts.clear();
        self.negatives.clear();
    }

    /// The contexts of a run.
    pub fn run(&self, run: usize) -> std::ops::Range<usize> {
        let start = if run == 0 { 0 } else { self.ends[run - 1] };
        start as usize..self.ends[run] as usize
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupSettings {
    pub dimensions: usize,
    pub learning_rate: f32,
    /// k/K: what one shared negative weighs for one pair.
    pub negative_weight: f32,
}

/// The buffers of a group, reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupScratch {
    /// The targets' rows, transposed: for each dimension a lane for each target, zero for missing runs.
    transposed: Vec<Lanes>,
    target_gradients: Vec<Lanes>,
    negative_gradients: Vec<Lanes>,
    /// For each negative and target: the logit, then the gradient by it.
    negative_logits: Vec<Lanes>,
    negative_slopes: Vec<Lanes>,
    /// For each pair: the logit, then the gradient by it.
    pair_slopes: Vec<Lanes>,
    collisions: Vec<negatives::Collision>,
    /// For each negative that has a collision: the losses of the targets with it.
    negative_losses: Vec<Option<Lanes>>,
}

/// Trains a group, and returns the sum of its losses.
#[inline(always)]
pub(super) fn train<I: Instructions>(
    i: I,
    group: &Group,
    settings: GroupSettings,
    targets: &mut Block<'_>,
    contexts: &mut Block<'_>,
    scratch: &mut GroupScratch,
) -> f64 {
    // The length of an array cannot be a constant of a generic type.
    match I::TILE {
        4 => train_in_tiles::<I, 4>(i, group, settings, targets, contexts, scratch),
        8 => train_in_tiles::<I, 8>(i, group, settings, targets, contexts, scratch),
        _ => unreachable!("tiles have 4 or 8 rows"),
    }
}

#[inline(always)]
fn train_in_tiles<I: Instructions, const TILE: usize>(
    i: I,
    group: &Group,
    settings: GroupSettings,
    targets: &mut Block<'_>,
    contexts: &mut Block<'_>,
    scratch: &mut GroupScratch,
) -> f64 {
    transpose_targets(i, group, targets, scratch);
    negatives::logits::<I, TILE>(i, group, settings.dimensions, contexts, scratch);
    let mut loss = negatives::slopes(i, group, settings, scratch);
    negatives::target_gradients::<I, TILE>(i, group, contexts, scratch);
    loss += pairs::slopes(i, group, targets, contexts, scratch);
    pairs::update(i, group, settings, targets, contexts, scratch);
    negatives::update::<I, TILE>(i, group, settings, targets, contexts, scratch);
    descent::update_targets(i, group, settings, targets, scratch);
    loss
}

#[inline(always)]
fn transpose_targets<I: Instructions>(i: I, group: &Group, targets: &Block<'_>, scratch: &mut GroupScratch) {
    let width = targets.lanes_per_row;
    scratch.transposed.resize(LANES * width, [0.0; LANES]);
    let (squares, _) = scratch.transposed.as_chunks_mut::<LANES>();
    for (chunk, square) in squares.iter_mut().enumerate() {
        let mut rows = [i.splat(0.0); RUNS];
        for (values, &row) in rows.iter_mut().zip(&group.targets) {
            *values = i.load(&targets.rows[row as usize * width + chunk]);
        }
        for (to, column) in square.iter_mut().zip(i.transpose(rows)) {
            i.store(column, to);
        }
    }
}

/// Prefetches the contexts and negatives of a group. Targets come in the order of their rows and are cached already;
/// prefetching them too made training 10 % slower.
#[inline(always)]
pub(super) fn prefetch<I: Instructions>(i: I, group: &Group, contexts: &Block<'_>) {
    for &row in group.negatives.iter().chain(&group.contexts) {
        prefetch_row(i, contexts.row(row as usize));
    }
}
