//! Rows of bytes compared with integers, and numbers of half precision.

use super::instructions::Instructions;
use crate::parameters::LANES;

/// A vector of integers, for dot products with rows of bytes that fit in 32 bits.
pub(crate) struct Integers {
    dimensions: usize,
    /// Sixteen at a time. If the last are fewer, they are compared with the last sixteen bytes of a row, and zeros come first:
    /// that is faster than to read a part.
    chunks: Vec<[i16; LANES]>,
}

impl Integers {
    /// The largest absolute value that integers may have: the sum of their products with bytes does not overflow.
    pub fn limit(dimensions: usize) -> i16 {
        let limit = i32::MAX as usize / 128 / dimensions;
        limit.min(i16::MAX as usize) as i16
    }

    /// # Panics
    /// If a value is above the limit.
    pub fn new(values: &[i16]) -> Integers {
        let limit = Integers::limit(values.len()).unsigned_abs();
        assert!(values.iter().all(|value| value.unsigned_abs() <= limit), "integers within {limit}");
        let (chunks, rest) = values.as_chunks::<LANES>();
        let mut chunks = chunks.to_vec();
        if !rest.is_empty() {
            let mut last = [0; LANES];
            last[LANES - rest.len()..].copy_from_slice(rest);
            chunks.push(last);
        }
        Integers { dimensions: values.len(), chunks }
    }
}

/// The dot product of each row of bytes with the integers.
#[inline(always)]
pub(super) fn dots<S: Instructions>(set: S, integers: &Integers, rows: &[i8], dots: &mut [i32]) {
    for (row, result) in rows.chunks_exact(integers.dimensions).zip(dots) {
        let (whole, _) = row.as_chunks::<LANES>();
        let (chunks, last) = integers.chunks.split_at(whole.len());
        let mut sums = set.no_sums();
        for (integers, bytes) in chunks.iter().zip(whole) {
            sums = set.add_products(sums, integers, bytes);
        }
        if let [integers] = last {
            sums = match row.last_chunk() {
                Some(bytes) => set.add_products(sums, integers, bytes),
                None => {
                    let mut bytes = [0; LANES];
                    bytes[LANES - row.len()..].copy_from_slice(row);
                    set.add_products(sums, integers, &bytes)
                }
            };
        }
        *result = set.total(sums);
    }
}

/// Numbers of half precision as floats.
#[inline(always)]
pub(super) fn widen<S: Instructions>(set: S, halves: &[u16], floats: &mut [f32]) {
    let (whole, rest) = halves.as_chunks::<LANES>();
    let (floats, floats_rest) = floats.as_chunks_mut::<LANES>();
    for (halves, floats) in whole.iter().zip(floats) {
        set.store(set.load_halves(halves), floats);
    }
    if !rest.is_empty() {
        let (mut halves, mut floats) = ([0; LANES], [0.0; LANES]);
        halves[..rest.len()].copy_from_slice(rest);
        set.store(set.load_halves(&halves), &mut floats);
        floats_rest.copy_from_slice(&floats[..rest.len()]);
    }
}
