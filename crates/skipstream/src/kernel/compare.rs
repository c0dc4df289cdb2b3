//! Rows held against a vector: the arithmetic of cosines.
//!
//! Products are rounded before they are added: a fused operation would be no faster here, where memory is the limit,
//! and machines without one would have to imitate it.

use super::instructions::Instructions;
use crate::parameters::{LANES, Lanes};

/// The dot product of two vectors of the same length.
#[inline(always)]
pub(super) fn dot<S: Instructions>(set: S, left: &[f32], right: &[f32]) -> f32 {
    let mut sum = set.splat(0.0);
    let (left, left_rest) = left.as_chunks::<LANES>();
    let (right, right_rest) = right.as_chunks::<LANES>();
    for (left, right) in left.iter().zip(right) {
        sum = set.add(sum, set.multiply(set.load(left), set.load(right)));
    }
    if !left_rest.is_empty() {
        let [left, right] = [left_rest, right_rest].map(padded);
        sum = set.add(sum, set.multiply(set.load(&left), set.load(&right)));
    }
    set.sum(sum)
}

/// The dot product of each row with the vector.
#[inline(always)]
pub(super) fn dots<S: Instructions>(set: S, vector: &[f32], rows: &[f32], dots: &mut [f32]) {
    for (row, result) in rows.chunks_exact(vector.len()).zip(dots) {
        *result = dot(set, vector, row);
    }
}

/// The dot product of each row with itself.
#[inline(always)]
pub(super) fn squares<S: Instructions>(set: S, dimensions: usize, rows: &[f32], squares: &mut [f32]) {
    for (row, result) in rows.chunks_exact(dimensions).zip(squares) {
        *result = dot(set, row, row);
    }
}

/// The sums of values, side by side.
#[inline(always)]
pub(super) fn add<S: Instructions>(set: S, left: &[f32], right: &[f32], sums: &mut [f32]) {
    let (left, left_rest) = left.as_chunks::<LANES>();
    let (right, right_rest) = right.as_chunks::<LANES>();
    let (sums, sums_rest) = sums.as_chunks_mut::<LANES>();
    for ((left, right), sum) in left.iter().zip(right).zip(sums) {
        set.store(set.add(set.load(left), set.load(right)), sum);
    }
    for ((left, right), sum) in left_rest.iter().zip(right_rest).zip(sums_rest) {
        *sum = left + right;
    }
}

/// The last values of a row, with zeros behind them.
#[inline(always)]
fn padded(rest: &[f32]) -> Lanes {
    let mut lanes = [0.0; LANES];
    lanes[..rest.len()].copy_from_slice(rest);
    lanes
}
