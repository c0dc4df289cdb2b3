//! The noise floor: how far words move by chance.
//!
//! Training moves a vector even if the use of its word does not change, and a rare word moves farther. So a movement is
//! compared with those of words of the same frequency. Few words change their meaning between two snapshots, so the median
//! movement is noise, and so is most of the spread. Both are measured by medians, which the few words that did change cannot
//! shift: the median distance, and the median deviation above it (the distribution is skewed upwards).
//!
//! By chance, the cosine distance is a sum of squares over all dimensions, which is nearly normal, so deviations are linear.
//! (On a logarithmic scale the many words that hardly moved widen the spread: between two Wikipedias fifteen years apart no
//! word was above such a floor.)

use serde::Serialize;

/// Smaller distances are rounding errors, not movement.
pub(super) const SMALLEST_DISTANCE: f64 = 1e-5;

/// The minimum number of words in a window of frequencies, if there are that many.
const WINDOW: usize = 200;

/// The maximum number of windows, which overlap by half: with fewer words, the spread itself is uncertain.
const MAX_WINDOWS: usize = 16;

/// The standard deviation divided by the median absolute deviation, for normal values.
const DEVIATIONS: f64 = 1.4826;

/// The minimum spread, as a share of the median: where all movements are alike, their differences mean little.
const SMALLEST_SPREAD: f64 = 0.05;

/// Movements by chance have heavier tails than normal values, because topics come in bursts. With this factor, between 0 and
/// 2 % of the words with new occurrences are above the floor when more of the same text is learned (shuffled lines of wiki-2006:
/// 1 of 13,154 after as much text again, 33 of 10,047 after a fifth, 44 of 2,626 after a fortieth; all by the cosine distance
/// alone, and fewer are above both floors).
const HEAVY_TAILS: f64 = 1.25;

/// The noise floor at one frequency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FloorPoint {
    /// The words' lower count in the two snapshots.
    pub count: f64,
    /// The median cosine distance.
    pub median: f64,
    /// Words that move farther are above the floor.
    pub threshold: f64,
    #[serde(skip)]
    spread: f64,
}

/// The noise floor as a function of frequency.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Floor {
    /// From the most frequent words to the rarest.
    pub(super) points: Vec<FloorPoint>,
    /// The height of the floor above the median, in standard deviations.
    pub(super) deviations: f64,
}

impl Floor {
    /// Measures the floor from (count, distance) of all words, the most frequent first.
    pub(super) fn measure(words: &[(u64, f64)]) -> Floor {
        // About the maximum of n normal values is √(2 ln n).
        let deviations = HEAVY_TAILS * (2.0 * (words.len().max(2) as f64).ln()).sqrt();
        let window = WINDOW.max(words.len().div_ceil(MAX_WINDOWS / 2)).min(words.len());
        let mut points = Vec::new();
        let mut start = 0;
        while start < words.len() {
            let end = (start + window).min(words.len());
            // A short rest joins the previous window.
            let end = if words.len() - end < window / 2 { words.len() } else { end };
            points.push(FloorPoint::of(&words[start..end], deviations));
            if end == words.len() {
                break;
            }
            start += window.div_ceil(2);
        }
        Floor { points, deviations }
    }

    /// How many standard deviations a distance is above the median of words with this count.
    pub(super) fn surprise(&self, count: u64, distance: f64) -> f64 {
        let (median, spread) = self.at(count);
        (distance.max(SMALLEST_DISTANCE) - median) / spread
    }

    /// The median and the spread at a count, interpolated between the two nearest windows.
    fn at(&self, count: u64) -> (f64, f64) {
        let place = |point: &FloorPoint| point.count.ln();
        let here = (count.max(1) as f64).ln();
        let after = self.points.partition_point(|point| place(point) > here);
        let (Some(rarer), Some(more_frequent)) = (
            self.points.get(after.min(self.points.len().saturating_sub(1))),
            self.points.get(after.saturating_sub(1)),
        ) else {
            return (SMALLEST_DISTANCE, SMALLEST_SPREAD * SMALLEST_DISTANCE);
        };
        let distance = place(more_frequent) - place(rarer);
        let share = if distance > 0.0 { ((here - place(rarer)) / distance).clamp(0.0, 1.0) } else { 0.0 };
        let between = |rare: f64, frequent: f64| rare + share * (frequent - rare);
        (between(rarer.median, more_frequent.median), between(rarer.spread, more_frequent.spread))
    }
}

impl FloorPoint {
    fn of(words: &[(u64, f64)], deviations: f64) -> FloorPoint {
        let count = median(words.iter().map(|&(count, _)| (count.max(1) as f64).ln()).collect()).exp();
        let distances = || words.iter().map(|&(_, distance)| distance.max(SMALLEST_DISTANCE));
        let middle = median(distances().collect());
        let deviation =
            median(distances().filter(|&d| d > middle).map(|distance| distance - middle).collect());
        let spread = (DEVIATIONS * deviation).max(SMALLEST_SPREAD * middle);
        let threshold = (middle + deviations * spread).min(2.0);
        FloorPoint { count, median: middle, threshold, spread }
    }
}

/// The median of the values; 0 if there are none.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Words whose movement falls with their frequency, times a random factor from e^-½ to e^½.
    fn noise(n: usize) -> Vec<(u64, f64)> {
        let mut random = Random::new(1);
        let word = |rank: usize| {
            let count = 1_000_000 / (rank as u64 + 1);
            (count, (random.uniform() - 0.5).exp() / (count as f64).sqrt())
        };
        (0..n).map(word).collect()
    }

    #[test]
    fn the_floor_follows_the_frequency() {
        let words = noise(5_000);
        let floor = Floor::measure(&words);
        assert!((floor.deviations - 5.16).abs() < 0.01);
        assert!(floor.points.len() > 10 && floor.points.len() <= MAX_WINDOWS);
        for point in &floor.points[1..] {
            let expected = 1.0 / point.count.sqrt();
            assert!((point.median / expected - 1.0).abs() < 0.2, "{point:?}");
            assert!(point.threshold > 2.0 * expected, "{point:?}");
        }
        let is_above = |&&(count, distance): &&(u64, f64)| floor.surprise(count, distance) > floor.deviations;
        assert_eq!(words.iter().filter(is_above).count(), 0);
        assert!(floor.surprise(3_000, 0.3) > floor.deviations, "a frequent word that moves so far");
        assert!(floor.surprise(250, 0.06).abs() < 1.0, "a rare one moves so far by chance");
    }

    #[test]
    fn few_words_or_none_have_a_floor_too() {
        assert!(Floor::measure(&[]).points.is_empty());
        assert_eq!(Floor::measure(&[]).surprise(5, 0.0), 0.0);
        let one = Floor::measure(&[(10, 0.1)]);
        assert_eq!((one.points.len(), one.surprise(10, 0.1)), (1, 0.0));
    }

    #[test]
    fn no_movement_is_no_surprise() {
        let still: Vec<(u64, f64)> = (0..500).map(|rank| (500 - rank, 0.0)).collect();
        let floor = Floor::measure(&still);
        assert_eq!(floor.surprise(30, 1e-7), 0.0);
        assert!(floor.surprise(30, 0.5) > floor.deviations);
    }
}
