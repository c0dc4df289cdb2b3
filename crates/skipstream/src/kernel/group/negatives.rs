//! The shared negatives.

use super::super::functions::{logarithm, logistic};
use super::super::instructions::Instructions;
use super::descent::descend;
use super::product::tile;
use super::{Group, GroupScratch, GroupSettings, RUNS};
use crate::parameters::{Block, LANES};

/// t·v for all targets and negatives, summed dimension by dimension.
#[inline(always)]
pub(super) fn logits<I: Instructions, const TILE: usize>(
    i: I,
    group: &Group,
    dimensions: usize,
    contexts: &Block<'_>,
    scratch: &mut GroupScratch,
) {
    scratch.negative_logits.resize(group.negatives.len(), [0.0; LANES]);
    let columns = &scratch.transposed[..dimensions];
    let (logits, _) = scratch.negative_logits.as_chunks_mut::<TILE>();
    for (negatives, logits) in group.negatives.as_chunks::<TILE>().0.iter().zip(logits) {
        let rows = negatives.map(|row| &contexts.row(row as usize).as_flattened()[..dimensions]);
        let sums = tile::<I, TILE>(i, dimensions, |negative, k| rows[negative][k], |k| &columns[k]);
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
    // In a text of few words, a negative has many collisions.
    scratch.negative_losses.clear();
    if !scratch.collisions.is_empty() {
        scratch.negative_losses.resize(group.negatives.len(), None);
    }
    let mut loss = 0.0;
    for collision in &scratch.collisions {
        scratch.negative_slopes[collision.negative][collision.run] -= collision.slope;
        let losses = match scratch.negative_losses[collision.negative] {
            Some(losses) => losses,
            None => {
                let logistic = logistic(i, i.load(&scratch.negative_logits[collision.negative]));
                let mut losses = [0.0; LANES];
                i.store(i.add(logistic.hinge, logarithm(i, logistic.factor)), &mut losses);
                *scratch.negative_losses[collision.negative].insert(losses)
            }
        };
        loss += f64::from(losses[collision.run] * settings.negative_weight);
    }
    loss
}

/// The negatives' part of the targets' gradients.
///
/// Lanes by lanes, so that those of all negatives stay in the nearest cache while they are added to every target.
#[inline(always)]
pub(super) fn target_gradients<I: Instructions, const TILE: usize>(
    i: I,
    group: &Group,
    contexts: &Block<'_>,
    scratch: &mut GroupScratch,
) {
    let width = contexts.lanes_per_row;
    scratch.target_gradients.resize(RUNS * width, [0.0; LANES]);
    let negatives = &group.negatives[..];
    let slopes = &scratch.negative_slopes[..negatives.len()];
    for chunk in 0..width {
        for first in (0..RUNS).step_by(TILE) {
            let sums = tile::<I, TILE>(
                i,
                negatives.len(),
                |run, k| slopes[k][first + run],
                |k| &contexts.rows[negatives[k] as usize * width + chunk],
            );
            for (run, sum) in sums.into_iter().enumerate() {
                i.store(sum, &mut scratch.target_gradients[(first + run) * width + chunk]);
            }
        }
    }
}

/// Updates the negatives.
#[inline(always)]
pub(super) fn update<I: Instructions, const TILE: usize>(
    i: I,
    group: &Group,
    settings: GroupSettings,
    targets: &Block<'_>,
    contexts: &mut Block<'_>,
    scratch: &mut GroupScratch,
) {
    let width = contexts.lanes_per_row;
    let runs = &group.targets[..];
    let gradients = &mut scratch.negative_gradients;
    gradients.resize(TILE * width, [0.0; LANES]);
    let (slopes, _) = scratch.negative_slopes.as_chunks::<TILE>();
    for (negatives, slopes) in group.negatives.as_chunks::<TILE>().0.iter().zip(slopes) {
        let mut squares = [i.splat(0.0); TILE];
        for chunk in 0..width {
            let sums = tile::<I, TILE>(
                i,
                runs.len().min(RUNS),
                |negative, run| slopes[negative][run],
                |run| &targets.rows[runs[run] as usize * width + chunk],
            );
            for (negative, sum) in sums.into_iter().enumerate() {
                i.store(sum, &mut gradients[negative * width + chunk]);
                squares[negative] = i.multiply_add(sum, sum, squares[negative]);
            }
        }
        for ((&row, gradient), squares) in negatives.iter().zip(gradients.chunks_exact(width)).zip(squares) {
            let row = row as usize;
            let square = i.sum(squares) / settings.dimensions as f32;
            let rate = settings.rate(&mut contexts.accumulators[row], square);
            descend(i, rate, gradient, contexts.row_mut(row).values);
        }
    }
}
