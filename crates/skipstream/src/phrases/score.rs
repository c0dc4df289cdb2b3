//! How strongly two words belong together.

use crate::config::{PhraseScore, PhraseSettings};

/// What is counted of a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairCounts {
    pub pair: u64,
    pub left: u64,
    pub right: u64,
    /// All words of the text.
    pub words: u64,
}

/// The score of a pair.
pub(super) fn score(settings: PhraseSettings, counts: PairCounts) -> f64 {
    let PairCounts { pair, left, right, words } = counts;
    let [pair, left, right, words] = [pair, left, right, words].map(|count| count as f64);
    match settings.score {
        // A pair is one of many: otherwise the logarithm of its share is 0.
        PhraseScore::Npmi if pair < words => {
            natural_logarithm(pair / left * (words / right)) / natural_logarithm(words / pair)
        }
        PhraseScore::Original => (pair - settings.min_count as f64) / left * (words / right),
        PhraseScore::Npmi | PhraseScore::Off => 0.0,
    }
}

/// The logarithm of a positive number. It is made of basic operations, which are exactly rounded, so that all machines
/// find the same phrases.
fn natural_logarithm(value: f64) -> f64 {
    // value = mantissa · 2^exponent, with the mantissa in [√½, √2].
    let bits = value.to_bits();
    let mut exponent = ((bits >> 52) as i64 & 0x7ff) - 1023;
    let mut mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1.0f64.to_bits());
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    // ln m = 2 artanh((m − 1) / (m + 1)) = 2 (x + x³/3 + x⁵/5 + …), and |x| < 0.172.
    let x = (mantissa - 1.0) / (mantissa + 1.0);
    let sum = (0..12).rev().fold(0.0, |sum, n| sum * (x * x) + 1.0 / f64::from(2 * n + 1));
    2.0 * x * sum + exponent as f64 * std::f64::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PhraseOptions;

    #[test]
    fn logarithms_are_those_of_the_standard_library() {
        for value in
            [1e-300, 1e-9, 0.3, 0.5, 0.999_999, 1.0, 1.000_001, 1.414, 1.415, 2.0, 3.0, 12.5e6, 1e300]
        {
            let (ours, theirs) = (natural_logarithm(value), f64::ln(value));
            assert!((ours - theirs).abs() <= 4e-16 * theirs.abs().max(1.0), "{value}: {ours}, {theirs}");
        }
    }

    #[test]
    fn scores_are_those_of_gensim_and_word2phrase() {
        let settings =
            |score| PhraseOptions { score, min_count: Some(5), ..Default::default() }.settings().unwrap();
        let counts = PairCounts { pair: 20, left: 50, right: 25, words: 100_000 };
        // gensim.models.phrases.npmi_scorer(50, 25, 20, 0, 5, 100000)
        let npmi = score(settings(PhraseScore::Npmi), counts);
        assert!((npmi - 0.866_219_509_458_033).abs() < 1e-12, "{npmi}");
        // word2phrase: (20 - 5) / 50 / 25 * 100000
        assert_eq!(score(settings(PhraseScore::Original), counts), 1200.0);
        let always = PairCounts { pair: 9, left: 9, right: 9, words: 9 };
        assert_eq!(score(settings(PhraseScore::Npmi), always), 0.0);
    }
}
