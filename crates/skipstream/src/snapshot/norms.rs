//! Statistics of the lengths of vectors, which show how training is going.

use serde::Serialize;

/// The lengths of the vectors of a matrix.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Norms {
    /// The name of the matrix.
    pub tensor: String,
    /// The smallest length.
    pub min: f64,
    /// The median length.
    pub median: f64,
    /// The mean length.
    pub mean: f64,
    /// The largest length.
    pub max: f64,
    /// The mean lengths of words of similar frequency, the most frequent first.
    pub by_rank: Vec<Band>,
}

/// Words of similar frequency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Band {
    /// The rank of the most frequent one, from 1.
    pub first: usize,
    /// The rank of the rarest one.
    pub last: usize,
    /// The mean length of their vectors.
    pub mean: f64,
}

/// The length of a vector, given by its bytes.
pub(super) fn norm(row: &[u8]) -> f64 {
    let values = row.as_chunks::<4>().0.iter().map(|&bytes| f64::from(f32::from_le_bytes(bytes)));
    values.map(|value| value * value).sum::<f64>().sqrt()
}

impl Norms {
    /// Of a matrix whose rows are sorted by frequency; nothing for no rows.
    pub(super) fn new(tensor: &str, mut norms: Vec<f64>) -> Option<Norms> {
        let mean = |norms: &[f64]| norms.iter().sum::<f64>() / norms.len() as f64;
        let mut by_rank = Vec::new();
        let mut first = 0;
        // The first ten words, up to the hundredth, up to the thousandth.
        for last in (1..).map(|digits| norms.len().min(10usize.saturating_pow(digits))) {
            if first == norms.len() {
                break;
            }
            by_rank.push(Band { first: first + 1, last, mean: mean(&norms[first..last]) });
            first = last;
        }
        let all = mean(&norms);
        norms.sort_unstable_by(f64::total_cmp);
        let (min, max) = (*norms.first()?, *norms.last()?);
        let middle = norms.len() / 2;
        let median =
            if norms.len() % 2 == 1 { norms[middle] } else { (norms[middle - 1] + norms[middle]) / 2.0 };
        Some(Norms { tensor: tensor.to_owned(), min, median, mean: all, max, by_rank })
    }
}
