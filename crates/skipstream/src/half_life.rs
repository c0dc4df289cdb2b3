//! How fast old text is forgotten.
//!
//! With a half-life H, a token weighs half as much as one that is H younger. Ages are measured by a clock: the number of
//! words in the stream, or the time of the text. It is read at the start of a batch. Weights are relative, so that nothing
//! old has to change while a batch is counted: the tokens of the batch that begins at t weigh 2^(t/H), and when that has
//! doubled, it and every sum of weights are halved (*forward decay*, Cormode and others 2009).
//!
//! Weights are whole numbers of a small unit, and powers are made of square roots, which are exactly rounded. So the sums
//! are the same on every machine.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::units::{Typed, count};

/// The age at which a token counts half.
///
/// ```
/// use skipstream::HalfLife;
///
/// assert_eq!("20M".parse(), Ok(HalfLife::Words(20_000_000)));
/// assert_eq!("30d".parse(), Ok(HalfLife::Seconds(30 * 86_400)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Typed", into = "Typed")]
pub enum HalfLife {
    /// A number of words in the stream.
    Words(u64),
    /// A time between [sentences that have one](crate::corpus::Sentence::set_time). The wall clock plays no part.
    Seconds(u64),
}

/// The smallest weight of a token. The largest is almost twice as much.
const UNIT: f64 = (1 << 20) as f64;

/// Digits of the binary fraction of a power. The last one changes a weight by less than its unit.
const DIGITS: u32 = 32;

/// The time in microseconds from the start of the clock to 1970: 18,000 years.
const EPOCH: i64 = 1 << 59;

/// Units of time, the longest first.
const TIMES: [(&str, u64); 3] = [("d", 86_400), ("h", 3_600), ("s", 1)];

impl HalfLife {
    /// The longest time: ten years.
    pub(crate) const MAX_SECONDS: u64 = 3_650 * 86_400;

    /// What the clock shows at a word of the stream, or at a time in microseconds since 1970.
    pub(crate) fn clock(self, word: u64, time: Option<i64>) -> u64 {
        match (self, time) {
            (HalfLife::Words(_), _) => word,
            // From 0. Like every number in a model file, it is below 2⁶⁰.
            (HalfLife::Seconds(_), Some(time)) => (time.clamp(-EPOCH, EPOCH - 1) + EPOCH) as u64,
            (HalfLife::Seconds(_), None) => 0,
        }
    }

    /// In units of the clock.
    fn length(self) -> u64 {
        match self {
            HalfLife::Words(words) => words,
            HalfLife::Seconds(seconds) => seconds * 1_000_000,
        }
    }

    /// The weight of a token of a batch that begins at this clock, if sums were halved [this many
    /// times](HalfLife::halvings).
    pub(crate) fn weight(self, clock: u64) -> u64 {
        (UNIT * self.power(clock)) as u64
    }

    /// The number of times that sums were halved before the batch that begins at this clock.
    pub(crate) fn halvings(self, clock: u64) -> u64 {
        clock / self.length()
    }

    /// What is left of a weight at this age: 2^(−age / half-life).
    pub(crate) fn left_after(self, age: u64) -> f64 {
        // A power of two is exact.
        0.5f64.powi(self.halvings(age).min(2_000) as i32) / self.power(age)
    }

    /// 2^x for the fraction x of clock / half-life: the product of 2^(1/2), 2^(1/4), … for the binary digits of x.
    fn power(self, clock: u64) -> f64 {
        let half_life = u128::from(self.length());
        let mut rest = u128::from(clock) % half_life;
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
        // Minutes elsewhere, and millions in lower case: neither is meant for sure.
        let is_ambiguous = text.ends_with('m');
        let time = TIMES.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)));
        let half_life = match time {
            Some((number, seconds)) => {
                number.parse().ok().and_then(|n: u64| n.checked_mul(*seconds)).map(HalfLife::Seconds)
            }
            None => count(text).filter(|_| !is_ambiguous).map(HalfLife::Words),
        };
        half_life.ok_or_else(|| {
            format!("`{text}` is neither a number of words such as 20M nor a time such as 30d")
        })
    }
}

