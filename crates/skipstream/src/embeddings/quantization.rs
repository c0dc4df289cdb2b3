//! Vectors in fewer bytes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::VectorsError;
use super::quantized::{QuantizedRows, QuantizedValues, Values};
use super::rows::Rows;
use super::table::{Table, check_finite};
use super::{Embeddings, Result};
use crate::Error;

/// How vectors are stored in fewer bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantization {
    /// Numbers of half precision: half the size.
    F16,
    /// Numbers from -127 to 127, multiplied by one scale per vector: about a quarter of the size.
    Int8,
}

impl Quantization {
    /// All kinds.
    pub const ALL: [Quantization; 2] = [Quantization::F16, Quantization::Int8];

    /// The names of all kinds.
    pub const NAMES: [&str; 2] = [Quantization::F16.name(), Quantization::Int8.name()];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Quantization::F16 => "f16",
            Quantization::Int8 => "int8",
        }
    }

    /// The largest absolute value that a vector can have.
    const fn limit(self) -> f32 {
        match self {
            Quantization::F16 => 65_504.0,
            // With this scale, 2¹¹⁹, products with all bytes are finite.
            Quantization::Int8 => 127.0 * f32::from_bits((127 + 119) << 23),
        }
    }
}

impl fmt::Display for Quantization {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Quantization {
    type Err = Error;

    fn from_str(name: &str) -> Result<Quantization> {
        let found = Quantization::ALL.into_iter().find(|quantization| quantization.name() == name);
        found.ok_or_else(|| Error::setting("quantize", format!("`{name}`"), Quantization::NAMES.join(" or ")))
    }
}

impl Embeddings {
    /// A copy whose vectors take half the memory (`f16`) or about a quarter of it (`int8`). Queries give the same answers for
    /// it as for the rounded vectors in full precision, and a file that it is saved to is as small.
    ///
    /// It is an error if a value is too large: above 65,504 for `f16`, above 8.4e37 for `int8`.
    ///
    /// ```
    /// # use skipstream::{Embeddings, Quantization};
    /// let embeddings = Embeddings::new(2, [("tea", 7), ("milk", 5)], vec![1.0, 0.5, 0.25, 1.0])?;
    /// let small = embeddings.quantized(Quantization::Int8)?;
    /// let difference = small.similarity("tea", "milk")? - embeddings.similarity("tea", "milk")?;
    /// assert!(difference.abs() < 0.01);
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    pub fn quantized(&self, quantization: Quantization) -> Result<Embeddings> {
        for (row, vector) in self.vectors().enumerate() {
            check_finite(&self.table.words, row, &vector)?;
            if let Some(position) = vector.iter().position(|value| value.abs() > quantization.limit()) {
                return Err(VectorsError::TooLarge {
                    word: self.word(row).to_owned(),
                    number: row + 1,
                    position: position + 1,
                    value: vector[position],
                    quantization,
                    limit: quantization.limit(),
                }
                .into());
            }
        }
        let n_values = self.len() * self.dimensions();
        let values = match quantization {
            Quantization::F16 => {
                let mut values = Vec::with_capacity(n_values);
                for vector in self.vectors() {
                    values.extend(vector.iter().map(|&value| half::f16::from_f32(value).to_bits()));
                }
                QuantizedValues::Halves(Values::Owned(values))
            }
            Quantization::Int8 => {
                let mut values = Vec::with_capacity(n_values);
                let scales = self.vectors().map(|vector| push_bytes(&vector, &mut values)).collect();
                QuantizedValues::Bytes { values: Values::Owned(values), scales }
            }
        };
        let rows: Vec<usize> = (0..self.len()).collect();
        let copy = Embeddings::of(Table {
            dimensions: self.dimensions(),
            words: Embeddings::list(self.words())?,
            counts: self.table.counts.of(&rows),
            rows: Rows::Quantized(QuantizedRows::new(values)),
        });
        let (origin, reading) = (self.origin.clone(), self.reading.clone());
        Ok(Embeddings { has_counts: self.has_counts, origin, reading, ..copy })
    }

    /// How the vectors are stored in fewer bytes, if they are.
    pub fn quantization(&self) -> Option<Quantization> {
        Some(self.quantized_rows()?.quantization())
    }

