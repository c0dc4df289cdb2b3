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
        let dimensions = vectors[0].0.len();
        let mut sums = Vec::new();
        let mut norms = [0.0; BLOCK];
        let mut dots = [[0.0; BLOCK]; N];
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
                    &norms
                }
            };
            for ((vector, _), dots) in vectors.iter().zip(&mut dots) {
                kernel.dots(vector, values, dots);
            }
            for (place, row) in block.enumerate() {
                visit(row, std::array::from_fn(|n| cosine(dots[n][place], [vectors[n].1, norms[place]])));
            }
        }
    }
}
