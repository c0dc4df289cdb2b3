//! The contexts of the pairs.

use super::super::functions::{logarithm, logistic};
use super::super::instructions::Instructions;
use super::descent::mean_square;
use super::{Group, GroupScratch, GroupSettings, RUN_LENGTH};
use crate::parameters::{Block, LANES, Lanes};

/// Computes the gradient of log(1 + e^−logit) for each pair, and returns the loss.
#[inline(always)]
pub(super) fn slopes<I: Instructions>(
    i: I,
    group: &Group,
    targets: &Block<'_>,
    contexts: &Block<'_>,
    scratch: &mut GroupScratch,
) -> f64 {
    let width = contexts.lanes_per_row;
    let n_pairs = group.contexts.len();
    scratch.pair_slopes.resize(n_pairs.div_ceil(LANES), [0.0; LANES]);
    let logits = scratch.pair_slopes.as_flattened_mut();
    for (run, &target) in group.targets.iter().enumerate() {
        let target = targets.row(target as usize);
        let pairs = group.run(run);
        let rows = &group.contexts[pairs.clone()];
        // The last context fills up a run that is shorter; its further logits are not used.
        let last = rows[rows.len() - 1];
        let rows: [usize; RUN_LENGTH] =
            std::array::from_fn(|pair| *rows.get(pair).unwrap_or(&last) as usize * width);
        let mut sums = [i.splat(0.0); RUN_LENGTH];
        for (chunk, target) in target.iter().enumerate() {
            let target = i.load(target);
            for (sum, row) in sums.iter_mut().zip(rows) {
                *sum = i.multiply_add(target, i.load(&contexts.rows[row + chunk]), *sum);
            }
        }
        for (logit, sum) in logits[pairs].iter_mut().zip(i.four_sums(sums)) {
            *logit = sum;
        }
    }
    // Lanes after those of the pairs add nothing to the loss, and their slopes are not used.
    logits[n_pairs..].fill(1e9);
    let mut loss = i.splat(0.0);
    for slopes in &mut scratch.pair_slopes {
        let logistic = logistic(i, i.subtract(i.splat(0.0), i.load(slopes)));
        i.store(i.subtract(i.splat(0.0), logistic.sigmoid), slopes);
        loss = i.add(loss, i.add(logistic.hinge, logarithm(i, logistic.factor)));
    }
    f64::from(i.sum(loss))
}

/// Updates the contexts of the pairs, and adds their part of the targets' gradients.
#[inline(always)]
pub(super) fn update<I: Instructions>(
    i: I,
    group: &Group,
    settings: GroupSettings,
    targets: &Block<'_>,
    contexts: &mut Block<'_>,
    scratch: &mut GroupScratch,
) {
    let width = contexts.lanes_per_row;
    let slopes = scratch.pair_slopes.as_flattened();
    for (run, &target) in group.targets.iter().enumerate() {
        let target = targets.row(target as usize);
        let mean_square = mean_square(i, target, settings.dimensions);
        let pairs = group.run(run);
        let rows = &group.contexts[pairs.clone()];
        let slopes = &slopes[pairs];
        // The gradient of a context is slope · target, so its mean square needs no second pass.
        let mut steps = [Step::default(); RUN_LENGTH];
        for ((step, &row), &slope) in steps.iter_mut().zip(rows).zip(slopes) {
            let rate = settings.rate(&mut contexts.accumulators[row as usize], slope * slope * mean_square);
            *step = Step { row: row as usize * width, slope, factor: -rate * slope };
        }
        let gradient = &mut scratch.target_gradients[run * width..][..width];
        match steps {
            [a, _, _, _] if rows.len() == 1 => update_run(i, [a], target, gradient, contexts.rows),
            [a, b, _, _] if rows.len() == 2 => update_run(i, [a, b], target, gradient, contexts.rows),
            [a, b, c, _] if rows.len() == 3 => update_run(i, [a, b, c], target, gradient, contexts.rows),
            all => update_run(i, all, target, gradient, contexts.rows),
        }
    }
}

/// The update of one context.
#[derive(Clone, Copy, Default)]
struct Step {
    /// Where its row begins.
    row: usize,
    slope: f32,
    /// The multiple of the target that is added to the row.
    factor: f32,
}

/// Updates the contexts of a run, and adds their part of the target's gradient.
#[inline(always)]
fn update_run<I: Instructions, const N: usize>(
    i: I,
    steps: [Step; N],
    target: &[Lanes],
    gradient: &mut [Lanes],
    contexts: &mut [Lanes],
) {
    // Not by `map`: an intrinsic in a closure that is not inlined becomes a call.
    let mut slopes = [i.splat(0.0); N];
    let mut factors = [i.splat(0.0); N];
    for (pair, step) in steps.iter().enumerate() {
        slopes[pair] = i.splat(step.slope);
        factors[pair] = i.splat(step.factor);
    }
    for (chunk, (gradient, target)) in gradient.iter_mut().zip(target).enumerate() {
        let target = i.load(target);
        let mut sum = i.load(gradient);
        for pair in 0..N {
            let context = &mut contexts[steps[pair].row + chunk];
            let values = i.load(context);
            sum = i.multiply_add(slopes[pair], values, sum);
            i.store(i.multiply_add(factors[pair], target, values), context);
        }
        i.store(sum, gradient);
    }
}
