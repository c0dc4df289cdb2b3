//! Many pairs and one set of negatives, as small matrix products.
//!
//! **What is computed.** A group is up to [`RUNS`] runs; a run is a target and up to [`RUN_LENGTH`] of its contexts. All
//! runs share `negatives`, of which each stands for a share of the k negatives of each pair: a run of n pairs
//! meets each of the K shared ones with weight n·k/K, less k/K for each of its contexts that is the same word (a
//! negative that equals the positive does not count). With the loss of the pair kernel (see `scalar.rs`),
//! 1. all logits are taken with the rows as they are: t·c for the pairs, t·v for the negatives;
//! 2. the contexts of the pairs are updated one by one, in order;
//! 3. the negatives, then the targets, are updated once, by the gradient of the whole group.
//!
//! AdaGrad's sum of a row grows by the mean square of the gradient over the dimensions.
//!
//! **How.** For the logits of the negatives a lane is a target: the targets are transposed, the negatives'
//! values broadcast, and no sum across lanes is needed. For the gradients a lane is a dimension. Both are loops
//! of [`TILE`] independent accumulators. On a 400-dimension model a group is 100 000 multiply-adds for
//! 64 negatives and some 50 pairs.

use super::functions::{logarithm, logistic};
use super::instructions::Instructions;
use crate::parameters::{Block, LANES, Lanes};

/// Runs of a group: a target for each lane.
pub(crate) const RUNS: usize = LANES;
/// Contexts of a run, at the most.
pub(crate) const RUN_LENGTH: usize = 4;
/// Accumulators at a time.
const TILE: usize = 8;

/// What is trained together: rows of a target block and of a context block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    /// The target of each run.
    pub targets: Vec<u32>,
    /// Where each run's contexts end.
    pub ends: Vec<u32>,
    /// The contexts of all runs.
    pub contexts: Vec<u32>,
    /// The shared negatives; their number is a multiple of [`TILE`].
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

/// The numbers that a group is trained with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupSettings {
    pub dimensions: usize,
    pub learning_rate: f32,
    /// k/K: what one shared negative weighs for one pair.
    pub negative_weight: f32,
}

/// Memory that a group works in, used again and again.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupScratch {
    /// The targets' rows, and zeros for runs that are not there.
    targets: Vec<Lanes>,
    /// The same, transposed: for each dimension a lane for each target.
    transposed: Vec<Lanes>,
    target_gradients: Vec<Lanes>,
    negative_gradients: Vec<Lanes>,
    /// For each negative and target: the logit, then the gradient by it.
    negative_logits: Vec<Lanes>,
    negative_slopes: Vec<Lanes>,
    /// For each pair: the logit, then the gradient by it.
    pair_slopes: Vec<Lanes>,
    collisions: Vec<Collision>,
}

/// A pair whose context is also one of the negatives.
#[derive(Clone, Copy, Debug)]
struct Collision {
    run: usize,
    negative: usize,
    slope: f32,
}

/// Trains a group, and gives the sum of its losses.
#[inline(always)]
pub(super) fn train<I: Instructions>(
    i: I,
    group: &Group,
    settings: GroupSettings,
    targets: &mut Block<'_>,
    contexts: &mut Block<'_>,
    scratch: &mut GroupScratch,
) -> f64 {
    gather_targets(i, group, targets, scratch);
    negative_logits(i, group, settings.dimensions, contexts, scratch);
    let mut loss = negative_slopes(i, group, settings, scratch);
    loss += pair_slopes(i, group, contexts, scratch);
    target_gradients(i, group, contexts, scratch);
    update_contexts(i, group, settings, contexts, scratch);
    update_negatives(i, group, settings, contexts, scratch);
    update_targets(i, group, settings, targets, scratch);
    loss
}

