//! How a word's two rows in a model become its vector. This file defines what each kind of [`Vectors`] is.

use std::thread;

use super::Vectors;
use crate::kernel::{Kernel, Work};

/// The share of the mean that joined vectors lose. All of it costs a point of WS353 and half a point of SimLex-999; a half costs
/// a point of analogies and gains nothing.
const CENTERING: f64 = 0.75;

/// Makes the vectors of one kind from target and context rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Composition {
    vectors: Vectors,
    /// The length of a row.
    dimensions: usize,
    /// What is subtracted from target and context rows: a share of their means, or nothing.
    offsets: [Vec<f32>; 2],
}

impl Composition {
    /// `rows` are the target rows and the context rows, the most frequent word first. They are read only if the vectors are
    /// centered. Their order is part of the definition, because it decides how sums are rounded.
    pub fn of<'a>(
        vectors: Vectors,
        dimensions: usize,
        rows: [impl Iterator<Item = &'a [f32]> + Send; 2],
    ) -> Composition {
        if !vectors.is_centered() {
            return Composition { vectors, dimensions, offsets: [Vec::new(), Vec::new()] };
        }
        let kernel = Kernel::best();
        let [targets, contexts] = rows.map(|rows| Offset { dimensions, rows });
        // Each on a thread: for a large model, this takes as long as a search.
        let offsets = thread::scope(|scope| {
            let targets = scope.spawn(move || kernel.run(targets));
            let contexts = kernel.run(contexts);
            [targets.join().expect("a mean does not panic"), contexts]
        });
        Composition { vectors, dimensions, offsets }
    }

    /// What joined vectors have subtracted from target rows.
    pub fn target_offset(&self) -> Option<&[f32]> {
        (self.vectors == Vectors::Joined).then_some(&self.offsets[0])
    }

    /// Writes the vectors of words, one after the other, whose rows are in two matrices.
    #[inline(always)]
    pub fn write_rows(&self, matrices: [&[f32]; 2], vectors: &mut [f32]) {
        let [targets, contexts] = matrices.map(|matrix| matrix.chunks_exact(self.dimensions));
        let vectors = vectors.chunks_exact_mut(self.vectors.dimensions(self.dimensions));
        for ((target, context), vector) in targets.zip(contexts).zip(vectors) {
            self.write([target, context], vector);
        }
    }

    /// Writes the vector of a word.
    ///
    /// # Panics
    /// If the vector does not have the length that [`Vectors::dimensions`] returns.
    #[inline(always)]
    pub fn write(&self, [target, context]: [&[f32]; 2], vector: &mut [f32]) {
        assert_eq!(vector.len(), self.vectors.dimensions(self.dimensions), "the length of a vector");
        match self.vectors {
            Vectors::Target => vector.copy_from_slice(target),
            Vectors::Context => vector.copy_from_slice(context),
            Vectors::Sum => {
                let rows = target.iter().zip(context);
                vector.iter_mut().zip(rows).for_each(|(value, (target, context))| *value = target + context);
            }
            Vectors::Joined => {
                let halves = vector.chunks_exact_mut(target.len());
                for (half, (row, offset)) in halves.zip([target, context].into_iter().zip(&self.offsets)) {
                    let row = row.iter().zip(offset);
                    half.iter_mut().zip(row).for_each(|(value, (row, offset))| *value = row - offset);
                }
            }
        }
    }
}

/// Computes what is subtracted from rows, compiled for each instruction set.
struct Offset<Rows> {
    dimensions: usize,
    rows: Rows,
}

impl<'a, Rows: Iterator<Item = &'a [f32]>> Work for Offset<Rows> {
    type Result = Vec<f32>;

    #[inline(always)]
    fn run(self) -> Vec<f32> {
        let (mut sums, mut n_rows) = (vec![0.0; self.dimensions], 0u64);
        for row in self.rows {
            // A row with a value that is not finite is left out, so that it spoils only its own word. There is no branch per
            // value, which would keep the compiler from vectorizing this.
            if row.iter().fold(true, |all, value| all & value.is_finite()) {
                sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f64::from(value));
                n_rows += 1;
            }
        }
        sums.into_iter().map(|sum| (CENTERING * sum / n_rows.max(1) as f64) as f32).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The target and context rows of three words.
    const TARGETS: [[f32; 2]; 3] = [[1.0, 2.0], [3.0, -2.0], [5.0, 3.0]];
    const CONTEXTS: [[f32; 2]; 3] = [[0.5, 0.0], [0.0, 4.0], [1.0, -1.0]];

    fn rows(matrix: &[[f32; 2]]) -> impl Iterator<Item = &[f32]> + Send {
        matrix.iter().map(|row| &row[..])
    }

    fn composed(vectors: Vectors) -> Vec<Vec<f32>> {
        let composition = Composition::of(vectors, 2, [rows(&TARGETS), rows(&CONTEXTS)]);
        let vector = |(target, context)| {
            let mut vector = vec![f32::NAN; vectors.dimensions(2)];
            composition.write([target, context], &mut vector);
            vector
        };
        rows(&TARGETS).zip(rows(&CONTEXTS)).map(vector).collect()
    }

    #[test]
    fn every_kind_is_made_of_the_two_rows() {
        assert_eq!(composed(Vectors::Target), TARGETS);
        assert_eq!(composed(Vectors::Context), CONTEXTS);
        assert_eq!(composed(Vectors::Sum), [[1.5, 2.0], [3.0, 2.0], [6.0, 2.0]]);
        // The mean target is (3, 1), the mean context (0.5, 1); three quarters are (2.25, 0.75) and (0.375, 0.75).
        let joined = [[-1.25, 1.25, 0.125, -0.75], [0.75, -2.75, -0.375, 3.25], [2.75, 2.25, 0.625, -1.75]];
        assert_eq!(composed(Vectors::Joined), joined);
    }

    #[test]
    fn a_row_that_is_not_finite_does_not_move_the_mean() {
        for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let targets = [&TARGETS[..], &[[0.25, odd]]].concat();
            let contexts = [&CONTEXTS[..], &[[9.0, 9.0]]].concat();
            let composition = Composition::of(Vectors::Joined, 2, [rows(&targets), rows(&contexts)]);
            assert_eq!(composition.offsets, [vec![2.25, 0.75], vec![1.96875, 2.25]]);
        }
        let none = Composition::of(Vectors::Joined, 2, [rows(&[]), rows(&[])]);
        assert_eq!(none.offsets, [[0.0, 0.0], [0.0, 0.0]]);
    }

    #[test]
    fn many_small_rows_are_not_lost_beside_a_large_one() {
        let rows = || std::iter::once(&[3e8][..]).chain(std::iter::repeat_n(&[1.0][..], 1_000));
        let composition = Composition::of(Vectors::Joined, 1, [rows(), rows()]);
        assert_eq!(composition.offsets[0], [(0.75 * (3e8 + 1e3) / 1_001.0) as f32]);
    }
}
