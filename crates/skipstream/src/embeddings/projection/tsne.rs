//! t-SNE (van der Maaten and Hinton, 2008), exact: all pairs are computed, which for a few hundred points is fast enough.
//!
//! The points start at their principal components instead of at random, so that the result is deterministic and similar
//! vectors have similar maps (Kobak and Linderman, 2021).

use std::ops::ControlFlow;

/// The effective number of neighbors; less if there are few points.
const PERPLEXITY: f64 = 30.0;

const ITERATIONS: usize = 350;

/// Early exaggeration: the number of iterations, and the factor by which attraction is stronger.
const EXAGGERATED: usize = 80;
const EXAGGERATION: f64 = 12.0;

/// The squared distances of all pairs of points, row by row. The points are concatenated.
pub(super) fn squared_distances(points: &[f32], dimensions: usize) -> Vec<f64> {
    let rows = || points.chunks_exact(dimensions);
    let square = |left: &[f32], right: &[f32]| -> f32 {
        left.iter().zip(right).map(|(left, right)| (left - right) * (left - right)).sum()
    };
    rows().flat_map(|left| rows().map(move |right| f64::from(square(left, right)))).collect()
}

/// Moves points from their start until neighbors are near one another, by the squared distances of all pairs. `None` if the
/// observer has ended it.
pub(super) fn arrange(
    squares: &[f64],
    mut places: Vec<[f64; 2]>,
    observer: &mut dyn FnMut() -> ControlFlow<()>,
) -> Option<Vec<[f64; 2]>> {
    let n = places.len();
    // Fewer points have no neighborhoods.
    if n < 4 {
        return Some(places);
    }
    let likelihoods = symmetric(squares, n, PERPLEXITY.min((n as f64 - 1.0) / 3.0));
    shrink(&mut places);
    let rate = (n as f64 / EXAGGERATION).max(50.0);
    let mut steps = vec![[0.0; 2]; n];
    let mut gains = vec![[1.0f64; 2]; n];
    let mut weights = vec![0.0; n * n];
    for iteration in 0..ITERATIONS {
        if observer().is_break() {
            return None;
        }
        let exaggeration = if iteration < EXAGGERATED { EXAGGERATION } else { 1.0 };
        let momentum = if iteration < EXAGGERATED { 0.5 } else { 0.8 };
        let gradient = gradient(&likelihoods, &places, exaggeration, &mut weights);
        for ((place, step), (gain, gradient)) in
            places.iter_mut().zip(&mut steps).zip(gains.iter_mut().zip(gradient))
        {
            for axis in 0..2 {
                // The step grows while its direction stays the same (Jacobs, 1988).
                let turns = (gradient[axis] > 0.0) == (step[axis] > 0.0);
                gain[axis] = if turns { (gain[axis] * 0.8).max(0.01) } else { gain[axis] + 0.2 };
                step[axis] = momentum * step[axis] - rate * gain[axis] * gradient[axis];
                place[axis] += step[axis];
            }
        }
    }
    Some(places)
}

/// The symmetric joint probabilities of all pairs. They sum to 1.
fn symmetric(squares: &[f64], n: usize, perplexity: f64) -> Vec<f64> {
    let mut picks = vec![0.0; n * n];
    for (point, (row, squares)) in picks.chunks_exact_mut(n).zip(squares.chunks_exact(n)).enumerate() {
        pick(row, squares, point, perplexity);
    }
    let mut likelihoods = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            likelihoods[i * n + j] = ((picks[i * n + j] + picks[j * n + i]) / (2.0 * n as f64)).max(1e-12);
        }
        likelihoods[i * n + i] = 0.0;
    }
    likelihoods
}

/// The probabilities with which a point picks each other as its neighbor. The precision of the normal distribution that gives
/// the perplexity is found by bisection.
fn pick(row: &mut [f64], squares: &[f64], point: usize, perplexity: f64) {
    let nearest =
        (0..row.len()).filter(|&other| other != point).map(|other| squares[other]).fold(f64::MAX, f64::min);
    let (mut low, mut high, mut precision) = (0.0, f64::INFINITY, 1.0);
    for _ in 0..60 {
        let mut sum = 0.0;
        for (other, (value, square)) in row.iter_mut().zip(squares).enumerate() {
            *value = if other == point { 0.0 } else { (-precision * (square - nearest)).exp() };
            sum += *value;
        }
        let mut entropy = 0.0;
        for value in row.iter_mut() {
            *value /= sum;
            if *value > 0.0 {
                entropy -= *value * value.ln();
            }
        }
        let difference = entropy - perplexity.ln();
        if difference.abs() < 1e-5 {
            break;
        }
        if difference > 0.0 {
            low = precision;
            precision = if high.is_finite() { (precision + high) / 2.0 } else { precision * 2.0 };
        } else {
            high = precision;
            precision = (precision + low) / 2.0;
        }
        // Equal distances give the same perplexity at any precision.
        precision = precision.min(1e12);
    }
}

/// Points start close together, so that they can pass one another.
fn shrink(places: &mut [[f64; 2]]) {
    let largest = places.iter().flatten().fold(0.0f64, |largest, value| largest.max(value.abs()));
    if largest > 0.0 {
        places.iter_mut().flatten().for_each(|value| *value *= 1e-2 / largest);
    }
}