/// Copies the targets' rows, and transposes them.
#[inline(always)]
fn gather_targets<I: Instructions>(i: I, group: &Group, targets: &Block<'_>, scratch: &mut GroupScratch) {
    let width = targets.lanes_per_row;
    scratch.targets.resize(RUNS * width, [0.0; LANES]);
    scratch.transposed.resize(LANES * width, [0.0; LANES]);
    let (squares, _) = scratch.transposed.as_chunks_mut::<LANES>();
    for (chunk, square) in squares.iter_mut().enumerate() {
        let mut rows = [i.splat(0.0); RUNS];
        for (values, &row) in rows.iter_mut().zip(&group.targets) {
            *values = i.load(&targets.rows[row as usize * width + chunk]);
        }
        for (run, &values) in rows.iter().enumerate() {
            i.store(values, &mut scratch.targets[run * width + chunk]);
        }
        for (to, column) in square.iter_mut().zip(i.transpose(rows)) {
            i.store(column, to);
        }
    }
}

/// t·v for all targets and negatives, summed dimension by dimension.
#[inline(always)]
fn negative_logits<I: Instructions>(
    i: I,
    group: &Group,
    dimensions: usize,
    contexts: &Block<'_>,
    scratch: &mut GroupScratch,
) {
    scratch.negative_logits.resize(group.negatives.len(), [0.0; LANES]);
    let (tiles, _) = group.negatives.as_chunks::<TILE>();
    let (logits, _) = scratch.negative_logits.as_chunks_mut::<TILE>();
    let (squares, _) = scratch.transposed.as_chunks::<LANES>();
    let whole = dimensions / LANES;
    for (tile, logits) in tiles.iter().zip(logits) {
        let rows: [&[Lanes]; TILE] = tile.map(|row| contexts.row(row as usize));
        let mut sums = [i.splat(0.0); TILE];
        for (chunk, square) in squares[..whole].iter().enumerate() {
            let values: [&Lanes; TILE] = rows.map(|row| &row[chunk]);
            for (dimension, column) in square.iter().enumerate() {
                let column = i.load(column);
                for (sum, values) in sums.iter_mut().zip(values) {
                    *sum = i.multiply_add(i.splat(values[dimension]), column, *sum);
                }
            }
        }
        if let Some(square) = squares.get(whole) {
            let values: [&Lanes; TILE] = rows.map(|row| &row[whole]);
            for (dimension, column) in square.iter().enumerate().take(dimensions % LANES) {
                let column = i.load(column);
                for (sum, values) in sums.iter_mut().zip(values) {
                    *sum = i.multiply_add(i.splat(values[dimension]), column, *sum);
                }
            }
        }
        for (logit, sum) in logits.iter_mut().zip(sums) {
            i.store(sum, logit);
        }
    }
}

/// The weighted gradient of log(1 + e^logit) for each target and negative; gives the weighted loss.
#[inline(always)]
fn negative_slopes<I: Instructions>(
    i: I,
    group: &Group,
    settings: GroupSettings,
    scratch: &mut GroupScratch,
) -> f64 {
    let mut pairs = [0.0; RUNS];
    for (run, pairs) in pairs.iter_mut().enumerate().take(group.targets.len()) {
        *pairs = group.run(run).len() as f32;
    }
    let weights = i.multiply(i.load(&pairs), i.splat(settings.negative_weight));
    scratch.negative_slopes.resize(group.negatives.len(), [0.0; LANES]);
    let mut loss = i.splat(0.0);
    // A product of more than 126 factors could overflow.
    let logits = scratch.negative_logits.chunks(64);
    for (logits, slopes) in logits.zip(scratch.negative_slopes.chunks_mut(64)) {
        let mut product = i.splat(1.0);
        for (logit, slope) in logits.iter().zip(slopes) {
            let logistic = logistic(i, i.load(logit));
            i.store(i.multiply(logistic.sigmoid, weights), slope);
            loss = i.add(loss, logistic.hinge);
            product = i.multiply(product, logistic.factor);
        }
        loss = i.add(loss, logarithm(i, product));
    }
    let loss = f64::from(i.sum(i.multiply(loss, weights)));
    loss - discount_collisions(i, group, settings, &pairs, scratch)
}

