//! The vectors of the rows, in memory or in a memory-mapped file.

use std::borrow::Cow;
use std::ops::Range;

use super::cosine::inverse_norm;
use crate::bytes::MappedFloats;
use crate::kernel::Kernel;

pub(crate) enum Rows {
    /// In memory, with one divided by the norm of each.
    Owned { values: Vec<f32>, inverse_norms: Vec<f32> },
    /// In a memory-mapped file.
    Mapped(MappedFloats),
    /// In a memory-mapped file, as two matrices of the same size that are added when a row is read.
    MappedSum([MappedFloats; 2]),
}

/// Rows that stay in the L1 cache while they are summed, measured and compared.
pub(super) const ROWS_IN_L1: usize = 32;

impl Rows {
    pub fn owned(dimensions: usize, values: Vec<f32>) -> Rows {
        let mut inverse_norms = vec![0.0; values.len() / dimensions];
        Kernel::best().squares(dimensions, &values, &mut inverse_norms);
        inverse_norms.iter_mut().for_each(|value| *value = inverse_norm(*value));
        Rows::Owned { values, inverse_norms }
    }

    pub fn row(&self, row: usize, dimensions: usize) -> Cow<'_, [f32]> {
        let place = row * dimensions..(row + 1) * dimensions;
        match self {
            Rows::Owned { values, .. } => Cow::Borrowed(&values[place]),
            Rows::Mapped(matrix) => Cow::Borrowed(&matrix.values()[place]),
            Rows::MappedSum(matrices) => {
                let [left, right] = matrices.each_ref().map(|matrix| &matrix.values()[place.clone()]);
                Cow::Owned(left.iter().zip(right).map(|(left, right)| left + right).collect())
            }
        }
    }

    /// The first `len` values, row by row.
    pub fn matrix(&self, len: usize) -> Cow<'_, [f32]> {
        match self {
            Rows::Owned { values, .. } => Cow::Borrowed(&values[..len]),
            Rows::Mapped(matrix) => Cow::Borrowed(&matrix.values()[..len]),
            Rows::MappedSum([left, right]) => {
                let mut sums = vec![0.0; len];
                Kernel::best().add(&left.values()[..len], &right.values()[..len], &mut sums);
                Cow::Owned(sums)
            }
        }
    }

    /// One divided by the norm of a row, or 0 if the vector has no direction.
    pub fn inverse_norm(&self, row: usize, dimensions: usize) -> f32 {
        if let Rows::Owned { inverse_norms, .. } = self {
            return inverse_norms[row];
        }
        let vector = self.row(row, dimensions);
        inverse_norm(Kernel::best().dot(&vector, &vector))
    }

    /// The values of at most [`ROWS_IN_L1`] rows, and one divided by their norms.
    #[inline(always)]
    pub(super) fn block<'a>(
        &'a self,
        kernel: Kernel,
        rows: Range<usize>,
        dimensions: usize,
        scratch: &'a mut Scratch,
    ) -> (&'a [f32], &'a [f32]) {
        let place = rows.start * dimensions..rows.end * dimensions;
        let values = match self {
            Rows::Owned { values, inverse_norms } => return (&values[place], &inverse_norms[rows]),
            Rows::Mapped(matrix) => &matrix.values()[place],
            Rows::MappedSum([left, right]) => {
                scratch.sums.resize(place.len(), 0.0);
                kernel.add(&left.values()[place.clone()], &right.values()[place], &mut scratch.sums);
                &scratch.sums
            }
        };
        let inverse_norms = &mut scratch.inverse_norms[..rows.len()];
        kernel.squares(dimensions, values, inverse_norms);
        inverse_norms.iter_mut().for_each(|value| *value = inverse_norm(*value));
        (values, inverse_norms)
    }
}

/// Memory for what [`Rows::block`] has to compute.
#[derive(Default)]
pub(super) struct Scratch {
    sums: Vec<f32>,
    inverse_norms: [f32; ROWS_IN_L1],
}
