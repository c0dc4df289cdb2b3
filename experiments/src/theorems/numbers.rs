//! Numbers as the report writes them.

use super::results::Estimate;
use crate::text::grouped;

/// `10⁴`, or the number if it is no power of ten.
pub fn power(n: usize) -> String {
    match n.checked_ilog10() {
        Some(exponent) if 10usize.pow(exponent) == n => format!("10{}", superscript(exponent as i32)),
        _ => grouped(n as u64),
    }
}

/// `(3.66 ± 0.07)·10⁻²`.
pub fn estimate(Estimate { value, error }: Estimate) -> String {
    let exponent = value.abs().max(error).log10().floor();
    if !exponent.is_finite() {
        return "0".into();
    }
    let scale = 10f64.powf(exponent);
    // One more digit than the error begins with, but no more than five.
    let decimals = (exponent - error.log10().floor()).clamp(1.0, 4.0) as usize + usize::from(error > 0.0);
    let decimals = decimals.min(4);
    format!(
        "({:.decimals$} ± {:.decimals$})·10{}",
        value / scale,
        error / scale,
        superscript(exponent as i32)
    )
    .replace('-', "−")
}

/// `3.66·10⁻²`.
pub fn scientific(value: f64) -> String {
    let exponent = value.abs().log10().floor();
    if !exponent.is_finite() {
        return "0".into();
    }
    format!("{:.3}·10{}", value / 10f64.powf(exponent), superscript(exponent as i32)).replace('-', "−")
}

/// `1.03 ± 0.02`, with two digits of the error.
pub fn ratio(Estimate { value, error }: Estimate) -> String {
    let decimals = if error > 0.0 { (1.0 - error.log10().floor()).clamp(0.0, 4.0) as usize } else { 3 };
    format!("{value:.decimals$} ± {error:.decimals$}").replace('-', "−")
}

fn superscript(number: i32) -> String {
    number
        .to_string()
        .chars()
        .map(|digit| match digit {
            '-' => '⁻',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            digit => char::from_u32(0x2070 + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_show_what_is_known_of_them() {
        assert_eq!(power(10_000_000), "10⁷");
        assert_eq!(power(2_500), "2,500");
        assert_eq!(scientific(-0.036_634), "−3.663·10⁻²");
        assert_eq!(estimate(Estimate { value: 0.036_634, error: 0.000_71 }), "(3.663 ± 0.071)·10⁻²");
        assert_eq!(estimate(Estimate { value: -0.000_2, error: 0.003 }), "(−0.20 ± 3.00)·10⁻³");
        assert_eq!(ratio(Estimate { value: 1.029, error: 0.0196 }), "1.029 ± 0.020");
        assert_eq!(ratio(Estimate { value: 12.2, error: 19.5 }), "12 ± 20");
    }
}
