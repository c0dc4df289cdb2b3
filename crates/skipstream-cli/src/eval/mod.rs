//! `skipstream eval`.

mod args;
mod report;
mod text;

pub use args::EvalArgs;

use std::path::Path;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use skipstream::eval::{EvalOptions, Evaluator, TestSet};

use crate::Ending;
use crate::model::ModelArgs;
use crate::output::{note, print, print_json};
use report::{Report, Scored};

/// Scores each test set.
pub fn run(args: EvalArgs) -> Result<Ending> {
    // Read all files before scoring the first, so that a mistake in the last one shows at once.
    let sets = args.files.iter().map(|path| Ok((path.as_path(), TestSet::open(path)?)));
    let sets: Vec<(&Path, TestSet)> = sets.collect::<Result<_>>()?;
    let options = EvalOptions { case: args.case, restrict: args.restrict, threads: args.threads };
    let embeddings = args.model.load()?;
    let evaluator = Evaluator::new(&embeddings, options)?;
    let other = match &args.common_vocabulary {
        Some(path) => {
            let other = ModelArgs { model: path.clone(), vectors: args.model.vectors };
            Some(Evaluator::new(&other.load()?, options)?)
        }
        None => None,
    };

    let scored = sets.iter().map(|(path, set)| {
        let bar = progress_bar(path);
        let progress = |share: f64| bar.set_position((share * 1000.0) as u64);
        let scored = match &other {
            None => Scored::alone(path, evaluator.score(set, &progress)),
            Some(other) => Scored::beside(path, evaluator.compare(other, set, &progress)),
        };
        bar.finish_and_clear();
        scored
    });
    let report = Report::new(&args, &embeddings, scored.collect());
    if args.json {
        print_json(&report)?;
    } else {
        print(&text::text(&report))?;
    }
    let mut ending = Ending::Done;
    for scored in report.sets.iter().filter(|scored| scored.used() == 0) {
        let reason = if other.is_some() {
            "no question has all its words in both models"
        } else {
            "no question has all its words in the vocabulary"
        };
        note(format_args!("{}: {reason}", scored.file));
        ending = Ending::NotFound;
    }
    Ok(ending)
}

fn progress_bar(path: &Path) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr_with_hz(5));
    let style = ProgressStyle::with_template("{bar:20} {percent:>3}%  {msg}, {eta} left");
    bar.set_style(style.expect("the template is valid"));
    bar.set_message(path.display().to_string());
    bar
}
