//! The shared negatives.

use super::super::functions::{logarithm, logistic};
use super::super::instructions::Instructions;
use super::descent::descend;
use super::{Group, GroupScratch, GroupSettings, RUNS, TILE};
use crate::parameters::{Block, LANES, Lanes};

/// t·v for all targets and negatives, summed dimension by dimension.
#[inline(always)]
pub(super) fn logits<I: Instructions>(
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

/// Computes the weighted gradient of log(1 + e^logit) for each target and negative, and returns the weighted loss.
#[inline(always)]
pub(super) fn slopes<I: Instructions>(
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

/// A pair whose context is also one of the negatives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Collision {
    run: usize,
    negative: usize,
    slope: f32,
}

/// Removes the share of the pairs whose context is the negative, and returns their loss.
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
    for (run, &n_pairs) in pairs.iter().enumerate().take(group.targets.len()) {
        for &context in &group.contexts[group.run(run)] {
            if filter[context as usize / 64 % 8] >> (context % 64) & 1 == 0 {
                continue;
            }
            for (negative, _) in group.negatives.iter().enumerate().filter(|(_, other)| **other == context) {
                scratch.collisions.push(Collision {
                    run,
                    negative,
                    slope: scratch.negative_slopes[negative][run] / n_pairs,
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

/// The negatives' part of the targets' gradients.
#[inline(always)]
pub(super) fn target_gradients<I: Instructions>(
    i: I,
    group: &Group,
    contexts: &Block<'_>,
    scratch: &mut GroupScratch,
) {
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

#[inline(always)]
pub(super) fn update<I: Instructions>(
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
            descend(i, rate, gradient, contexts.row_mut(row).values);
        }
    }
}