/// 4 Σⱼ (pᵢⱼ − qᵢⱼ) wᵢⱼ (yᵢ − yⱼ) with wᵢⱼ = 1 / (1 + |yᵢ − yⱼ|²) and qᵢⱼ = wᵢⱼ / Σ w.
fn gradient(
    likelihoods: &[f64],
    places: &[[f64; 2]],
    exaggeration: f64,
    weights: &mut [f64],
) -> Vec<[f64; 2]> {
    let n = places.len();
    let mut sum = 0.0;
    for (i, row) in weights.chunks_exact_mut(n).enumerate() {
        for (weight, other) in row.iter_mut().zip(places) {
            let (x, y) = (places[i][0] - other[0], places[i][1] - other[1]);
            *weight = 1.0 / (1.0 + x * x + y * y);
        }
        row[i] = 0.0;
        sum += row.iter().sum::<f64>();
    }
    let one_point = |i: usize| {
        let mut total = [0.0; 2];
        let pairs = likelihoods[i * n..][..n].iter().zip(&weights[i * n..][..n]).zip(places);
        for ((likelihood, weight), other) in pairs {
            let pull = 4.0 * (exaggeration * likelihood - weight / sum) * weight;
            total[0] += pull * (places[i][0] - other[0]);
            total[1] += pull * (places[i][1] - other[1]);
        }
        total
    };
    (0..n).map(one_point).collect()
}

#[cfg(test)]
mod tests {
    use super::super::pca;
    use super::*;
    use crate::random::Random;

    fn principal_components(points: &[f32], dimensions: usize) -> Vec<[f64; 2]> {
        pca::principal_components(points, dimensions, &mut || ControlFlow::Continue(())).unwrap()
    }

    fn arrange(squares: &[f64], places: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
        super::arrange(squares, places, &mut || ControlFlow::Continue(())).unwrap()
    }

    /// Clusters of points, thirty in each.
    fn clusters(n_clusters: usize) -> Vec<f32> {
        let mut random = Random::new(2);
        let mut points = Vec::new();
        for cluster in 0..n_clusters {
            for _ in 0..30 {
                for dimension in 0..10 {
                    let center = if dimension == cluster { 1.0 } else { 0.0 };
                    points.push(center + 0.2 * (random.uniform() as f32 - 0.5));
                }
            }
        }
        points
    }

    #[test]
    fn neighbors_stay_neighbors() {
        let points = clusters(5);
        let places = arrange(&squared_distances(&points, 10), principal_components(&points, 10));
        assert!(places.iter().flatten().all(|value| value.is_finite()));
        for (point, place) in places.iter().enumerate() {
            let square = |other: &[f64; 2]| (place[0] - other[0]).powi(2) + (place[1] - other[1]).powi(2);
            let mut others: Vec<usize> = (0..places.len()).filter(|&other| other != point).collect();
            others.sort_by(|&left, &right| square(&places[left]).total_cmp(&square(&places[right])));
            let at_home = others[..10].iter().filter(|&&other| other / 30 == point / 30).count();
            assert!(at_home >= 9, "{point} has {at_home} of its cluster among ten");
        }
    }

    #[test]
    fn the_gradient_is_that_of_the_divergence() {
        let points = clusters(2);
        let n = points.len() / 10;
        let likelihoods = symmetric(&squared_distances(&points, 10), n, 10.0);
        assert!((likelihoods.iter().sum::<f64>() - 1.0).abs() < 1e-6);
        let mut places = principal_components(&points, 10);
        let divergence = |places: &[[f64; 2]]| -> f64 {
            let weight = |i: usize, j: usize| {
                let (x, y) = (places[i][0] - places[j][0], places[i][1] - places[j][1]);
                if i == j { 0.0 } else { 1.0 / (1.0 + x * x + y * y) }
            };
            let sum: f64 = (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| weight(i, j)).sum();
            let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|(i, j)| i != j);
            pairs
                .map(|(i, j)| likelihoods[i * n + j] * (likelihoods[i * n + j] / (weight(i, j) / sum)).ln())
                .sum()
        };
        let gradient = gradient(&likelihoods, &places, 1.0, &mut vec![0.0; n * n]);
        for (point, axis) in [(0, 0), (7, 1), (45, 0)] {
            let step = 1e-5;
            places[point][axis] += step;
            let above = divergence(&places);
            places[point][axis] -= 2.0 * step;
            let below = divergence(&places);
            places[point][axis] += step;
            let slope = (above - below) / (2.0 * step);
            assert!((slope - gradient[point][axis]).abs() < 1e-6, "{slope} {}", gradient[point][axis]);
        }
    }

    #[test]
    fn each_point_has_the_requested_perplexity() {
        let points = clusters(3);
        let squares = squared_distances(&points, 10);
        let n = 90;
        let mut row = vec![0.0; n];
        pick(&mut row, &squares[..n], 0, 12.0);
        let entropy: f64 = row.iter().filter(|value| **value > 0.0).map(|value| -value * value.ln()).sum();
        assert!((entropy.exp() - 12.0).abs() < 0.01);
        assert_eq!(row[0], 0.0);
    }

    #[test]
    fn points_in_one_place_and_few_points_stay_finite() {
        for n in [0, 1, 2, 3, 4, 7] {
            let places = arrange(&vec![0.0; n * n], vec![[0.0; 2]; n]);
            assert!(places.len() == n && places.iter().flatten().all(|value| value.is_finite()));
        }
    }
}
