//! The vectors of the rows, wherever they are.

use std::borrow::Cow;
use std::ops::Range;

use super::cosine;
use crate::bytes::MappedFloats;

/// The vectors, one row after the other.
pub(crate) enum Rows {
    /// In memory of their own, with one divided by the norm of each.
    Owned { values: Vec<f32>, inverse_norms: Vec<f32> },
    /// In a file.
    Mapped(MappedFloats),
    /// In a file, as two matrices of the same size that are added when a row is looked at.
    MappedSum([MappedFloats; 2]),
}

impl Rows {
    pub fn owned(dimensions: usize, values: Vec<f32>) -> Rows {
        let inverse_norms = values.chunks_exact(dimensions).map(cosine::inverse_norm).collect();
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

    /// One divided by the norm of a row, or 0 where the vector has no direction.
    pub fn inverse_norm(&self, row: usize, dimensions: usize) -> f32 {
        match self {
            Rows::Owned { inverse_norms, .. } => inverse_norms[row],
            Rows::Mapped(_) | Rows::MappedSum(_) => cosine::inverse_norm(&self.row(row, dimensions)),
        }
    }

    /// Shows each of the rows with its number and one divided by its norm, in their order.
    pub fn visit(&self, rows: Range<usize>, dimensions: usize, mut visit: impl FnMut(usize, &[f32], f32)) {
        let place = rows.start * dimensions..rows.end * dimensions;
        match self {
            Rows::Owned { values, inverse_norms } => {
                let vectors = values[place].chunks_exact(dimensions);
                for ((row, vector), inverse_norm) in rows.clone().zip(vectors).zip(&inverse_norms[rows]) {
                    visit(row, vector, *inverse_norm);
                }
            }
            Rows::Mapped(matrix) => {
                for (row, vector) in rows.zip(matrix.values()[place].chunks_exact(dimensions)) {
                    visit(row, vector, cosine::inverse_norm(vector));
                }
            }
            Rows::MappedSum(matrices) => {
                let [left, right] =
                    matrices.each_ref().map(|matrix| matrix.values()[place.clone()].chunks_exact(dimensions));
                let mut sum = vec![0.0; dimensions];
                for ((row, left), right) in rows.zip(left).zip(right) {
                    for ((sum, left), right) in sum.iter_mut().zip(left).zip(right) {
                        *sum = left + right;
                    }
                    visit(row, &sum, cosine::inverse_norm(&sum));
                }
            }
        }
    }
}
