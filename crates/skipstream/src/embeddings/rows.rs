//! The vectors of the rows, in memory or in a memory-mapped file.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use super::Vectors;
use super::composition::Composition;
use super::cosine::inverse_norm;
use super::quantized::QuantizedRows;
use crate::bytes::Mapped;
use crate::kernel::Kernel;

pub(crate) enum Rows {
    /// In memory, with one divided by the norm of each.
    Owned { values: Vec<f32>, inverse_norms: Vec<f32> },
    /// In a memory-mapped file.
    Mapped(Mapped<f32>),
    /// In a memory-mapped file, as two matrices from which a row is composed when it is read.
    MappedPair(MappedPair),
    /// In fewer bytes, in memory or in a memory-mapped file.
    Quantized(QuantizedRows),
}

/// The target and context matrices of a memory-mapped model.
pub(crate) struct MappedPair {
    vectors: Vectors,
    /// Of each matrix.
    dimensions: usize,
    matrices: [Mapped<f32>; 2],
    /// Made when a row is first read: opening a file must not read the matrices.
    composition: OnceLock<Composition>,
}

/// Rows that stay in the L1 cache while they are composed, measured and compared.
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
            Rows::MappedPair(pair) => {
                let mut vector = vec![0.0; dimensions];
                pair.write(row..row + 1, &mut vector);
                Cow::Owned(vector)
            }
            Rows::Quantized(rows) => {
                let mut vector = vec![0.0; dimensions];
                rows.write(Kernel::best(), row..row + 1, dimensions, &mut vector);
                Cow::Owned(vector)
            }
        }
    }

    /// The values of the first rows, one after the other.
    pub fn matrix(&self, n_rows: usize, dimensions: usize) -> Cow<'_, [f32]> {
        let len = n_rows * dimensions;
        match self {
            Rows::Owned { values, .. } => Cow::Borrowed(&values[..len]),
            Rows::Mapped(matrix) => Cow::Borrowed(&matrix.values()[..len]),
            Rows::MappedPair(pair) => {
                let mut values = vec![0.0; len];
                pair.write(0..n_rows, &mut values);
                Cow::Owned(values)
            }
            Rows::Quantized(rows) => {
                let mut values = vec![0.0; len];
                rows.write(Kernel::best(), 0..n_rows, dimensions, &mut values);
                Cow::Owned(values)
            }
        }
    }

    /// Whether the vectors are in a memory-mapped file.
    pub fn is_mapped(&self) -> bool {
        match self {
            Rows::Owned { .. } => false,
            Rows::Mapped(_) | Rows::MappedPair(_) => true,
            Rows::Quantized(rows) => rows.is_mapped(),
        }
    }

    /// One divided by the norm of a row, or 0 if the vector has no direction or an extreme norm.
    pub fn inverse_norm(&self, row: usize, dimensions: usize) -> f32 {
        if let Rows::Owned { inverse_norms, .. } = self {
            return inverse_norms[row];
        }
        let vector = self.row(row, dimensions);
        inverse_norm(Kernel::best().dot(&vector, &vector))
    }

    /// How rows are composed when they are read, if they are.
    pub fn composition(&self) -> Option<&Composition> {
        match self {
            Rows::MappedPair(pair) => Some(pair.composition()),
            _ => None,
        }
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
            Rows::Quantized(quantized) => {
                scratch.composed.resize(place.len(), 0.0);
                quantized.write(kernel, rows.clone(), dimensions, &mut scratch.composed);
                return (&scratch.composed, &quantized.inverse_norms(dimensions)[rows]);
            }
            Rows::Mapped(matrix) => &matrix.values()[place],
            Rows::MappedPair(pair) => {
                scratch.composed.resize(place.len(), 0.0);
                pair.write(rows.clone(), &mut scratch.composed);
                &scratch.composed
            }
        };
        let inverse_norms = &mut scratch.inverse_norms[..rows.len()];
        kernel.squares(dimensions, values, inverse_norms);
        inverse_norms.iter_mut().for_each(|value| *value = inverse_norm(*value));
        (values, inverse_norms)
    }
}

impl MappedPair {
    /// `dimensions` are those of the matrices, which have the same size.
    pub fn new(vectors: Vectors, dimensions: usize, matrices: [Mapped<f32>; 2]) -> MappedPair {
        MappedPair { vectors, dimensions, matrices, composition: OnceLock::new() }
    }

    fn composition(&self) -> &Composition {
        self.composition.get_or_init(|| {
            let rows = self.matrices.each_ref().map(|matrix| matrix.values().chunks_exact(self.dimensions));
            Composition::of(self.vectors, self.dimensions, rows)
        })
    }

    /// Writes the vectors of some rows, one after the other.
    #[inline(always)]
    fn write(&self, rows: Range<usize>, vectors: &mut [f32]) {
        let place = rows.start * self.dimensions..rows.end * self.dimensions;
        let matrices = self.matrices.each_ref().map(|matrix| &matrix.values()[place.clone()]);
        self.composition().write_rows(matrices, vectors);
    }
}

/// Memory for what [`Rows::block`] has to compute.
#[derive(Default)]
pub(super) struct Scratch {
    composed: Vec<f32>,
    inverse_norms: [f32; ROWS_IN_L1],
}
