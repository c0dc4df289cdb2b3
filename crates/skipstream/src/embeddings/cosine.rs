//! The arithmetic of similarity: dot products and inverse norms that never give NaN.

/// Norms outside these limits have no inverse here. Between them the product of any two vectors
/// stays far inside `f32`, so that a cosine is never NaN or infinite.
const SHORTEST: f64 = 1e-15;
const LONGEST: f64 = 1e15;

/// Sixteen independent sums, which the compiler turns into vector instructions: a single sum
/// would have to be added in order. (It does so from optimisation level 3, that of releases.)
const LANES: usize = 16;

/// The dot product of two vectors of the same length.
pub(super) fn dot(left: &[f32], right: &[f32]) -> f32 {
    let (left_chunks, left_rest) = left.as_chunks::<LANES>();
    let (right_chunks, right_rest) = right.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (left, right) in left_chunks.iter().zip(right_chunks) {
        for lane in 0..LANES {
            sums[lane] += left[lane] * right[lane];
        }
    }
    let rest: f32 = left_rest.iter().zip(right_rest).map(|(l, r)| l * r).sum();
    sums.iter().sum::<f32>() + rest
}

/// One divided by the vector's norm, or 0 where the direction cannot be told: for the zero vector
/// and for norms below 1e-15 or above 1e15.
pub(super) fn inverse_norm(vector: &[f32]) -> f32 {
    let norm = sum_of_squares(vector).sqrt();
    if (SHORTEST..=LONGEST).contains(&norm) { (1.0 / norm) as f32 } else { 0.0 }
}

/// In `f64`, whose range no square of an `f32` leaves.
fn sum_of_squares(vector: &[f32]) -> f64 {
    let (chunks, rest) = vector.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for chunk in chunks {
        for lane in 0..LANES {
            sums[lane] += f64::from(chunk[lane]) * f64::from(chunk[lane]);
        }
    }
    let rest: f64 = rest.iter().map(|&value| f64::from(value).powi(2)).sum();
    sums.iter().sum::<f64>() + rest
}

/// The cosine of two vectors with their inverse norms; 0 where one of them has no direction.
pub(super) fn cosine(left: (&[f32], f32), right: (&[f32], f32)) -> f32 {
    let scale = left.1 * right.1;
    if scale == 0.0 {
        return 0.0;
    }
    // Adding 0 turns -0 into 0: the two must tie, and print alike.
    (dot(left.0, right.0) * scale).clamp(-1.0, 1.0) + 0.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cosine_of(left: &[f32], right: &[f32]) -> f32 {
        cosine((left, inverse_norm(left)), (right, inverse_norm(right)))
    }

    proptest! {
        #[test]
        fn dot_agrees_with_a_plain_sum_at_any_length(
            pairs in proptest::collection::vec((-1.0f32..1.0, -1.0f32..1.0), 0..100)
        ) {
            let (left, right): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
            let plain: f64 = pairs.iter().map(|&(l, r)| f64::from(l) * f64::from(r)).sum();
            prop_assert!((f64::from(dot(&left, &right)) - plain).abs() < 1e-4);
        }

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
        for odd in [[0.0, 0.0], [f32::MAX, f32::MAX], [1e-40, 0.0]] {
            assert_eq!(cosine_of(&odd, &[1.0, -1.0]), 0.0);
            assert_eq!(cosine_of(&odd, &odd), 0.0);
        }
    }

    #[test]
    fn orthogonal_vectors_give_plus_zero() {
        assert_eq!(cosine_of(&[-1.0, 0.0], &[0.0, 1.0]).to_bits(), 0);
    }
}
