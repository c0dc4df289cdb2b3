//! The first two principal components, by subspace iteration.

use std::ops::ControlFlow;

/// Directions that are iterated together. Two are needed; with the others, the error shrinks with the ratio of the ninth
/// to the second variance, not of the third.
const DIRECTIONS: usize = 8;

const ITERATIONS: usize = 100;

/// The two principal components of each point. The points are concatenated.
///
/// The covariance matrix is never formed. The sign of a direction is arbitrary; its largest coordinate is made positive, so
/// that a small change of the points does not flip the picture.
pub(super) fn principal_components(
    points: &[f32],
    dimensions: usize,
    observer: &mut dyn FnMut() -> ControlFlow<()>,
) -> Option<Vec<[f64; 2]>> {
    let centered = centered(points, dimensions);
    let mut basis = start(dimensions);
    for _ in 0..ITERATIONS {
        if observer().is_break() {
            return None;
        }
        basis = basis.iter().map(|direction| spread(&centered, direction)).collect();
        orthonormalize(&mut basis);
    }
    let [first, second] = widest(&centered, &basis).map(with_fixed_sign);
    let place = |point: &[f64]| [dot(point, &first), dot(point, &second)];
    Some(centered.chunks_exact(dimensions).map(place).collect())
}

fn centered(points: &[f32], dimensions: usize) -> Vec<f64> {
    let n_points = (points.len() / dimensions).max(1) as f64;
    let mut middle = vec![0.0; dimensions];
    for point in points.chunks_exact(dimensions) {
        middle.iter_mut().zip(point).for_each(|(sum, &value)| *sum += f64::from(value) / n_points);
    }
    let centered = |point: &[f32]| -> Vec<f64> {
        point.iter().zip(&middle).map(|(&value, middle)| f64::from(value) - middle).collect()
    };
    points.chunks_exact(dimensions).flat_map(centered).collect()
}

/// Random directions to start with, always the same.
fn start(dimensions: usize) -> Vec<Vec<f64>> {
    let mut random = crate::random::Random::new(1);
    let mut direction = || (0..dimensions).map(|_| random.uniform() - 0.5).collect();
    let mut basis: Vec<Vec<f64>> = (0..DIRECTIONS.min(dimensions)).map(|_| direction()).collect();
    orthonormalize(&mut basis);
    basis
}

/// The scatter matrix of the points times a direction: Xᵀ X v.
fn spread(centered: &[f64], direction: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; direction.len()];
    for point in centered.chunks_exact(direction.len()) {
        let along = dot(point, direction);
        sum.iter_mut().zip(point).for_each(|(sum, value)| *sum += along * value);
    }
    sum
}

/// The Gram–Schmidt process, twice, against rounding errors. A direction that depends on the others becomes zero.
fn orthonormalize(basis: &mut [Vec<f64>]) {
    for index in 0..basis.len() {
        let (done, rest) = basis.split_at_mut(index);
        let direction = &mut rest[0];
        let length_before = dot(direction, direction).sqrt();
        for other in done.iter().chain(done.iter()) {
            let along = dot(direction, other);
            direction.iter_mut().zip(other).for_each(|(value, other)| *value -= along * other);
        }
        let length = dot(direction, direction).sqrt();
        let factor = if length > 1e-12 * length_before && length > 0.0 { 1.0 / length } else { 0.0 };
        direction.iter_mut().for_each(|value| *value *= factor);
    }
}

/// The two directions of the largest variance within the basis: eigenvectors of the scatter matrix in this basis, by Jacobi
/// rotations.
fn widest(centered: &[f64], basis: &[Vec<f64>]) -> [Vec<f64>; 2] {
    let images: Vec<Vec<f64>> = basis.iter().map(|direction| spread(centered, direction)).collect();
    let mut matrix: Vec<Vec<f64>> =
        basis.iter().map(|left| images.iter().map(|right| dot(left, right)).collect()).collect();
    let mut directions = basis.to_vec();
    for _ in 0..50 {
        for i in 0..basis.len() {
            for j in i + 1..basis.len() {
                rotate(&mut matrix, &mut directions, i, j);
            }
        }
    }
    let mut order: Vec<usize> = (0..basis.len()).collect();
    order.sort_by(|&left, &right| matrix[right][right].total_cmp(&matrix[left][left]));
    let dimensions = basis.first().map_or(0, Vec::len);
    // With one dimension there is no second direction.
    [0, 1].map(|index| order.get(index).map_or_else(|| vec![0.0; dimensions], |&row| directions[row].clone()))
}

/// Rotates two directions so that their entry of the matrix becomes zero.
fn rotate(matrix: &mut [Vec<f64>], directions: &mut [Vec<f64>], i: usize, j: usize) {
    if matrix[i][j].abs() <= f64::MIN_POSITIVE {
        return;
    }
    let theta = (matrix[j][j] - matrix[i][i]) / (2.0 * matrix[i][j]);
    let tangent = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
    let sine = tangent * cosine;
    for row in matrix.iter_mut() {
        (row[i], row[j]) = (cosine * row[i] - sine * row[j], sine * row[i] + cosine * row[j]);
    }
    turn(matrix, i, j, cosine, sine);
    turn(directions, i, j, cosine, sine);
}

