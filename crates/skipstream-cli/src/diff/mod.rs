//! `skipstream diff`.

mod html;
mod text;

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;
use skipstream::eval::{Drift, DriftOptions, DriftWarning};
use skipstream::unstable::replace;
use skipstream::{Error, Vectors};

use crate::Ending;
use crate::args::one_of;
use crate::existing::ForceArgs;
use crate::model::ModelArgs;
use crate::output::{count, note, print, print_json};

/// Arguments of `diff`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream diff m.safetensors new.safetensors\n  \
    skipstream diff --top 5000 --min-count 50 -n 10 --json m.safetensors new.safetensors\n  \
    skipstream diff --html report.html m.safetensors new.safetensors")]
pub struct DiffArgs {
    /// The older state: a model, or vectors in any supported format
    #[arg(value_name = "OLD")]
    pub old: PathBuf,
    /// The newer state
    #[arg(value_name = "NEW")]
    pub new: PathBuf,
    /// Which vectors to compare: target, context, their sum, or both joined
    #[arg(long, value_name = "NAME", default_value_t, value_parser = one_of::<Vectors>(&Vectors::NAMES))]
    pub vectors: Vectors,
    /// Compare only the N most frequent shared words
    #[arg(long, value_name = "N", default_value_t = DriftOptions::default().top)]
    pub top: usize,
    /// Minimum count of a compared word, in both states
    #[arg(long, value_name = "N", default_value_t = DriftOptions::default().min_count)]
    pub min_count: u64,
    /// Number of moved, new and departed words to list
    #[arg(short = 'n', long, value_name = "N", default_value_t = DriftOptions::default().listed)]
    pub number: usize,
    /// Number of nearest words to compare
    #[arg(long, value_name = "N", default_value_t = DriftOptions::default().neighbors)]
    pub neighbors: usize,
    /// Write a self-contained HTML report with a plot
    #[arg(long, value_name = "PATH")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub force: ForceArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Two states and what changed between them.
#[derive(Serialize)]
pub struct Report {
    pub old: String,
    pub new: String,
    #[serde(flatten)]
    pub drift: Drift,
}

/// Reasons not to trust the comparison.
fn warnings(drift: &Drift) -> impl Iterator<Item = String> {
    drift.warnings.iter().map(|warning| match warning {
        DriftWarning::TooLittleText => format!(
            "only {} of the compared words have enough new occurrences, too few to tell movement from chance; learn more \
             text, or lower --min-count",
            count(drift.ranked)
        ),
        DriftWarning::NotOneModel => {
            "these do not look like two states of one model; what two trainings do differently counts as movement".to_owned()
        }
        DriftWarning::Swapped => {
            "most words have a lower count in the newer state; the two may have been swapped".to_owned()
        }
        other => format!("{other:?}"),
    })
}

/// Compares two states and reports what changed.
pub fn run(args: DiffArgs) -> Result<Ending> {
    args.html.iter().try_for_each(|path| args.force.check(path))?;
    let load = |path: &PathBuf| ModelArgs { model: path.clone(), vectors: args.vectors }.load();
    let (old, new) = (load(&args.old)?, load(&args.new)?);
    let options = DriftOptions {
        top: args.top,
        min_count: args.min_count,
        listed: args.number,
        neighbors: args.neighbors,
    };
    let names = || format!("{} and {}", args.old.display(), args.new.display());
    let drift = Drift::between(&old, &new, &options).with_context(names)?;
    let report = Report { old: args.old.display().to_string(), new: args.new.display().to_string(), drift };
    if let Some(path) = &args.html {
        let page = html::page(&report);
        replace(path, |file| {
            file.write_all(page.as_bytes()).map_err(|source| Error::Io { path: path.clone(), source })
        })?;
        note(format_args!("{}: written", path.display()));
    }
    if args.json {
        print_json(&report)?;
    } else {
        print(&text::text(&report))?;
    }
    Ok(Ending::Done)
}