impl fmt::Display for HalfLife {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HalfLife::Words(words) => write!(out, "{words}"),
            HalfLife::Seconds(time) => {
                let divides = |(_, seconds): &&(&str, u64)| time.is_multiple_of(*seconds);
                let (unit, seconds) = TIMES.iter().find(divides).expect("every time is a number of seconds");
                write!(out, "{}{unit}", time / seconds)
            }
        }
    }
}

impl TryFrom<Typed> for HalfLife {
    type Error = String;

    fn try_from(typed: Typed) -> Result<HalfLife, String> {
        match typed {
            Typed::Number(words) => Ok(HalfLife::Words(words)),
            Typed::Text(text) => text.parse(),
        }
    }
}

impl From<HalfLife> for Typed {
    fn from(half_life: HalfLife) -> Typed {
        match half_life {
            HalfLife::Words(words) => Typed::Number(words),
            HalfLife::Seconds(_) => Typed::Text(half_life.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_powers_of_two() {
        for half_life in [1, 7, 1_000, 20_000_000, 100_000_000_000] {
            for words in [0, 1, 3, 999, 1_000, 12_345_678, 99_999_999_999, 1 << 59] {
                let this = HalfLife::Words(half_life);
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
        let half_life = HalfLife::Words(7_000_000);
        let weights = [0, 1_000_000, 3_500_000, 6_999_999, 7_000_000].map(|word| half_life.weight(word));
        assert_eq!(weights, [1_048_576, 1_157_721, 1_482_910, 2_097_151, 1_048_576]);
        assert_eq!(half_life.left_after(133_334).to_bits(), 0x3fef_948d_8eca_9843);
    }

    #[test]
    fn a_half_life_is_a_number_of_words_or_a_time() {
        assert_eq!("1_500".parse(), Ok(HalfLife::Words(1_500)));
        assert_eq!("0.5G".parse(), Ok(HalfLife::Words(500_000_000)));
        assert_eq!("30d".parse(), Ok(HalfLife::Seconds(2_592_000)));
        assert_eq!("36h".parse(), Ok(HalfLife::Seconds(129_600)));
        for text in ["", "0", "d", "10m", "-1d", "1.5d", "30 days", "-1M", "long", "99999999999999999d"] {
            let message = text.parse::<HalfLife>().unwrap_err();
            let expected =
                format!("`{text}` is neither a number of words such as 20M nor a time such as 30d");
            assert_eq!(message, expected);
        }
        for (json, half_life) in [
            ("20", HalfLife::Words(20)),
            ("\"30d\"", HalfLife::Seconds(2_592_000)),
            ("\"36h\"", HalfLife::Seconds(129_600)),
            ("\"61s\"", HalfLife::Seconds(61)),
        ] {
            assert_eq!(serde_json::from_str::<HalfLife>(json).unwrap(), half_life);
            assert_eq!(serde_json::to_string(&half_life).unwrap(), json);
        }
        assert_eq!(serde_json::from_str::<HalfLife>("\"20M\"").unwrap(), HalfLife::Words(20_000_000));
    }

    #[test]
    fn times_are_in_order_and_a_half_life_of_time_halves() {
        let day = HalfLife::Seconds(86_400);
        let clocks = [i64::MIN, -1, 0, 1, i64::MAX].map(|time| day.clock(7, Some(time)));
        assert!(clocks.is_sorted());
        let [now, tomorrow] = [0, 86_400_000_000].map(|time| day.clock(7, Some(time)));
        assert_eq!((day.halvings(tomorrow) - day.halvings(now), day.left_after(tomorrow - now)), (1, 0.5));
        assert_eq!(HalfLife::Words(5).clock(7, Some(0)), 7);
    }
}
