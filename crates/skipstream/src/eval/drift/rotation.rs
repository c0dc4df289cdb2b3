//! The rotation that two sets of vectors have in common (orthogonal Procrustes).
//!
//! Cosines within a model do not change when all its vectors are rotated together, so two models may differ by a rotation
//! that means nothing. The orthogonal R that brings the new vectors nearest to the old ones, Σ ‖n R − o‖² at its least, is
//! the orthogonal factor of M = Σ nᵀ o (Schönemann, 1966).
//!
//! A decomposition into singular values would give it, and a library for that costs a minute to compile. Only the
//! orthogonal factor is needed, and Newton's iteration for it (Björck and Bowie, 1971) is products of small matrices:
//! X ← ³⁄₂ X − ½ X Xᵀ X takes every singular value between 0 and √3 to 1 and leaves the directions alone.

/// Iterations at the most: a singular value of 10⁻¹² of the largest needs 70.
const MAX_ITERATIONS: usize = 100;

/// Xᵀ X may differ from the identity by so much.
const TOLERANCE: f64 = 1e-12;

/// What is added to the diagonal of M, as a share of the bound on its norm: a direction of which the words say nothing is
/// left as it is.
const PULL_TO_IDENTITY: f64 = 1e-9;

/// An orthogonal matrix.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rotation {
    matrix: Square,
}

impl Rotation {
    /// The rotation that brings the second of each pair of vectors nearest to the first, all of the same length.
    pub(super) fn between<'a>(
        dimensions: usize,
        pairs: impl Iterator<Item = (&'a [f32], &'a [f32])>,
    ) -> Rotation {
        let mut sum = Square::zero(dimensions);
        for (old, new) in pairs {
            for (row, &new) in sum.rows_mut().zip(new) {
                row.iter_mut().zip(old).for_each(|(sum, &old)| *sum += f64::from(new) * f64::from(old));
            }
        }
        let bound = sum.norm_bound();
        if bound == 0.0 {
            return Rotation { matrix: Square::identity(dimensions) };
        }
        sum.add_to_diagonal(bound * PULL_TO_IDENTITY);
        let bound = sum.norm_bound();
        sum.values.iter_mut().for_each(|value| *value /= bound);
        Rotation { matrix: sum.orthogonal_factor() }
    }

    /// The rotated vector.
    pub(super) fn apply(&self, vector: &[f32]) -> Vec<f32> {
        let mut rotated = vec![0.0; vector.len()];
        for (row, &value) in self.matrix.rows().zip(vector) {
            rotated.iter_mut().zip(row).for_each(|(sum, factor)| *sum += f64::from(value) * factor);
        }
        rotated.into_iter().map(|value| value as f32).collect()
    }
}

/// A square matrix, one row after the other.
#[derive(Clone, Debug, PartialEq)]
struct Square {
    size: usize,
    values: Vec<f64>,
}

impl Square {
    fn zero(size: usize) -> Square {
        Square { size, values: vec![0.0; size * size] }
    }

