//! Products of small matrices, by tiles that fit in the registers.

use super::super::instructions::Instructions;
use crate::parameters::Lanes;

/// Sixteen columns of some rows of a product: for each row, Σₖ left(row, k) · right(k), in the order of k.
///
/// `TILE` sums are independent, so that a multiply-add need not wait for the one before it; a value of the right matrix
/// is loaded once for all of them.
#[inline(always)]
pub(super) fn tile<'a, I: Instructions, const TILE: usize>(
    i: I,
    depth: usize,
    left: impl Fn(usize, usize) -> f32,
    right: impl Fn(usize) -> &'a Lanes,
) -> [I::Vector; TILE] {
    let mut sums = [i.splat(0.0); TILE];
    for k in 0..depth {
        let values = i.load(right(k));
        for (row, sum) in sums.iter_mut().enumerate() {
            *sum = i.multiply_add(i.splat(left(row, k)), values, *sum);
        }
    }
    sums
}
