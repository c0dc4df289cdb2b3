//! The arithmetic of similarity, which never gives NaN.

use crate::kernel::Kernel;

/// Within these limits the product of any two norms stays far inside `f32`, so a cosine is never NaN or infinite. Beyond
/// them, cosines are computed in `f64`.
const MIN_NORM: f32 = 1e-15;
const MAX_NORM: f32 = 1e15;

/// One divided by a vector's norm, or 0 if the norm is not within the limits or a value is not finite. `squares` is the sum of
/// the squares of its values.
pub(super) fn inverse_norm(squares: f32) -> f32 {
    let norm = squares.sqrt();
    if (MIN_NORM..=MAX_NORM).contains(&norm) { 1.0 / norm } else { 0.0 }
}

/// One divided by a vector's norm, whatever it is; 0 if the vector is zero or a value is not finite.
#[cold]
pub(super) fn wide_inverse_norm(vector: &[f32]) -> f64 {
    let norm = wide_dot(vector, vector).sqrt();
    if norm > 0.0 && norm.is_finite() { 1.0 / norm } else { 0.0 }
}

/// The products of `f32` and their sums are far inside `f64`.
fn wide_dot(left: &[f32], right: &[f32]) -> f64 {
    left.iter().zip(right).map(|(&left, &right)| f64::from(left) * f64::from(right)).sum()
}

/// The cosine of two vectors with their inverse norms; 0 if one of them is zero or not finite.
#[inline(always)]
pub(super) fn cosine_of(kernel: Kernel, left: &[f32], right: &[f32], inverse_norms: [f32; 2]) -> f32 {
    match inverse_norms.contains(&0.0) {
        true => wide_cosine(left, right),
        false => cosine(kernel.dot(left, right), inverse_norms),
    }
}

/// The cosine of two vectors of which one has a norm beyond the limits.
#[cold]
pub(super) fn wide_cosine(left: &[f32], right: &[f32]) -> f32 {
    let scale = wide_inverse_norm(left) * wide_inverse_norm(right);
    if scale == 0.0 { 0.0 } else { ((wide_dot(left, right) * scale) as f32).clamp(-1.0, 1.0) + 0.0 }
}

/// The cosine of two vectors, from their dot product and their inverse norms; 0 if one of these is 0.
#[inline(always)]
pub(super) fn cosine(dot: f32, inverse_norms: [f32; 2]) -> f32 {
    let scale = inverse_norms[0] * inverse_norms[1];
    if scale == 0.0 {
        return 0.0;
    }
    // Adding 0 turns -0 into 0: the two must tie, and print alike.
    (dot * scale).clamp(-1.0, 1.0) + 0.0
}

/// The dot product of two vectors; 0 if one of them has no direction or an extreme norm.
#[inline(always)]
pub(super) fn product(dot: f32, inverse_norms: [f32; 2]) -> f32 {
    if inverse_norms[0] * inverse_norms[1] == 0.0 { 0.0 } else { dot + 0.0 }
}

/// The cosines between a vector and others of its length, which are concatenated.
///
/// # Panics
/// If the length of `others` is not a multiple of that of the vector.
pub fn cosines(vector: &[f32], others: &[f32]) -> Vec<f32> {
    if vector.is_empty() {
        return Vec::new();
    }
    assert_eq!(others.len() % vector.len(), 0, "whole vectors");
    let kernel = Kernel::best();
    let inverse = inverse_norm(kernel.dot(vector, vector));
    let cosine_with =
        |other: &[f32]| cosine_of(kernel, vector, other, [inverse, inverse_norm(kernel.dot(other, other))]);
    others.chunks_exact(vector.len()).map(cosine_with).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cosine_of(left: &[f32], right: &[f32]) -> f32 {
        cosines(left, right)[0]
    }

    proptest! {
        #[test]
        fn any_finite_vectors_have_a_symmetric_cosine_from_minus_one_to_one(
            pairs in proptest::collection::vec(
                (proptest::num::f32::NORMAL | proptest::num::f32::SUBNORMAL | proptest::num::f32::ZERO,
                 proptest::num::f32::NORMAL | proptest::num::f32::SUBNORMAL | proptest::num::f32::ZERO),
                1..40)
        ) {
            let (left, right): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            let similarity = cosine_of(&left, &right);
            prop_assert!((-1.0..=1.0).contains(&similarity));
            prop_assert_eq!(similarity.to_bits(), cosine_of(&right, &left).to_bits());
        }
    }

    #[test]
    fn a_vector_without_direction_is_similar_to_nothing() {
        for odd in [[0.0, 0.0], [f32::NAN, 1.0], [f32::INFINITY, 1.0]] {
            assert_eq!(cosine_of(&odd, &[1.0, -1.0]), 0.0);
            assert_eq!(cosine_of(&odd, &odd), 0.0);
        }
    }

    #[test]
    fn vectors_of_any_length_have_a_direction() {
        for [length, other] in [[1e38, 1e38], [1e-45, 1e-45], [1e38, 1e-45], [1.0, 1e38], [1e-40, 1.0]] {
            assert_eq!(cosine_of(&[length, 0.0], &[other, 0.0]), 1.0);
            assert_eq!(cosine_of(&[length, 0.0], &[-other, 0.0]), -1.0);
            assert_eq!(cosine_of(&[length, length], &[0.0, other]), 0.5f32.sqrt());
        }
    }

    #[test]
    fn one_vector_is_compared_with_many() {
        assert_eq!(cosines(&[2.0, 0.0], &[3.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, 0.0]), [1.0, 0.0, -1.0, 0.0]);
        assert!(cosines(&[2.0, 0.0], &[]).is_empty() && cosines(&[], &[]).is_empty());
    }

    #[test]
    fn orthogonal_vectors_give_plus_zero() {
        assert_eq!(cosine_of(&[-1.0, 0.0], &[0.0, 1.0]).to_bits(), 0);
    }
}
