//! Where an axis begins and ends, and the numbers that stand at it.

use crate::text::grouped;

use super::chart::Scale;

/// About how many numbers stand at a linear axis.
const N_LABELS: f64 = 8.0;

/// The range of an axis and its ticks.
pub(super) struct Ticks {
    scale: Scale,
    /// The values at both ends.
    from: f64,
    to: f64,
    /// Values with a number.
    pub labelled: Vec<(f64, String)>,
    /// Values with a short mark only.
    pub bare: Vec<f64>,
}

impl Ticks {
    /// An axis on which all values from `lowest` to `highest` have a place; positive ones, if it is logarithmic.
    pub fn new(scale: Scale, lowest: f64, highest: f64) -> Self {
        match scale {
            Scale::Linear => Self::linear(lowest, highest),
            Scale::Log => Self::logarithmic(lowest, highest),
        }
    }

    /// Where a value lies: 0 at the beginning and 1 at the end.
    pub fn share(&self, value: f64) -> f64 {
        let along = |value: f64| match self.scale {
            Scale::Linear => value,
            Scale::Log => value.log10(),
        };
        (along(value) - along(self.from)) / (along(self.to) - along(self.from))
    }

    fn linear(lowest: f64, highest: f64) -> Self {
        let span = match highest - lowest {
            0.0 if lowest == 0.0 => 1.0,
            0.0 => lowest.abs(),
            span => span,
        };
        // Zero is shown where it is not far: a difference should not look larger than it is.
        let from = if lowest >= 0.0 && lowest < 2.0 * span { 0.0 } else { lowest - 0.05 * span };
        let to = if highest < 0.0 && -highest < 2.0 * span { 0.0 } else { highest + 0.05 * span };
        let step = round_step((to - from) / N_LABELS);
        let first = (from / step - 1e-9).ceil() as i64;
        let last = (to / step + 1e-9).floor() as i64;
        let labelled = (first..=last).map(|n| (n as f64 * step, number(n as f64 * step, step))).collect();
        Self { scale: Scale::Linear, from, to, labelled, bare: Vec::new() }
    }

    fn logarithmic(lowest: f64, highest: f64) -> Self {
        let (low, high) = (lowest.log10(), highest.log10());
        let margin = if low == high { 0.5 } else { 0.04 * (high - low) };
        let (low, high) = (low - margin, high + margin);
        let mut decades = Vec::new();
        let mut between = Vec::new();
        for exponent in low.floor() as i32..=high.ceil() as i32 {
            decades.push((1, exponent));
            between.extend((2..10).map(|digit| (digit, exponent)));
        }
        let value = |(digit, exponent): (i32, i32)| {
            // Of the decimal text, so that 10⁻³ is the nearest number to it.
            format!("{digit}e{exponent}").parse().unwrap_or(f64::NAN)
        };
        let inside = |&place: &(i32, i32)| (low..=high).contains(&f64::log10(value(place)));
        decades.retain(inside);
        between.retain(inside);
        let every = decades.len().div_ceil(10).max(1) as i32;
        // Two powers of ten are too few numbers to read a value by.
        let with_digits = decades.len() < 3;
        let is_labelled = |&(digit, exponent): &(i32, i32)| {
            if with_digits { matches!(digit, 1 | 2 | 5) } else { digit == 1 && exponent % every == 0 }
        };
        let (mut labelled, bare): (Vec<_>, Vec<_>) =
            decades.into_iter().chain(between).partition(is_labelled);
        labelled.sort_by_key(|&(digit, exponent)| (exponent, digit));
        Self {
            scale: Scale::Log,
            from: 10f64.powf(low),
            to: 10f64.powf(high),
            labelled: labelled.into_iter().map(|place| (value(place), power(place, with_digits))).collect(),
            // Marks between many decades would be a grey band.
            bare: if every == 1 { bare.into_iter().map(value).collect() } else { Vec::new() },
        }
    }
}

/// 1, 2 or 5 times a power of ten, at least `step`.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= step * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