    pub(crate) fn quantized_rows(&self) -> Option<&QuantizedRows> {
        match &self.table.rows {
            Rows::Quantized(rows) => Some(rows),
            _ => None,
        }
    }
}

/// Rounds a vector to bytes, and returns their scale.
///
/// The scale has 17 significant bits. So its products with bytes are exact: the vector has the same bits wherever it is
/// computed, and rounding it again gives the same bytes.
fn push_bytes(vector: &[f32], bytes: &mut Vec<i8>) -> f32 {
    let largest = vector.iter().fold(0.0, |largest: f32, value| largest.max(value.abs()));
    let scale = f32::from_bits((largest / 127.0).to_bits().next_multiple_of(1 << 7));
    if scale == 0.0 {
        bytes.resize(bytes.len() + vector.len(), 0);
        return scale;
    }
    bytes.extend(vector.iter().map(|&value| (value / scale).round_ties_even() as i8));
    scale
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn one(vector: &[f32]) -> Embeddings {
        Embeddings::new(vector.len(), [("a", 1)], vector.to_vec()).unwrap()
    }

    #[test]
    fn every_name_is_the_same_as_text_and_as_json() {
        for quantization in Quantization::ALL {
            let name = quantization.to_string();
            assert_eq!(name.parse::<Quantization>().unwrap(), quantization);
            assert_eq!(serde_json::to_string(&quantization).unwrap(), format!("\"{name}\""));
        }
        let message = "int4".parse::<Quantization>().unwrap_err().to_string();
        assert_eq!(message, "quantize is `int4`; it must be f16 or int8");
    }

    #[test]
    fn values_that_are_too_large_are_refused_with_their_place() {
        let embeddings =
            Embeddings::new(2, [("a", 2), ("b", 1)], vec![65_504.0, 1.0, 0.0, -65_505.0]).unwrap();
        let message = embeddings.quantized(Quantization::F16).unwrap_err().to_string();
        assert_eq!(message, "value 2 of `b` (word 2) is -65505; f16 has values up to 65504.0");
        assert_eq!(*embeddings.top(1).quantized(Quantization::F16).unwrap().vector_at(0), [65_504.0, 1.0]);
        let message = one(&[-2e38]).quantized(Quantization::Int8).unwrap_err().to_string();
        assert!(message.contains("; int8 has values up to 8.4"), "{message}");
        assert!(one(&[8.4e37]).quantized(Quantization::Int8).is_ok());
    }

    #[test]
    fn a_copy_keeps_what_is_known_of_the_words() {
        let embeddings = Embeddings::new(1, [("a", 9), ("b", 5), ("c", 4)], vec![1.0, 2.0, 3.0]).unwrap();
        for quantization in Quantization::ALL {
            let copy = embeddings.top(2).quantized(quantization).unwrap();
            assert!(copy.words().eq(["a", "b"]) && copy.has_counts() && !copy.is_mapped());
            assert_eq!((copy.count(1), copy.quantization()), (5, Some(quantization)));
            for (found, expected) in copy.matrix().iter().zip([1.0, 2.0]) {
                assert!((found / expected - 1.0).abs() < 2e-5, "{found} {expected}");
            }
            assert_eq!(*copy.top(1).matrix(), copy.matrix()[..1]);
            assert_eq!(copy.normalized().unwrap().quantization(), None);
        }
        assert_eq!(embeddings.quantization(), None);
    }

    proptest! {
        #[test]
        fn values_are_rounded_and_rounding_again_changes_nothing(
            vector in proptest::collection::vec(
                prop_oneof![-1f32..1.0, Just(0.0), Just(-8e37), Just(1e-44), Just(1e-30)], 1..40)
        ) {
            let largest = vector.iter().fold(0f32, |largest, value| largest.max(value.abs()));
            let rounded = one(&vector).quantized(Quantization::Int8).unwrap();
            // Half a step, and the rounding of the scale: below 2⁻¹⁰ of a step, or the smallest that there is.
            let step = f64::from(largest) / 127.0 * 0.501 + 1e-43;
            for (&old, &new) in vector.iter().zip(rounded.vector_at(0).iter()) {
                prop_assert!(new.is_finite());
                prop_assert!((f64::from(old) - f64::from(new)).abs() <= step, "{} {}", old, new);
            }
            let again = one(&rounded.vector_at(0)).quantized(Quantization::Int8).unwrap();
            prop_assert_eq!(again.matrix(), rounded.matrix());
        }
    }
}
