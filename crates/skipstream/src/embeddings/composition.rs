//! How a word's two rows in a model become its vector. This file defines what each kind of [`Vectors`] is.

use super::Vectors;

/// Makes the vectors of one kind from target and context rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Composition {
    vectors: Vectors,
    /// The means of target and context rows, if they are subtracted.
    means: [Vec<f32>; 2],
}

impl Composition {
    /// Reads all rows of a model if the vectors are centered. `rows` are the target and context row of each word, the
    /// most frequent word first: the order is part of the definition, because it decides how sums are rounded.
    pub fn of<'a>(
        vectors: Vectors,
        dimensions: usize,
        rows: impl Iterator<Item = [&'a [f32]; 2]>,
    ) -> Composition {
        let mut means = [Mean::none(dimensions), Mean::none(dimensions)];
        if vectors.is_centered() {
            rows.for_each(|row| means.iter_mut().zip(row).for_each(|(mean, row)| mean.add(row)));
        }
        let means = means.map(Mean::finish);
        Composition { vectors, means }
    }

    /// Writes the vector of a word.
    ///
    /// # Panics
    /// If the vector does not have the length that [`Vectors::dimensions`] returns.
    #[inline(always)]
    pub fn write(&self, [target, context]: [&[f32]; 2], vector: &mut [f32]) {
        assert_eq!(vector.len(), self.vectors.dimensions(target.len()), "the length of a vector");
        match self.vectors {
            Vectors::Target => vector.copy_from_slice(target),
            Vectors::Context => vector.copy_from_slice(context),
            Vectors::Sum => {
                let rows = target.iter().zip(context);
                vector.iter_mut().zip(rows).for_each(|(value, (target, context))| *value = target + context);
            }
            Vectors::Joined => {
                let halves = vector.chunks_exact_mut(target.len());
                for (half, (row, mean)) in halves.zip([target, context].into_iter().zip(&self.means)) {
                    let row = row.iter().zip(mean);
                    half.iter_mut().zip(row).for_each(|(value, (row, mean))| *value = row - mean);
                }
            }
        }
    }
}

/// The mean of the rows of a matrix.
struct Mean {
    sums: Vec<f64>,
    n_rows: u64,
}

impl Mean {
    fn none(dimensions: usize) -> Mean {
        Mean { sums: vec![0.0; dimensions], n_rows: 0 }
    }

    /// A row with a value that is not finite is left out, so that it spoils only its own word.
    fn add(&mut self, row: &[f32]) {
        // Without a branch per value, which would keep the compiler from vectorizing this.
        if row.iter().fold(true, |all, value| all & value.is_finite()) {
            self.sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f64::from(value));
            self.n_rows += 1;
        }
    }

    fn finish(self) -> Vec<f32> {
        let n_rows = self.n_rows.max(1) as f64;
        self.sums.into_iter().map(|sum| (sum / n_rows) as f32).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The target and context rows of three words.
    const TARGETS: [[f32; 2]; 3] = [[1.0, 2.0], [3.0, -2.0], [5.0, 3.0]];
    const CONTEXTS: [[f32; 2]; 3] = [[0.5, 0.0], [0.0, 4.0], [1.0, -1.0]];

    fn rows<'a>() -> impl Iterator<Item = [&'a [f32]; 2]> {
        TARGETS.iter().zip(&CONTEXTS).map(|(target, context)| [&target[..], &context[..]])
    }

    fn composed(vectors: Vectors) -> Vec<Vec<f32>> {
        let composition = Composition::of(vectors, 2, rows());
        let vector = |row| {
            let mut vector = vec![f32::NAN; vectors.dimensions(2)];
            composition.write(row, &mut vector);
            vector
        };
        rows().map(vector).collect()
    }

    #[test]
    fn every_kind_is_made_of_the_two_rows() {
        assert_eq!(composed(Vectors::Target), TARGETS);
        assert_eq!(composed(Vectors::Context), CONTEXTS);
        assert_eq!(composed(Vectors::Sum), [[1.5, 2.0], [3.0, 2.0], [6.0, 2.0]]);
        // The mean target is (3, 1), the mean context (0.5, 1).
        let joined = [[-2.0, 1.0, 0.0, -1.0], [0.0, -3.0, -0.5, 3.0], [2.0, 2.0, 0.5, -2.0]];
        assert_eq!(composed(Vectors::Joined), joined);
    }

    #[test]
    fn a_row_that_is_not_finite_does_not_move_the_mean() {
        for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let spoilt = [0.25, odd];
            let more = rows().chain([[&spoilt[..], &[9.0, 9.0][..]]]);
            let composition = Composition::of(Vectors::Joined, 2, more);
            assert_eq!(composition.means, [vec![3.0, 1.0], vec![2.625, 3.0]]);
        }
        let none = Composition::of(Vectors::Joined, 2, std::iter::empty());
        assert_eq!(none.means, [[0.0, 0.0], [0.0, 0.0]]);
    }

    #[test]
    fn many_small_rows_are_not_lost_beside_a_large_one() {
        let (large, small) = ([3e8f32], [1.0f32]);
        let rows = (0..1_001).map(|place| if place == 0 { [&large[..]; 2] } else { [&small[..]; 2] });
        let composition = Composition::of(Vectors::Joined, 1, rows);
        assert_eq!(composition.means[0], [((3e8 + 1e3) / 1_001.0) as f32]);
    }
}
