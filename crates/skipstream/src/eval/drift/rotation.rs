//! The rotation between two sets of vectors (orthogonal Procrustes).
//!
//! Cosines do not change when all vectors of a model are rotated together, so two models may differ by a meaningless
//! rotation. The orthogonal R that minimizes Σ ‖n R − o‖² is the orthogonal factor of M = Σ nᵀ o (Schönemann, 1966).
//!
//! A singular value decomposition would give it, but a library for that takes a minute to compile. Newton's iteration for
//! the orthogonal factor (Björck and Bowie, 1971) needs only matrix products: X ← ³⁄₂ X − ½ X Xᵀ X takes every singular
//! value between 0 and √3 to 1 and does not change the singular vectors.

/// The maximum number of iterations. A singular value of 10⁻¹² of the largest needs 70.
const MAX_ITERATIONS: usize = 100;

/// The tolerated difference between Xᵀ X and the identity.
const TOLERANCE: f64 = 1e-12;

/// Added to the diagonal of M, as a share of the bound on its norm, so that undetermined directions are not rotated.
const PULL_TO_IDENTITY: f64 = 1e-9;

/// An orthogonal matrix.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rotation {
    matrix: Square,
}

impl Rotation {
    /// The rotation that brings the second vector of each pair nearest to the first.
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

/// A square matrix, row by row.
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

    /// An upper bound on the largest singular value: √(the largest row sum · the largest column sum).
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
    use crate::random::Random;

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
