//! Rows compared with a vector: the arithmetic of cosines.
//!
//! Products are rounded before they are added: a fused operation would be no faster here, where memory is the limit,
//! and machines without one would have to emulate it.

use super::instructions::Instructions;
use crate::parameters::LANES;

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
        sum = set.add(sum, set.multiply(set.load_part(left_rest), set.load_part(right_rest)));
    }
    set.sum(sum)
}

/// The dot product of each row with the vector.
///
/// Four rows are taken at a time: they share the vector's lanes, their sums do not wait for one another, and the lanes of
/// all four are added together. Every sum is that of [`dot`].
#[inline(always)]
pub(super) fn dots<S: Instructions>(set: S, vector: &[f32], rows: &[f32], dots: &mut [f32]) {
    let dimensions = vector.len();
    let (chunks, rest) = vector.as_chunks::<LANES>();
    let mut fours = rows.chunks_exact(4 * dimensions);
    let (dots_of_fours, dots_of_others) = dots.split_at_mut(4 * fours.len());
    for (four, results) in fours.by_ref().zip(dots_of_fours.as_chunks_mut::<4>().0) {
        let (first, others) = four.split_at(dimensions);
        let (second, others) = others.split_at(dimensions);
        let (third, fourth) = others.split_at(dimensions);
        let (a, a_rest) = first.as_chunks::<LANES>();
        let (b, b_rest) = second.as_chunks::<LANES>();
        let (c, c_rest) = third.as_chunks::<LANES>();
        let (d, d_rest) = fourth.as_chunks::<LANES>();
        let mut sums = [set.splat(0.0); 4];
        for ((((vector, a), b), c), d) in chunks.iter().zip(a).zip(b).zip(c).zip(d) {
            let vector = set.load(vector);
            sums[0] = set.add(sums[0], set.multiply(vector, set.load(a)));
            sums[1] = set.add(sums[1], set.multiply(vector, set.load(b)));
            sums[2] = set.add(sums[2], set.multiply(vector, set.load(c)));
            sums[3] = set.add(sums[3], set.multiply(vector, set.load(d)));
        }
        if !rest.is_empty() {
            let vector = set.load_part(rest);
            sums[0] = set.add(sums[0], set.multiply(vector, set.load_part(a_rest)));
            sums[1] = set.add(sums[1], set.multiply(vector, set.load_part(b_rest)));
            sums[2] = set.add(sums[2], set.multiply(vector, set.load_part(c_rest)));
            sums[3] = set.add(sums[3], set.multiply(vector, set.load_part(d_rest)));
        }
        *results = set.four_sums(sums);
    }
    for (row, result) in fours.remainder().chunks_exact(dimensions).zip(dots_of_others) {
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
