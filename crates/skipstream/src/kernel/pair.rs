//! One pair and its negatives, exactly: `tests/scalar.rs` sixteen floats at a time.

use super::functions::{logarithm, logistic};
use super::instructions::Instructions;
use super::{Optimizer, State};
use crate::parameters::{LANES, Lanes};

/// Trains a target with one context (label 1) or one negative (label 0): updates the context's row, adds to the
/// target's gradient, and returns the loss.
#[inline(always)]
pub(super) fn train_context<I: Instructions>(
    i: I,
    optimizer: Optimizer,
    positive: bool,
    target: &[Lanes],
    context: &mut [Lanes],
    state: State<'_>,
    target_gradient: &mut [Lanes],
) -> f64 {
    let mut sum = i.splat(0.0);
    for (t, c) in target.iter().zip(&*context) {
        sum = i.multiply_add(i.load(t), i.load(c), sum);
    }
    let logit = i.sum(sum);
    let logistic = logistic(i, i.splat(if positive { -logit } else { logit }));
    let sigmoid = first(i, logistic.sigmoid);
    let slope = if positive { -sigmoid } else { sigmoid };
    let factor = i.splat(slope);
    for (g, c) in target_gradient.iter_mut().zip(&*context) {
        let updated = i.multiply_add(factor, i.load(c), i.load(g));
        i.store(updated, g);
    }
    descend(i, optimizer, slope, target, context, state);
    f64::from(first(i, i.add(logistic.hinge, logarithm(i, logistic.factor))))
}

/// row −= rate · slope · direction, with the rate of the optimizer.
#[inline(always)]
pub(super) fn descend<I: Instructions>(
    i: I,
    optimizer: Optimizer,
    slope: f32,
    direction: &[Lanes],
    row: &mut [Lanes],
    state: State<'_>,
) {
    let slope = i.splat(slope);
    match state {
        State::Dimension(sums) => {
            let rate = i.splat(-optimizer.learning_rate);
            for ((direction, values), sums) in direction.iter().zip(row).zip(sums) {
                let gradient = i.multiply(slope, i.load(direction));
                let sum = i.multiply_add(gradient, gradient, i.load(sums));
                i.store(sum, sums);
                // Before the first gradient, 0 is divided by something that is not 0.
                let root = i.square_root(i.maximum(sum, i.splat(f32::MIN_POSITIVE)));
                let step = i.divide(i.multiply(rate, gradient), root);
                i.store(i.add(i.load(values), step), values);
            }
        }
        State::Row(sum) => {
            let mut squares = i.splat(0.0);
            for direction in direction {
                let gradient = i.multiply(slope, i.load(direction));
                squares = i.multiply_add(gradient, gradient, squares);
            }
            *sum += i.sum(squares) / optimizer.dimensions as f32;
            let root = sum.max(f32::MIN_POSITIVE).sqrt();
            step(i, -optimizer.learning_rate / root, slope, direction, row);
        }
        State::None => step(i, -optimizer.learning_rate, slope, direction, row),
    }
}

#[inline(always)]
fn step<I: Instructions>(i: I, rate: f32, slope: I::Vector, direction: &[Lanes], row: &mut [Lanes]) {
    let factor = i.multiply(i.splat(rate), slope);
    for (direction, values) in direction.iter().zip(row) {
        let updated = i.multiply_add(factor, i.load(direction), i.load(values));
        i.store(updated, values);
    }
}

#[inline(always)]
fn first<I: Instructions>(i: I, vector: I::Vector) -> f32 {
    let mut lanes = [0.0; LANES];
    i.store(vector, &mut lanes);
    lanes[0]
}

#[inline(always)]
pub(super) fn prefetch_row<I: Instructions>(i: I, row: &[Lanes]) {
    for lanes in row {
        i.prefetch(lanes);
    }
}