/// Takes back what pairs gave to negatives that are their own context; gives the loss that was too much.
#[inline(always)]
fn discount_collisions<I: Instructions>(
    i: I,
    group: &Group,
    settings: GroupSettings,
    pairs: &[f32; RUNS],
    scratch: &mut GroupScratch,
) -> f64 {
    let mut filter = [0u64; 8];
    for &negative in &group.negatives {
        filter[negative as usize / 64 % 8] |= 1 << (negative % 64);
    }
    scratch.collisions.clear();
    for run in 0..group.targets.len() {
        for &context in &group.contexts[group.run(run)] {
            if filter[context as usize / 64 % 8] >> (context % 64) & 1 == 0 {
                continue;
            }
            for (negative, _) in group.negatives.iter().enumerate().filter(|(_, other)| **other == context) {
                scratch.collisions.push(Collision {
                    run,
                    negative,
                    slope: scratch.negative_slopes[negative][run] / pairs[run],
                });
            }
        }
    }
    let mut loss = 0.0;
    for collision in &scratch.collisions {
        scratch.negative_slopes[collision.negative][collision.run] -= collision.slope;
        let logistic = logistic(i, i.load(&scratch.negative_logits[collision.negative]));
        let mut losses = [0.0; LANES];
        i.store(i.add(logistic.hinge, logarithm(i, logistic.factor)), &mut losses);
        loss += f64::from(losses[collision.run] * settings.negative_weight);
    }
    loss
}

