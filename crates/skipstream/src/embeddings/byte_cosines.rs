//! Estimated cosines of rows of bytes, by integers.
//!
//! A cue q is rounded to integers k of one step: q = step · k + e. A row is r = scale · b, with bytes b. Then
//! q · r = step · scale · (k · b) + e · r, where k · b is an exact sum of integers. So an estimate without the last term is
//! off by at most |e| |r|, and the estimated cosine by at most |e| / |q|: about 0.00003 for a vector of 100 dimensions.
//!
//! A search compares a row exactly if its estimate, less that error, could be among the best. So it finds what an exact
//! search finds, and reads a quarter of the memory.

use std::ops::Range;

use super::quantized::{QuantizedRows, QuantizedValues};
use super::rows::ROWS_IN_L1;
use crate::kernel::{Integers, Kernel};

pub(super) struct Estimator {
    integers: Integers,
    /// The step, divided by the norm of the cue.
    factor: f32,
    /// How far an estimated cosine can be from the computed one.
    pub error: f32,
}

impl Estimator {
    /// `inverse_norm` is one divided by the norm of the cue.
    pub fn new(cue: &[f32], inverse_norm: f32) -> Estimator {
        let limit = f64::from(Integers::limit(cue.len()));
        let largest = cue.iter().fold(0.0, |largest: f64, &value| largest.max(f64::from(value).abs()));
        if limit == 0.0 {
            return Estimator { integers: Integers::new(&vec![0; cue.len()]), factor: 0.0, error: 1.0 };
        }
        let step = largest / limit;
        let integers: Vec<i16> = cue.iter().map(|&value| (f64::from(value) / step).round() as i16).collect();
        let (mut lost, mut all) = (0.0, 0.0);
        for (&value, &integer) in cue.iter().zip(&integers) {
            let value = f64::from(value);
            lost += (value - step * f64::from(integer)).powi(2);
            all += value * value;
        }
        let error = (lost / all).sqrt() + rounding(cue.len());
        Estimator {
            integers: Integers::new(&integers),
            factor: (step * f64::from(inverse_norm)) as f32,
            error: error as f32,
        }
    }

    /// Writes the estimated cosines of at most [`ROWS_IN_L1`] rows.
    #[inline(always)]
    pub fn estimate(&self, kernel: Kernel, block: &ByteBlock<'_>, cosines: &mut [f32]) {
        let mut dots = [0; ROWS_IN_L1];
        kernel.integer_dots(&self.integers, block.values, &mut dots[..cosines.len()]);
        for ((cosine, &dot), &factor) in cosines.iter_mut().zip(&dots).zip(&block.factors) {
            *cosine = dot as f32 * (self.factor * factor);
        }
    }
}

/// How far rounding moves a cosine and its estimate, at most.
///
/// Sums have 16 lanes. So a dot product adds d/16 + 6 rounding errors, and a norm half as many; the estimate has the same norms
/// and a few multiplications. That is 3/16 d + 34 in all.
fn rounding(dimensions: usize) -> f64 {
    (dimensions as f64 / 4.0 + 64.0) * f64::from(f32::EPSILON) / 2.0
}

/// At most [`ROWS_IN_L1`] rows of bytes.
pub(super) struct ByteBlock<'a> {
    values: &'a [i8],
    /// The scale of each row, divided by its norm.
    factors: [f32; ROWS_IN_L1],
}

impl<'a> ByteBlock<'a> {
    /// # Panics
    /// If the rows are not bytes.
    #[inline(always)]
    pub fn new(rows: &'a QuantizedRows, place: Range<usize>, dimensions: usize) -> ByteBlock<'a> {
        let QuantizedValues::Bytes { values, scales } = rows.values() else { panic!("rows of bytes") };
        let inverse_norms = &rows.inverse_norms(dimensions)[place.clone()];
        let mut factors = [0.0; ROWS_IN_L1];
        for ((factor, &scale), &inverse_norm) in
            factors.iter_mut().zip(&scales[place.clone()]).zip(inverse_norms)
        {
            *factor = scale * inverse_norm;
        }
        ByteBlock { values: &values[place.start * dimensions..place.end * dimensions], factors }
    }
}
