//! Numbers with a unit, as people type them.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A number of bytes: `2G` and `2GB` are 2·10⁹, `2Gi` and `2GiB` are 2·2³⁰.
///
/// ```
/// use skipstream::Bytes;
///
/// assert_eq!("2Gi".parse(), Ok(Bytes(2 << 30)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Typed", into = "u64")]
pub struct Bytes(pub u64);

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Bytes, String> {
        let (number, unit) = split(text);
        let unit = unit.strip_suffix(['B', 'b']).unwrap_or(unit);
        let (unit, base) = match unit.strip_suffix(['i', 'I']) {
            Some(unit) if !unit.is_empty() => (unit, 1024),
            _ => (unit, 1000),
        };
        let bytes = scaled(number, unit, base);
        bytes
            .map(Bytes)
            .ok_or_else(|| format!("`{text}` is not a size such as 2G (2·10⁹ bytes) or 2Gi (2·2³⁰)"))
    }
}

/// A number in a settings file, or text with a unit.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Typed {
    Number(u64),
    Text(String),
}

impl TryFrom<Typed> for Bytes {
    type Error = String;

    fn try_from(typed: Typed) -> Result<Bytes, String> {
        match typed {
            Typed::Number(bytes) => Ok(Bytes(bytes)),
            Typed::Text(text) => text.parse(),
        }
    }
}

impl From<Bytes> for u64 {
    fn from(bytes: Bytes) -> u64 {
        bytes.0
    }
}

/// A count such as `10M`, `500k` or `1.5G`.
pub fn count(text: &str) -> Option<u64> {
    let (number, unit) = split(text);
    scaled(number, unit, 1000)
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end =
        text.find(|character: char| !(character.is_ascii_digit() || character == '.' || character == '_'));
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    (number, unit.trim_start())
}

/// The number times its unit, a power of the base. `None` unless it is a whole number above 0.
fn scaled(number: &str, unit: &str, base: u64) -> Option<u64> {
    let power = match unit {
        "" => 0,
        "k" | "K" => 1,
        "m" | "M" => 2,
        "g" | "G" => 3,
        "t" | "T" => 4,
        _ => return None,
    };
    let unit = base.pow(power);
    let number = number.replace('_', "");
    let value = match number.parse::<u64>() {
        Ok(whole) => whole.checked_mul(unit)?,
        Err(_) => {
            let value = number.parse::<f64>().ok()? * unit as f64;
            // Above this, floats skip whole numbers.
            if !(0.0..9e15).contains(&value) {
                return None;
            }
            value.round() as u64
        }
    };
    (value > 0).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_decimal_unless_they_say_otherwise() {
        for (text, bytes) in [
            ("2G", 2_000_000_000),
            ("2GB", 2_000_000_000),
            ("2 GB", 2_000_000_000),
            ("2g", 2_000_000_000),
            ("2Gi", 2 << 30),
            ("2GiB", 2 << 30),
            ("1.5k", 1_500),
            ("512Mi", 512 << 20),
            ("300_000_000", 300_000_000),
            ("10B", 10),
            ("1T", 1_000_000_000_000),
        ] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in
            ["", "G", "0", "0.1", "-1G", "2X", "1e9", "2GG", "i", "Bi", "99999999999T", "1.2.3G", "NaN"]
        {
            let message = text.parse::<Bytes>().unwrap_err();
            assert!(message.starts_with(&format!("`{text}` is not a size such as 2G")), "{message}");
        }
    }

    #[test]
    fn counts_are_decimal() {
        assert_eq!(count("10M"), Some(10_000_000));
        assert_eq!(count("500k"), Some(500_000));
        assert_eq!(count("20_000"), Some(20_000));
        assert_eq!(count("10Mi"), None);
        assert_eq!(count("M"), None);
    }
}