/// Rotates two rows within their plane.
fn turn(rows: &mut [Vec<f64>], i: usize, j: usize, cosine: f64, sine: f64) {
    let Ok([left, right]) = rows.get_disjoint_mut([i, j]) else { unreachable!("i and j are two rows") };
    for (left, right) in left.iter_mut().zip(right) {
        (*left, *right) = (cosine * *left - sine * *right, sine * *left + cosine * *right);
    }
}

fn with_fixed_sign(mut direction: Vec<f64>) -> Vec<f64> {
    let largest = direction.iter().copied().max_by(|left, right| left.abs().total_cmp(&right.abs()));
    if largest.is_some_and(|largest| largest < 0.0) {
        direction.iter_mut().for_each(|value| *value = -*value);
    }
    direction
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn principal_components(points: &[f32], dimensions: usize) -> Vec<[f64; 2]> {
        super::principal_components(points, dimensions, &mut || ControlFlow::Continue(())).unwrap()
    }
    use crate::random::Random;

    /// Points with a given spread along each dimension.
    fn points(n: usize, spreads: &[f32], seed: u64) -> Vec<f32> {
        let mut random = Random::new(seed);
        spreads
            .iter()
            .cycle()
            .take(n * spreads.len())
            .map(|spread| spread * (random.uniform() as f32 - 0.5))
            .collect()
    }

    fn variance(values: impl Iterator<Item = f64> + Clone) -> f64 {
        let n = values.clone().count() as f64;
        let mean = values.clone().sum::<f64>() / n;
        values.map(|value| (value - mean).powi(2)).sum::<f64>() / n
    }

    #[test]
    fn the_widest_dimensions_are_found_in_their_order() {
        let spreads = [1.0, 1.0, 9.0, 1.0, 1.0, 1.0, 4.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        let points = points(500, &spreads, 3);
        let places = principal_components(&points, spreads.len());
        // The coordinates are those of dimensions 2 and 6, centered, up to random correlation.
        for (axis, dimension) in [(0, 2), (1, 6)] {
            let values = || points.chunks(spreads.len()).map(move |point| f64::from(point[dimension]));
            let mean = values().sum::<f64>() / 500.0;
            let product: f64 = values().zip(&places).map(|(value, place)| (value - mean) * place[axis]).sum();
            let norm = (variance(values()) * variance(places.iter().map(|place| place[axis]))).sqrt() * 500.0;
            assert!(product / norm > 0.99, "axis {axis}: {}", product / norm);
        }
    }

    #[test]
    fn no_other_direction_is_wider() {
        let spreads: Vec<f32> = (0..20).map(|dimension| 1.0 + 0.1 * dimension as f32).collect();
        let points = points(300, &spreads, 5);
        let places = principal_components(&points, 20);
        let [first, second] = [0, 1].map(|axis| variance(places.iter().map(|place| place[axis])));
        assert!(first >= second);
        let covariance = places.iter().map(|place| place[0] * place[1]).sum::<f64>();
        assert!(covariance.abs() < 1e-6 * first * 300.0, "the axes do not go together");
        let mut random = Random::new(8);
        for _ in 0..200 {
            let mut direction: Vec<f64> = (0..20).map(|_| random.uniform() - 0.5).collect();
            let length = dot(&direction, &direction).sqrt();
            direction.iter_mut().for_each(|value| *value /= length);
            let along = points.chunks(20).map(|point| {
                point.iter().zip(&direction).map(|(&value, factor)| f64::from(value) * factor).sum::<f64>()
            });
            assert!(variance(along.collect::<Vec<_>>().into_iter()) <= first + 1e-9);
        }
    }

    #[test]
    fn points_that_move_a_little_do_not_flip() {
        let spreads = [5.0, 1.0, 3.0, 1.0, 1.0];
        let before = points(200, &spreads, 4);
        let noise = points(200, &[0.1; 5], 9);
        let after: Vec<f32> = before.iter().zip(noise).map(|(value, noise)| value + noise).collect();
        let (before, after) = (principal_components(&before, 5), principal_components(&after, 5));
        for axis in 0..2 {
            let product: f64 =
                before.iter().zip(&after).map(|(before, after)| before[axis] * after[axis]).sum();
            assert!(product > 0.0);
        }
    }

    #[test]
    fn few_points_and_few_dimensions_have_components_too() {
        assert!(principal_components(&[], 3).is_empty());
        assert_eq!(principal_components(&[1.0, 2.0, 3.0], 3), [[0.0, 0.0]]);
        assert_eq!(principal_components(&[5.0; 12], 3), [[0.0, 0.0]; 4]);
        let line = principal_components(&[1.0, 2.0, 3.0], 1);
        assert_eq!(line, [[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]);
    }
}