/// A number at a linear axis, with the digits that the step needs.
fn number(value: f64, step: f64) -> String {
    let exponent = step.log10().floor() as i32;
    if value == 0.0 {
        return "0".into();
    }
    if exponent < -4 || value.abs() >= 1e7 {
        let exponent = value.abs().log10().floor() as i32;
        let digits = (exponent - step.log10().floor() as i32).max(0) as usize;
        let mantissa = value / 10f64.powi(exponent);
        return format!("{mantissa:.digits$}·10{}", raised(exponent)).replace('-', "−");
    }
    let decimals = (-exponent).max(0) as usize;
    if decimals == 0 && value.abs() >= 10_000.0 {
        let sign = if value < 0.0 { "−" } else { "" };
        return sign.to_owned() + &grouped(value.abs().round() as u64);
    }
    format!("{value:.decimals$}").replace('-', "−")
}

/// A number at a logarithmic axis: a power of ten, or where these are too few, a digit with one.
fn power((digit, exponent): (i32, i32), with_digits: bool) -> String {
    match (digit, exponent) {
        (_, -3..=3) if with_digits => {
            let decimals = (-exponent).max(0) as usize;
            format!("{:.decimals$}", f64::from(digit) * 10f64.powi(exponent))
        }
        (1, 0) => "1".into(),
        (1, 1) => "10".into(),
        (1, _) => format!("10{}", raised(exponent)),
        _ => format!("{digit}·10{}", raised(exponent)),
    }
}

/// A number in raised digits.
fn raised(number: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raise = |digit: char| digit.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize]);
    number.to_string().chars().map(raise).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &Ticks) -> Vec<&str> {
        ticks.labelled.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn a_logarithmic_axis_has_powers_of_ten() {
        let ticks = Ticks::new(Scale::Log, 1e-5, 1e2);
        assert_eq!(labels(&ticks), ["10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "1", "10", "10²"]);
        assert_eq!(ticks.labelled[2].0, 1e-3);
        assert!(ticks.share(1e-5) > 0.0 && ticks.share(1e2) < 1.0);
        assert!((ticks.share(10f64.powf(-1.5)) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_short_logarithmic_axis_has_numbers_between() {
        assert_eq!(labels(&Ticks::new(Scale::Log, 1.5, 60.0)), ["2", "5", "10", "20", "50"]);
        assert_eq!(labels(&Ticks::new(Scale::Log, 0.1, 8.0)), ["0.1", "0.2", "0.5", "1", "2", "5"]);
        assert_eq!(labels(&Ticks::new(Scale::Log, 3e-6, 3e-6)), ["10⁻⁶", "2·10⁻⁶", "5·10⁻⁶"]);
        assert_eq!(labels(&Ticks::new(Scale::Log, 0.03, 0.3)), ["0.05", "0.1", "0.2"]);
    }

    #[test]
    fn a_long_logarithmic_axis_leaves_powers_out() {
        let ticks = Ticks::new(Scale::Log, 1e-12, 1e12);
        assert!(ticks.labelled.len() <= 10, "{:?}", labels(&ticks));
        assert!(ticks.bare.is_empty());
    }

    #[test]
    fn a_linear_axis_has_round_numbers() {
        assert_eq!(labels(&Ticks::new(Scale::Linear, 3.0, 97.0)), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(labels(&Ticks::new(Scale::Linear, 0.0, 1.0)), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&Ticks::new(Scale::Linear, -1.0, 1.0)), ["−1.0", "−0.5", "0", "0.5", "1.0"]);
        assert_eq!(labels(&Ticks::new(Scale::Linear, 0.0, 1.2e6))[4..6], ["800,000", "1,000,000"]);
    }

    #[test]
    fn zero_is_shown_where_it_is_near() {
        assert_eq!(Ticks::new(Scale::Linear, 50.0, 80.0).share(0.0), 0.0);
        assert!(Ticks::new(Scale::Linear, 70.0, 80.0).share(0.0) < 0.0);
    }

    #[test]
    fn a_single_value_has_an_axis() {
        for value in [0.0, 5.0, -3.0] {
            let ticks = Ticks::new(Scale::Linear, value, value);
            let share = ticks.share(value);
            assert!((0.0..=1.0).contains(&share) && ticks.labelled.len() > 1, "{value}");
        }
    }

    #[test]
    fn very_small_and_very_large_numbers_have_powers() {
        assert_eq!(number(0.000_012, 0.000_002), "1.2·10⁻⁵");
        assert_eq!(number(-2e7, 1e7), "−2·10⁷");
    }
}
