//! The evaluation report, as printed in JSON.

use std::path::Path;

use serde::Serialize;
use skipstream::eval::{AnalogyScore, Case, Comparison, Difference, Score};
use skipstream::{Embeddings, Vectors};

use super::EvalArgs;

/// All scores of a run.
#[derive(Serialize)]
pub struct Report {
    pub model: String,
    /// The model it is compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub common_vocabulary: Option<String>,
    pub vectors: Vectors,
    pub case: Case,
    pub words: usize,
    /// In command-line order.
    pub sets: Vec<Scored>,
    pub totals: Totals,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_totals: Option<Totals>,
}

/// The score of one test set, for one model or two.
#[derive(Serialize)]
pub struct Scored {
    pub file: String,
    #[serde(flatten)]
    pub score: Score,
    #[serde(flatten)]
    pub beside: Option<Beside>,
}

/// The other model's score.
#[derive(Serialize)]
pub struct Beside {
    pub other: Score,
    /// The first model's advantage.
    pub differences: Vec<Difference>,
}

/// Totals over all sets of a kind.
#[derive(Default, Serialize)]
pub struct Totals {
    /// The mean of the sets' correlations.
    pub mean_spearman: Option<f64>,
    /// The sum of the sets' analogies.
    pub analogies: Option<AnalogyScore>,
}

impl Report {
    pub fn new(args: &EvalArgs, embeddings: &Embeddings, sets: Vec<Scored>) -> Report {
        Report {
            model: args.model.model.display().to_string(),
            common_vocabulary: args.common_vocabulary.as_ref().map(|path| path.display().to_string()),
            vectors: args.model.vectors,
            case: args.case,
            words: embeddings.len().min(args.restrict.unwrap_or(usize::MAX)),
            totals: Totals::of(sets.iter().map(|scored| &scored.score)),
            other_totals: args
                .common_vocabulary
                .as_ref()
                .map(|_| Totals::of(sets.iter().filter_map(Scored::other))),
            sets,
        }
    }
}

impl Scored {
    pub fn alone(path: &Path, score: Score) -> Scored {
        Scored { file: path.display().to_string(), score, beside: None }
    }

    pub fn beside(path: &Path, comparison: Comparison) -> Scored {
        let Comparison { first, second, differences, .. } = comparison;
        let beside = Some(Beside { other: second, differences });
        Scored { file: path.display().to_string(), score: first, beside }
    }

    /// The other model's score.
    pub fn other(&self) -> Option<&Score> {
        self.beside.as_ref().map(|beside| &beside.other)
    }

    /// The pairs or questions that were used.
    pub fn used(&self) -> usize {
        self.score.used()
    }
}

impl Totals {
    fn of<'a>(scores: impl Iterator<Item = &'a Score>) -> Totals {
        let (mut correlations, mut analogies) = (Vec::new(), None);
        for score in scores {
            match score {
                Score::WordPairs(score) => correlations.extend(score.spearman),
                Score::Analogies(scores) => {
                    *analogies.get_or_insert_with(AnalogyScore::default) += scores.total;
                }
            }
        }
        let mean = correlations.iter().sum::<f64>() / correlations.len() as f64;
        Totals { mean_spearman: (!correlations.is_empty()).then_some(mean), analogies }
    }
}
