//! Two models, compared on the same questions.

use serde::Serialize;

use super::analogies::AnalogyScores;
use super::correlation::{Ranked, spearman};
use super::evaluator::{Score, Solved};
use super::interval::Interval;
use super::pairs::ScoredPairs;

/// The scores of two models on the questions that both can answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The score of the first model.
    pub first: Score,
    /// The score of the second model.
    pub second: Score,
    /// How much better the first is, by each measure of the set.
    pub differences: Vec<Difference>,
}

/// How much better the first of two models is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Difference {
    /// The measure, by its name in the scores: `spearman`, `add_accuracy` or `multiply_accuracy`.
    pub measure: &'static str,
    /// The first model's score minus the second's.
    pub value: f64,
    /// Its 95 % interval: percentiles of 1,000 resamples of the questions, the same ones for both models. If it contains 0,
    /// the difference is not significant.
    pub interval: Option<Interval>,
}

impl Comparison {
    pub(super) fn of_word_pairs(first: &ScoredPairs, second: &ScoredPairs, total: usize) -> Comparison {
        let people = Ranked::new(&first.scores);
        let models = [first, second].map(|judged| Ranked::new(&judged.cosines));
        let difference = |times: &[u32]| {
            let [first, second] = models.each_ref().map(|model| people.spearman(model, times));
            Some(first? - second?)
        };
        let value = spearman(&first.scores, &first.cosines)
            .zip(spearman(&second.scores, &second.cosines))
            .map(|(first, second)| first - second);
        let interval = Interval::bootstrap(first.scores.len(), difference);
        let differences = value.map(|value| Difference { measure: "spearman", value, interval });
        Comparison {
            first: Score::WordPairs(first.score(total)),
            second: Score::WordPairs(second.score(total)),
            differences: differences.into_iter().collect(),
        }
    }

    pub(super) fn of_analogies(
        first: &[Option<Solved>],
        second: &[Option<Solved>],
        [first_scores, second_scores]: [AnalogyScores; 2],
    ) -> Comparison {
        let difference = |measure, is_right: fn(&Solved) -> bool| {
            // 1 where only the first is right, -1 where only the second is.
            let gains: Vec<f64> = first
                .iter()
                .flatten()
                .zip(second.iter().flatten())
                .map(|(first, second)| f64::from(is_right(first)) - f64::from(is_right(second)))
                .collect();
            let n = gains.len() as f64;
            let resampled = |times: &[u32]| {
                let sum: f64 = gains.iter().zip(times).map(|(gain, &times)| gain * f64::from(times)).sum();
                Some(sum / n)
            };
            (n > 0.0).then(|| Difference {
                measure,
                value: gains.iter().sum::<f64>() / n,
                interval: Interval::bootstrap(gains.len(), resampled),
            })
        };
        let differences = [
            difference("add_accuracy", |solved| solved.add),
            difference("multiply_accuracy", |solved| solved.multiply),
        ];
        Comparison {
            first: Score::Analogies(first_scores),
            second: Score::Analogies(second_scores),
            differences: differences.into_iter().flatten().collect(),
        }
    }
}