/// The gradient of log(1 + e^−logit) for each pair; gives the loss.
#[inline(always)]
fn pair_slopes<I: Instructions>(
    i: I,
    group: &Group,
    contexts: &Block<'_>,
    scratch: &mut GroupScratch,
) -> f64 {
    let width = contexts.lanes_per_row;
    let n_pairs = group.contexts.len();
    scratch.pair_slopes.resize(n_pairs.div_ceil(LANES), [0.0; LANES]);
    let logits = scratch.pair_slopes.as_flattened_mut();
    for run in 0..group.targets.len() {
        let target = &scratch.targets[run * width..][..width];
        let pairs = group.run(run);
        let rows = &group.contexts[pairs.clone()];
        // Where a run is shorter, its last context stands in: its logit is not used.
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
    // What stands behind the last pair adds nothing to the loss, and its slope is not used.
    logits[n_pairs..].fill(1e9);
    let mut loss = i.splat(0.0);
    for slopes in &mut scratch.pair_slopes {
        let logistic = logistic(i, i.subtract(i.splat(0.0), i.load(slopes)));
        i.store(i.subtract(i.splat(0.0), logistic.sigmoid), slopes);
        loss = i.add(loss, i.add(logistic.hinge, logarithm(i, logistic.factor)));
    }
    f64::from(i.sum(loss))
}

/// The negatives' part of the targets' gradients.
#[inline(always)]
fn target_gradients<I: Instructions>(i: I, group: &Group, contexts: &Block<'_>, scratch: &mut GroupScratch) {
    let width = contexts.lanes_per_row;
    scratch.target_gradients.resize(RUNS * width, [0.0; LANES]);
    for tile in 0..RUNS / TILE {
        for chunk in 0..width {
            let mut sums = [i.splat(0.0); TILE];
            for (&row, slopes) in group.negatives.iter().zip(&scratch.negative_slopes) {
                let (slopes, _) = slopes.as_chunks::<TILE>();
                let values = i.load(&contexts.rows[row as usize * width + chunk]);
                for (sum, &slope) in sums.iter_mut().zip(&slopes[tile]) {
                    *sum = i.multiply_add(i.splat(slope), values, *sum);
                }
            }
            for (run, sum) in sums.into_iter().enumerate() {
                i.store(sum, &mut scratch.target_gradients[(tile * TILE + run) * width + chunk]);
            }
        }
    }
}

/// Updates the contexts of the pairs, and adds their part of the targets' gradients.
#[inline(always)]
fn update_contexts<I: Instructions>(
    i: I,
    group: &Group,
    settings: GroupSettings,
    contexts: &mut Block<'_>,
    scratch: &mut GroupScratch,
) {
    let width = contexts.lanes_per_row;
    let slopes = scratch.pair_slopes.as_flattened();
    for run in 0..group.targets.len() {
        let target = &scratch.targets[run * width..][..width];
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
    /// What is added to the row, in targets.
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
    let slopes = steps.map(|step| i.splat(step.slope));
    let factors = steps.map(|step| i.splat(step.factor));
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

/// Updates the negatives.
#[inline(always)]
fn update_negatives<I: Instructions>(
    i: I,
    group: &Group,
    settings: GroupSettings,
    contexts: &mut Block<'_>,
    scratch: &mut GroupScratch,
) {
    let width = contexts.lanes_per_row;
    let (tiles, _) = group.negatives.as_chunks::<TILE>();
    let (slopes, _) = scratch.negative_slopes.as_chunks::<TILE>();
    let gradients = &mut scratch.negative_gradients;
    gradients.resize(TILE * width, [0.0; LANES]);
    for (tile, slopes) in tiles.iter().zip(slopes) {
        let mut squares = [i.splat(0.0); TILE];
        for chunk in 0..width {
            let mut sums = [i.splat(0.0); TILE];
            for run in 0..RUNS {
                let target = i.load(&scratch.targets[run * width + chunk]);
                for (sum, slopes) in sums.iter_mut().zip(slopes) {
                    *sum = i.multiply_add(i.splat(slopes[run]), target, *sum);
                }
            }
            for (negative, sum) in sums.into_iter().enumerate() {
                i.store(sum, &mut gradients[negative * width + chunk]);
                squares[negative] = i.multiply_add(sum, sum, squares[negative]);
            }
        }
        for ((&row, gradient), squares) in tile.iter().zip(gradients.chunks_exact(width)).zip(squares) {
            let row = row as usize;
            let square = i.sum(squares) / settings.dimensions as f32;
            let rate = settings.rate(&mut contexts.accumulators[row], square);
            descend(i, rate, gradient, contexts.row_mut(row));
        }
    }
}

/// Updates the targets, run by run: one that has several runs takes several steps.
#[inline(always)]
fn update_targets<I: Instructions>(
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
        descend(i, rate, gradient, targets.row_mut(row));
    }
}

impl GroupSettings {
    /// AdaGrad's rate after a gradient of this mean square; 0 while a row has seen no gradient.
    #[inline(always)]
    fn rate(self, accumulator: &mut f32, mean_square: f32) -> f32 {
        *accumulator += mean_square;
        if *accumulator > 0.0 { self.learning_rate / accumulator.sqrt() } else { 0.0 }
    }
}

#[inline(always)]
fn mean_square<I: Instructions>(i: I, row: &[Lanes], dimensions: usize) -> f32 {
    let mut sum = i.splat(0.0);
    for values in row {
        let values = i.load(values);
        sum = i.multiply_add(values, values, sum);
    }
    i.sum(sum) / dimensions as f32
}

/// row −= rate · gradient.
#[inline(always)]
fn descend<I: Instructions>(i: I, rate: f32, gradient: &[Lanes], row: &mut [Lanes]) {
    let rate = i.splat(-rate);
    for (gradient, values) in gradient.iter().zip(row) {
        let updated = i.multiply_add(rate, i.load(gradient), i.load(values));
        i.store(updated, values);
    }
}

/// Asks for all rows of a group ahead of time.
#[inline(always)]
pub(super) fn prefetch<I: Instructions>(i: I, group: &Group, targets: &Block<'_>, contexts: &Block<'_>) {
    for &row in &group.targets {
        for lanes in targets.row(row as usize) {
            i.prefetch(lanes);
        }
    }
    for &row in group.negatives.iter().chain(&group.contexts) {
        for lanes in contexts.row(row as usize) {
            i.prefetch(lanes);
        }
    }
}
