//! How fast old text is forgotten.
//!
//! With a half-life of H words, a token weighs half as much as one that comes H words later. Weights are relative, so that
//! nothing old has to change while a batch is counted: the tokens of the batch that begins with word t weigh 2^(t/H), and
//! when that has doubled, it and every sum of weights are halved (*forward decay*, Cormode and others 2009).
//!
//! Weights are whole numbers of a small unit, and powers are made of square roots, which are exactly rounded. So the sums
//! are the same on every machine.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::units::{Typed, count};

/// The number of words after which a token counts half.
///
/// ```
/// use skipstream::HalfLife;
///
/// assert_eq!("20M".parse(), Ok(HalfLife(20_000_000)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Typed", into = "u64")]
pub struct HalfLife(pub u64);

/// The smallest weight of a token. The largest is almost twice as much.
const UNIT: f64 = (1 << 20) as f64;

/// Digits of the binary fraction of a power. The last one changes a weight by less than its unit.
const DIGITS: u32 = 32;

impl HalfLife {
    /// What a text of this many words weighs after its last word, in words that have just been read: fewer, and never more
    /// than 1.44 half-lives.
    ///
    /// ```
    /// # use skipstream::HalfLife;
    /// assert_eq!([1_000, 1_000_000, 100_000_000].map(|words| HalfLife(1_000_000).recent(words)), [1_000, 721_348, 1_442_695]);
    /// ```
    pub fn recent(self, words: u64) -> u64 {
        let half_life = self.0 as f64 / std::f64::consts::LN_2;
        (-(-(words as f64) / half_life).exp_m1() * half_life).round() as u64
    }

    /// The weight of a token of a batch that begins with this word, if sums were halved [so often](HalfLife::halvings).
    pub(crate) fn weight(self, word: u64) -> u64 {
        (UNIT * self.power(word)) as u64
    }

    /// How often sums were halved before the batch that begins with this word.
    pub(crate) fn halvings(self, word: u64) -> u64 {
        word / self.0
    }

    /// What is left of a weight after this many words: 2^(−words / half-life).
    pub(crate) fn left_after(self, words: u64) -> f64 {
        // A power of two is exact.
        0.5f64.powi(self.halvings(words).min(2_000) as i32) / self.power(words)
    }

    /// 2^x for the fraction x of words / half-life: the product of 2^(1/2), 2^(1/4), … for the binary digits of x.
    fn power(self, words: u64) -> f64 {
        let half_life = u128::from(self.0);
        let mut rest = u128::from(words) % half_life;
        let (mut power, mut root) = (1.0, 2.0f64);
        for _ in 0..DIGITS {
            root = root.sqrt();
            rest *= 2;
            if rest >= half_life {
                rest -= half_life;
                power *= root;
            }
        }
        power
    }
}

impl FromStr for HalfLife {
    type Err = String;

    fn from_str(text: &str) -> Result<HalfLife, String> {
        count(text).map(HalfLife).ok_or_else(|| format!("`{text}` is not a number of words such as 20M"))
    }
}

impl TryFrom<Typed> for HalfLife {
    type Error = String;

    fn try_from(typed: Typed) -> Result<HalfLife, String> {
        match typed {
            Typed::Number(words) => Ok(HalfLife(words)),
            Typed::Text(text) => text.parse(),
        }
    }
}

impl From<HalfLife> for u64 {
    fn from(half_life: HalfLife) -> u64 {
        half_life.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_powers_of_two() {
        for half_life in [1, 7, 1_000, 20_000_000, 100_000_000_000] {
            for words in [0, 1, 3, 999, 1_000, 12_345_678, 99_999_999_999, 1 << 59] {
                let this = HalfLife(half_life);
                let weight = this.weight(words) as f64 / UNIT;
                let fraction = (words % half_life) as f64 / half_life as f64;
                assert!((weight - fraction.exp2()).abs() < 3e-6, "{words} of {half_life}");
                let left = (-(words as f64) / half_life as f64).exp2();
                assert!((this.left_after(words) - left).abs() <= 1e-6 * left, "{words} of {half_life}");
            }
        }
    }

    /// The same on every machine.
    #[test]
    fn weights_do_not_change() {
        let half_life = HalfLife(7_000_000);
        let weights = [0, 1_000_000, 3_500_000, 6_999_999, 7_000_000].map(|word| half_life.weight(word));
        assert_eq!(weights, [1_048_576, 1_157_721, 1_482_910, 2_097_151, 1_048_576]);
        assert_eq!(half_life.left_after(133_334).to_bits(), 0x3fef_948d_8eca_9843);
    }

    #[test]
    fn a_half_life_is_a_number_of_words() {
        assert_eq!("1_500".parse(), Ok(HalfLife(1_500)));
        assert_eq!("0.5G".parse(), Ok(HalfLife(500_000_000)));
        for text in ["", "0", "30d", "-1M", "long"] {
            let message = text.parse::<HalfLife>().unwrap_err();
            assert_eq!(message, format!("`{text}` is not a number of words such as 20M"));
        }
        assert_eq!(serde_json::from_str::<HalfLife>("\"20M\"").unwrap(), HalfLife(20_000_000));
        assert_eq!(serde_json::to_string(&HalfLife(20)).unwrap(), "20");
    }
}
