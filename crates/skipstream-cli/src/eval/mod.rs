//! `skipstream eval`.

mod text;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use skipstream::embeddings::{SubwordOptions, Subwords};
use skipstream::eval::{AnalogyScore, Case, Difference, EvalOptions, Evaluator, Score, TestSet};
use skipstream::{Embeddings, Vectors};

use crate::Ending;
use crate::args::one_of;
use crate::model::ModelArgs;
use crate::output::{note, print, print_json};
use crate::subwords::SubwordArgs;

/// Arguments of `eval`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream eval --model m.safetensors ws353.tsv google.txt\n  \
    skipstream eval --model m.safetensors --subwords rw.tsv\n  \
    skipstream eval --model m.safetensors --restrict 30000 --json google.txt\n  \
    skipstream eval --model new.safetensors --common-vocabulary m.safetensors ws353.tsv\n\n\
    To reproduce gensim's evaluate_word_pairs and evaluate_word_analogies, add --restrict 300000, its default.")]
pub struct EvalArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Test sets: word pairs or analogies, detected by content, compressed or not
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Letter case of questions: ignore it (as word2vec and gensim do), keep it, or convert to lower case
    #[arg(long, value_name = "NAME", default_value = "ignore", value_parser = one_of::<Case>(&["ignore", "keep", "lower"]))]
    pub case: Case,
    /// Use only the N most frequent words [default: all, whatever their counts]
    #[arg(long, value_name = "N")]
    pub restrict: Option<usize>,
    /// Another model to compare with, on the questions both can answer
    #[arg(long, value_name = "PATH")]
    pub common_vocabulary: Option<PathBuf>,
    #[command(flatten)]
    pub subwords: SubwordArgs,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// All scores of a run, as printed in JSON.
#[derive(Serialize)]
struct Report {
    model: String,
    /// The model it is compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    common_vocabulary: Option<String>,
    vectors: Vectors,
    case: Case,
    /// How unknown and rare words were estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    subwords: Option<SubwordOptions>,
    words: usize,
    /// In command-line order.
    sets: Vec<Scored>,
    totals: Totals,
    #[serde(skip_serializing_if = "Option::is_none")]
    other_totals: Option<Totals>,
}

/// The score of one test set.
#[derive(Serialize)]
struct Scored {
    file: String,
    #[serde(flatten)]
    score: Score,
    /// The other model's score.
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<Score>,
    /// The first model's advantage.
    #[serde(skip_serializing_if = "Option::is_none")]
    differences: Option<Vec<Difference>>,
}

/// Totals over all sets of a kind.
#[derive(Serialize)]
struct Totals {
    /// The mean of the sets' correlations.
    mean_spearman: Option<f64>,
    /// The sum of the sets' analogies.
    analogies: Option<AnalogyScore>,
}

/// Scores each test set.
pub fn run(args: EvalArgs) -> Result<Ending> {
    // Read all files before scoring the first, so that a mistake in the last one shows at once.
    let sets = args.files.iter().map(|path| Ok((path.as_path(), TestSet::open(path)?)));
    let sets: Vec<(&Path, TestSet)> = sets.collect::<Result<_>>()?;
    let options = EvalOptions { case: args.case, restrict: args.restrict, threads: args.threads };
    args.subwords.check()?;
    let embeddings = args.model.load()?;
    let scorer = |embeddings: &Embeddings| -> Result<Scorer> {
        let subwords = args.subwords.fit(&embeddings.top(args.restrict.unwrap_or(usize::MAX)))?;
        Ok(Scorer { evaluator: Evaluator::new(embeddings, options)?, subwords })
    };
    let own = scorer(&embeddings)?;
    let other = match &args.common_vocabulary {
        Some(path) => {
            let other = ModelArgs { model: path.clone(), vectors: args.model.vectors };
            Some(scorer(&other.load()?)?)
        }
        None => None,
    };

    let scored = sets.iter().map(|(path, set)| {
        let bar = progress_bar(path);
        let progress = |share: f64| bar.set_position((share * 1000.0) as u64);
        let evaluator = own.evaluator_for(set);
        let (score, other, differences) = match &other {
            None => (evaluator.score(set, &progress), None, None),
            Some(other) => {
                let comparison = evaluator.compare(&other.evaluator_for(set), set, &progress);
                (comparison.first, Some(comparison.second), Some(comparison.differences))
            }
        };
        bar.finish_and_clear();
        Scored { file: path.display().to_string(), score, other, differences }
    });
    let sets: Vec<Scored> = scored.collect();
    let report = Report {
        model: args.model.model.display().to_string(),
        common_vocabulary: args.common_vocabulary.map(|path| path.display().to_string()),
        vectors: args.model.vectors,
        case: args.case,
        subwords: own.subwords.as_ref().map(|subwords| *subwords.options()),
        words: embeddings.len().min(args.restrict.unwrap_or(usize::MAX)),
        totals: Totals::of(sets.iter().map(|scored| &scored.score)),
        other_totals: other.is_some().then(|| Totals::of(sets.iter().flat_map(|scored| &scored.other))),
        sets,
    };
    if args.json {
        print_json(&report)?;
    } else {
        print(&text::text(&report))?;
    }
    let mut ending = Ending::Done;
    for scored in report.sets.iter().filter(|scored| scored.score.used() == 0) {
        let place = if other.is_some() { "both models" } else { "the vocabulary" };
        note(format_args!("{}: no question has all its words in {place}", scored.file));
        ending = Ending::NotFound;
    }
    Ok(ending)
}

/// The vectors of a model, with or without estimates.
struct Scorer {
    evaluator: Evaluator,
    subwords: Option<Subwords>,
}

impl Scorer {
    fn evaluator_for(&self, set: &TestSet) -> Cow<'_, Evaluator> {
        match &self.subwords {
            Some(subwords) => Cow::Owned(self.evaluator.with_estimates(subwords, set)),
            None => Cow::Borrowed(&self.evaluator),
        }
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

fn progress_bar(path: &Path) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr_with_hz(5));
    let style = ProgressStyle::with_template("{bar:20} {percent:>3}%  {msg}, {eta} left");
    bar.set_style(style.expect("the template is valid"));
    bar.set_message(path.display().to_string());
    bar
}
