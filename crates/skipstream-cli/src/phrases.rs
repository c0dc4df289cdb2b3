//! `skipstream phrases`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use skipstream::phrases::Phrase;
use skipstream::train::AnyTrainer;

use crate::Ending;
use crate::args::positive;
use crate::output::{count, note, print, print_json};
use crate::table::Table;

/// Arguments of `phrases`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream phrases --model m.safetensors -n 20\n  \
    skipstream phrases --model m.safetensors --json")]
pub struct PhrasesArgs {
    /// Model file
    #[arg(long, value_name = "PATH")]
    pub model: PathBuf,
    /// Maximum number of phrases [default: all]
    #[arg(short = 'n', long, value_name = "N", value_parser = positive)]
    pub number: Option<usize>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Lists the phrases.
pub fn run(args: PhrasesArgs) -> Result<Ending> {
    let trainer = AnyTrainer::load(&args.model, Some(1))?;
    let mut phrases = trainer.model().phrases();
    phrases.truncate(args.number.unwrap_or(usize::MAX));
    if args.json {
        print_json(&phrases)?;
    } else if phrases.is_empty() {
        note("this model has no phrases; `train --phrases npmi` finds some in the text of a new model");
    } else {
        print(&text(&phrases))?;
    }
    Ok(Ending::Done)
}

fn text(phrases: &[Phrase]) -> String {
    let mut table = Table::new(["phrase", "count", "score", "found after words"]);
    for Phrase { phrase, count: n, score, found_at, .. } in phrases {
        let score = score.map_or_else(|| "given".to_owned(), |score| format!("{score:.3}"));
        table.row([phrase.clone(), count(*n), score].into_iter().chain(found_at.map(count)));
    }
    table.text()
}
