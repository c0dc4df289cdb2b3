//! Rows of half precision, and rows of bytes with a scale each.

use std::ops::{Deref, Range};
use std::sync::OnceLock;

use super::Quantization;
use super::cosine::inverse_norm;
use super::rows::ROWS_IN_L1;
use crate::bytes::Mapped;
use crate::kernel::Kernel;

pub(crate) struct QuantizedRows {
    values: QuantizedValues,
    /// One divided by the norm of each row. Computed by the first search: opening a file must not read the matrix.
    inverse_norms: OnceLock<Vec<f32>>,
    has_extreme_norms: OnceLock<bool>,
}

pub(crate) enum QuantizedValues {
    /// Numbers of half precision.
    Halves(Values<u16>),
    /// A value is a byte times the scale of its row.
    Bytes { values: Values<i8>, scales: Vec<f32> },
}

/// Values in memory or in a memory-mapped file.
pub(crate) enum Values<T> {
    Owned(Vec<T>),
    Mapped(Mapped<T>),
}

impl<T: bytemuck::Pod> Deref for Values<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Values::Owned(values) => values,
            Values::Mapped(values) => values.values(),
        }
    }
}

impl QuantizedRows {
    pub fn new(values: QuantizedValues) -> QuantizedRows {
        QuantizedRows { values, inverse_norms: OnceLock::new(), has_extreme_norms: OnceLock::new() }
    }

    pub fn values(&self) -> &QuantizedValues {
        &self.values
    }

    pub fn quantization(&self) -> Quantization {
        match self.values {
            QuantizedValues::Halves(_) => Quantization::F16,
            QuantizedValues::Bytes { .. } => Quantization::Int8,
        }
    }

    pub fn is_mapped(&self) -> bool {
        matches!(
            self.values,
            QuantizedValues::Halves(Values::Mapped(_))
                | QuantizedValues::Bytes { values: Values::Mapped(_), .. }
        )
    }

    fn len(&self, dimensions: usize) -> usize {
        match &self.values {
            QuantizedValues::Halves(values) => values.len() / dimensions,
            QuantizedValues::Bytes { scales, .. } => scales.len(),
        }
    }

    /// Writes the vectors of some rows, one after the other.
    #[inline(always)]
    pub fn write(&self, kernel: Kernel, rows: Range<usize>, dimensions: usize, vectors: &mut [f32]) {
        let place = rows.start * dimensions..rows.end * dimensions;
        match &self.values {
            QuantizedValues::Halves(values) => kernel.widen(&values[place], vectors),
            QuantizedValues::Bytes { values, scales } => {
                let bytes = values[place].chunks_exact(dimensions);
                for ((vector, bytes), &scale) in
                    vectors.chunks_exact_mut(dimensions).zip(bytes).zip(&scales[rows])
                {
                    for (value, &byte) in vector.iter_mut().zip(bytes) {
                        *value = scale * f32::from(byte);
                    }
                }
            }
        }
    }

    /// Whether a row of bytes that is not zero has a norm without [`inverse_norm`].
    pub fn has_extreme_norms(&self, dimensions: usize) -> bool {
        let QuantizedValues::Bytes { scales, .. } = &self.values else { return false };
        *self.has_extreme_norms.get_or_init(|| {
            let mut rows = scales.iter().zip(self.inverse_norms(dimensions));
            rows.any(|(&scale, &inverse_norm)| scale != 0.0 && inverse_norm == 0.0)
        })
    }

    /// One divided by the norm of each row.
    pub fn inverse_norms(&self, dimensions: usize) -> &[f32] {
        self.inverse_norms.get_or_init(|| {
            let kernel = Kernel::best();
            let mut norms = vec![0.0; self.len(dimensions)];
            let mut vectors = vec![0.0; ROWS_IN_L1 * dimensions];
            for (number, norms) in norms.chunks_mut(ROWS_IN_L1).enumerate() {
                let start = number * ROWS_IN_L1;
                let vectors = &mut vectors[..norms.len() * dimensions];
                self.write(kernel, start..start + norms.len(), dimensions, vectors);
                kernel.squares(dimensions, vectors, norms);
                norms.iter_mut().for_each(|value| *value = inverse_norm(*value));
            }
            norms
        })
    }
}