    fn identity(size: usize) -> Square {
        let mut identity = Square::zero(size);
        identity.add_to_diagonal(1.0);
        identity
    }

    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(self.size)
    }

    fn rows_mut(&mut self) -> impl Iterator<Item = &mut [f64]> {
        self.values.chunks_exact_mut(self.size)
    }

    fn add_to_diagonal(&mut self, value: f64) {
        self.values.iter_mut().step_by(self.size + 1).for_each(|diagonal| *diagonal += value);
    }

    /// At least the largest singular value: √(the largest sum of a row · the largest sum of a column).
    fn norm_bound(&self) -> f64 {
        let mut columns = vec![0.0; self.size];
        let mut largest_row = 0.0f64;
        for row in self.rows() {
            row.iter().zip(&mut columns).for_each(|(value, sum)| *sum += value.abs());
            largest_row = largest_row.max(row.iter().map(|value| value.abs()).sum());
        }
        (largest_row * columns.into_iter().fold(0.0, f64::max)).sqrt()
    }

    /// Selfᵀ · other.
    fn transposed_times(&self, other: &Square) -> Square {
        let mut product = Square::zero(self.size);
        for (left, right) in self.rows().zip(other.rows()) {
            for (row, &factor) in product.rows_mut().zip(left) {
                row.iter_mut().zip(right).for_each(|(sum, value)| *sum += factor * value);
            }
        }
        product
    }

    fn times(&self, other: &Square) -> Square {
        let mut product = Square::zero(self.size);
        for (sums, left) in product.rows_mut().zip(self.rows()) {
            for (&factor, right) in left.iter().zip(other.rows()) {
                sums.iter_mut().zip(right).for_each(|(sum, value)| *sum += factor * value);
            }
        }
        product
    }

    /// The orthogonal matrix nearest to this one, whose singular values are at most 1.
    fn orthogonal_factor(mut self) -> Square {
        for _ in 0..MAX_ITERATIONS {
            let mut square = self.transposed_times(&self);
            let next = self.times(&square);
            square.add_to_diagonal(-1.0);
            if square.values.iter().all(|value| value.abs() <= TOLERANCE) {
                break;
            }
            let both = self.values.iter_mut().zip(next.values);
            both.for_each(|(value, next)| *value = 1.5 * *value - 0.5 * next);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    fn vectors(n: usize, dimensions: usize) -> Vec<Vec<f32>> {
        let mut random = Random::new(5);
        (0..n).map(|_| (0..dimensions).map(|_| random.uniform() as f32 - 0.5).collect()).collect()
    }

    fn fit(old: &[Vec<f32>], new: &[Vec<f32>]) -> Rotation {
        let pairs = old.iter().zip(new).map(|(old, new)| (&old[..], &new[..]));
        Rotation::between(old[0].len(), pairs)
    }

    fn largest_difference(left: &[Vec<f32>], right: &[Vec<f32>]) -> f32 {
        let pairs = left.iter().flatten().zip(right.iter().flatten());
        pairs.map(|(left, right)| (left - right).abs()).fold(0.0, f32::max)
    }

    /// Rotates in the planes (0, 1) and (2, 3) and mirrors the last dimension.
    fn turned(vector: &[f32]) -> Vec<f32> {
        let mut turned = vector.to_vec();
        for (plane, angle) in [(0, 1.0f32), (2, 2.5)] {
            let (x, y) = (vector[plane], vector[plane + 1]);
            turned[plane] = x * angle.cos() - y * angle.sin();
            turned[plane + 1] = x * angle.sin() + y * angle.cos();
        }
        let last = turned.len() - 1;
        turned[last] = -turned[last];
        turned
    }

    #[test]
    fn a_rotation_is_undone() {
        let old = vectors(50, 7);
        let new: Vec<Vec<f32>> = old.iter().map(|vector| turned(vector)).collect();
        let rotation = fit(&old, &new);
        let back: Vec<Vec<f32>> = new.iter().map(|vector| rotation.apply(vector)).collect();
        assert!(largest_difference(&back, &old) < 1e-6);
    }

    #[test]
    fn equal_vectors_are_not_rotated_even_if_they_are_few() {
        for n in [1, 3, 50] {
            let same = vectors(n, 7);
            let rotation = fit(&same, &same);
            let left: Vec<Vec<f32>> = vectors(9, 7).iter().map(|vector| rotation.apply(vector)).collect();
            assert!(largest_difference(&left, &vectors(9, 7)) < 1e-6, "{n}");
        }
        let zero = vec![vec![0.0; 4]];
        assert_eq!(fit(&zero, &zero).matrix, Square::identity(4));
    }

    #[test]
    fn the_matrix_is_orthogonal_whatever_it_is_fitted_to() {
        let (old, new) = (vectors(30, 6), vectors(60, 6).split_off(30));
        let matrix = fit(&old, &new).matrix;
        let mut square = matrix.transposed_times(&matrix);
        square.add_to_diagonal(-1.0);
        assert!(square.values.iter().all(|value| value.abs() < 1e-9));
    }
}
