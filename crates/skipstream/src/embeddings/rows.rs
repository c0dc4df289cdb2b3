//! The vectors of the rows, wherever they are.

use std::borrow::Cow;
use std::ops::Range;

use super::cosine::{cosine, inverse_norm};
use crate::bytes::MappedFloats;
use crate::kernel::Kernel;

/// The vectors, one row after the other.
pub(crate) enum Rows {
    /// In memory of their own, with one divided by the norm of each.
    Owned { values: Vec<f32>, inverse_norms: Vec<f32> },
    /// In a file.
    Mapped(MappedFloats),
    /// In a file, as two matrices of the same size that are added when a row is looked at.
    MappedSum([MappedFloats; 2]),
}

/// Rows that are compared together: small enough to stay in the nearest cache while that is done.
const BLOCK: usize = 32;

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

    /// The first values, one row after the other.
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

    /// One divided by the norm of a row, or 0 where the vector has no direction.
    pub fn inverse_norm(&self, row: usize, dimensions: usize) -> f32 {
        if let Rows::Owned { inverse_norms, .. } = self {
            return inverse_norms[row];
        }
        let vector = self.row(row, dimensions);
        inverse_norm(Kernel::best().dot(&vector, &vector))
    }

    /// Shows the cosines of each of the rows with the vectors, in the order of rows.
    ///
    /// The vectors have as many dimensions as the rows, and come with one divided by their norm.
    pub fn compare<const N: usize>(
        &self,
        rows: Range<usize>,
        vectors: [(&[f32], f32); N],
        mut visit: impl FnMut(usize, [f32; N]),
    ) {
        let kernel = Kernel::best();
        let mut cosines = [[0.0; BLOCK]; N];
        self.visit_blocks(kernel, rows, vectors[0].0.len(), |block, values, norms| {
            for (&vector, cosines) in vectors.iter().zip(&mut cosines) {
                block_cosines(kernel, vector, values, norms, cosines);
            }
            for (place, row) in block.enumerate() {
                visit(row, std::array::from_fn(|n| cosines[n][place]));
            }
        });
    }

    /// Shows the cosines of blocks of rows with each of the vectors: the number of the vector, the first row, and the
    /// cosines of this row and those behind it. The blocks are in the order of rows.
    ///
    /// The vectors have as many dimensions as the rows, and come with one divided by their norm.
    pub fn compare_with_each(
        &self,
        rows: Range<usize>,
        vectors: &[(&[f32], f32)],
        mut visit: impl FnMut(usize, usize, &[f32]),
    ) {
        let Some(&(first, _)) = vectors.first() else { return };
        let kernel = Kernel::best();
        let mut cosines = [0.0; BLOCK];
        self.visit_blocks(kernel, rows, first.len(), |block, values, norms| {
            for (number, &vector) in vectors.iter().enumerate() {
                visit(number, block.start, block_cosines(kernel, vector, values, norms, &mut cosines));
            }
        });
    }

    /// Shows blocks of rows, their values, and one divided by their norms.
    fn visit_blocks(
        &self,
        kernel: Kernel,
        rows: Range<usize>,
        dimensions: usize,
        mut visit: impl FnMut(Range<usize>, &[f32], &[f32]),
    ) {
        let mut sums = Vec::new();
        let mut norms = [0.0; BLOCK];
        for start in rows.clone().step_by(BLOCK) {
            let block = start..rows.end.min(start + BLOCK);
            let place = block.start * dimensions..block.end * dimensions;
            let values = match self {
                Rows::Owned { values, .. } => &values[place],
                Rows::Mapped(matrix) => &matrix.values()[place],
                Rows::MappedSum([left, right]) => {
                    sums.resize(place.len(), 0.0);
                    kernel.add(&left.values()[place.clone()], &right.values()[place], &mut sums);
                    &sums
                }
            };
            let norms = match self {
                Rows::Owned { inverse_norms, .. } => &inverse_norms[block.clone()],
                Rows::Mapped(_) | Rows::MappedSum(_) => {
                    kernel.squares(dimensions, values, &mut norms);
                    norms.iter_mut().for_each(|value| *value = inverse_norm(*value));
                    &norms[..block.len()]
                }
            };
            visit(block, values, norms);
        }
    }
}

/// The cosines of a vector, which comes with one divided by its norm, with the rows of a block.
fn block_cosines<'a>(
    kernel: Kernel,
    (vector, inverse_norm): (&[f32], f32),
    values: &[f32],
    norms: &[f32],
    cosines: &'a mut [f32; BLOCK],
) -> &'a [f32] {
    let cosines = &mut cosines[..norms.len()];
    kernel.dots(vector, values, cosines);
    for (value, &norm) in cosines.iter_mut().zip(norms) {
        *value = cosine(*value, [inverse_norm, norm]);
    }
    cosines
}
