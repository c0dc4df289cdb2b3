//! Statistics of the lengths of vectors, which show how training is going.

use half::f16;
use safetensors::Dtype;
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

/// The length of a vector, given by its bytes. That of one byte per value is without its scale.
pub(super) fn norm(row: &[u8], dtype: Dtype) -> f64 {
    fn length(values: impl Iterator<Item = f64>) -> f64 {
        values.map(|value| value * value).sum::<f64>().sqrt()
    }
    match dtype {
        Dtype::I8 => length(row.iter().map(|&byte| f64::from(byte.cast_signed()))),
        Dtype::F16 => length(row.as_chunks().0.iter().map(|&bytes| f16::from_le_bytes(bytes).to_f64())),
        _ => length(floats(row)),
    }
}

/// The numbers that bytes are.
pub(super) fn floats(bytes: &[u8]) -> impl Iterator<Item = f64> {
    bytes.as_chunks().0.iter().map(|&bytes| f64::from(f32::from_le_bytes(bytes)))
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
