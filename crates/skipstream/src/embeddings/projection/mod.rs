//! Words on a plane: principal components and t-SNE.
//!
//! Both are deterministic functions of the vectors, and small changes of the vectors change the picture little.

mod pca;
mod tsne;

use std::ops::ControlFlow;

use super::Embeddings;

/// How vectors are projected onto a plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Projection {
    /// The two principal components: the directions of the largest variance.
    #[default]
    Pca,
    /// t-SNE, which keeps near words together. It takes time and memory quadratic in the number of words.
    Tsne,
}

impl Embeddings {
    /// The coordinates of some rows on a plane, centered, from their vectors scaled to length 1.
    ///
    /// ```
    /// # use skipstream::embeddings::{Embeddings, Projection};
    /// let words = [("west", 4), ("center", 3), ("east", 2)];
    /// let embeddings = Embeddings::new(2, words, vec![-1.0, 0.0, 0.0, 0.0, 1.0, 0.0])?;
    /// let points = embeddings.project(&[0, 1, 2], Projection::Pca);
    /// assert_eq!(points, [[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]);
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    ///
    /// # Panics
    /// If a row does not exist.
    pub fn project(&self, rows: &[usize], projection: Projection) -> Vec<[f64; 2]> {
        let points = self.project_observed(rows, projection, &mut || ControlFlow::Continue(()));
        points.expect("nobody ends the projection")
    }

    /// Projects as [`Embeddings::project`] does, and calls `observer` before each iteration. If it returns
    /// [`ControlFlow::Break`], the projection ends with `None`.
    ///
    /// # Panics
    /// If a row does not exist.
    pub fn project_observed(
        &self,
        rows: &[usize],
        projection: Projection,
        observer: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Option<Vec<[f64; 2]>> {
        let vectors: Vec<f32> = rows.iter().flat_map(|&row| self.unit_vector(row)).collect();
        let mut points = pca::principal_components(&vectors, self.dimensions(), observer)?;
        if projection == Projection::Tsne {
            let squares = tsne::squared_distances(&vectors, self.dimensions());
            points = tsne::arrange(&squares, points, observer)?;
            let n = points.len().max(1) as f64;
            for axis in 0..2 {
                let mean = points.iter().map(|point| point[axis]).sum::<f64>() / n;
                points.iter_mut().for_each(|point| point[axis] -= mean);
            }
        }
        Some(points)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embeddings::testing::random_embeddings;

    #[test]
    fn a_projection_ends_when_the_observer_says_so() {
        let embeddings = random_embeddings(40, 3);
        let rows: Vec<usize> = (0..40).collect();
        for (projection, last) in [(Projection::Pca, 7), (Projection::Tsne, 300)] {
            let mut calls = 0;
            let ended = embeddings.project_observed(&rows, projection, &mut || {
                calls += 1;
                if calls == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            assert_eq!((ended, calls), (None, last));
        }
    }

    #[test]
    fn any_number_of_words_has_a_finite_centered_projection() {
        for n_words in [0, 1, 2, 3, 4, 40] {
            let embeddings = random_embeddings(n_words, 3);
            let rows: Vec<usize> = (0..n_words).collect();
            for projection in [Projection::Pca, Projection::Tsne] {
                let points = embeddings.project(&rows, projection);
                assert_eq!(points.len(), n_words);
                assert!(points.iter().flatten().all(|value| value.is_finite()));
                let mean = points.iter().map(|point| point[0]).sum::<f64>() / n_words.max(1) as f64;
                assert!(mean.abs() < 1e-6, "{projection:?} {n_words} {mean}");
                assert_eq!(points, embeddings.project(&rows, projection), "it is deterministic");
            }
        }
    }
}
