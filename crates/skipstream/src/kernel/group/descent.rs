//! AdaGrad by rows.

use super::super::instructions::Instructions;
use super::{Group, GroupScratch, GroupSettings};
use crate::parameters::{Block, Lanes};

/// Updates the targets, run by run: one that has several runs takes several steps.
#[inline(always)]
pub(super) fn update_targets<I: Instructions>(
    i: I,
    group: &Group,
    settings: GroupSettings,
    targets: &mut Block<'_>,
    scratch: &mut GroupScratch,
) {
    let gradients = scratch.target_gradients.chunks_exact(targets.lanes_per_row);
    for (&row, gradient) in group.targets.iter().zip(gradients) {
        let row = row as usize;
        let square = mean_square(i, gradient, settings.dimensions);
        let rate = settings.rate(&mut targets.accumulators[row], square);
        descend(i, rate, gradient, targets.row_mut(row).values);
    }
}

impl GroupSettings {
    /// AdaGrad's rate after a gradient of this mean square; 0 while a row has seen no gradient.
    #[inline(always)]
    pub(super) fn rate(self, accumulator: &mut f32, mean_square: f32) -> f32 {
        *accumulator += mean_square;
        if *accumulator > 0.0 { self.learning_rate / accumulator.sqrt() } else { 0.0 }
    }
}

#[inline(always)]
pub(super) fn mean_square<I: Instructions>(i: I, row: &[Lanes], dimensions: usize) -> f32 {
    let mut sum = i.splat(0.0);
    for values in row {
        let values = i.load(values);
        sum = i.multiply_add(values, values, sum);
    }
    i.sum(sum) / dimensions as f32
}

/// row −= rate · gradient.
#[inline(always)]
pub(super) fn descend<I: Instructions>(i: I, rate: f32, gradient: &[Lanes], row: &mut [Lanes]) {
    let rate = i.splat(-rate);
    for (gradient, values) in gradient.iter().zip(row) {
        let updated = i.multiply_add(rate, i.load(gradient), i.load(values));
        i.store(updated, values);
    }
}
