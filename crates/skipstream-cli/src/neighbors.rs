//! `skipstream neighbors`.

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use skipstream::embeddings::{Neighbor, Query};

use crate::Ending;
use crate::ask::{self, Answer, AskArgs, CandidateArgs, Shape};
use crate::output;
use crate::table::Table;

/// Arguments of `neighbors`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream neighbors --model m.safetensors berlin paris -n 5\n  \
    skipstream neighbors --model m.safetensors --top 30000 berlin\n  \
    skipstream neighbors --model m.safetensors --min-count 0 berlin\n  \
    echo berlin | skipstream neighbors --model m.safetensors --json")]
pub struct NeighborsArgs {
    /// Words to look up [default: read one per line from standard input]
    #[arg(value_name = "WORD")]
    pub words: Vec<String>,
    #[command(flatten)]
    pub candidates: CandidateArgs,
    #[command(flatten)]
    pub ask: AskArgs,
}

/// An answer in JSON.
#[derive(Serialize)]
struct Report<'a> {
    word: &'a str,
    /// Nearest first.
    neighbors: Vec<Neighbor<'a>>,
}

/// Answers each word.
pub fn run(args: NeighborsArgs) -> Result<Ending> {
    ask::run(&args.ask, &args.words, Shape::WORD, |embeddings, words| {
        let word = words[0];
        let mut query = Query::neighbors(embeddings.row_of(word)?, args.candidates.number);
        query.rows = args.candidates.rows(embeddings)?;
        let neighbors = embeddings.search(&query)?;
        Ok(Answer::new(table(word, "similarity", &neighbors), &Report { word, neighbors }))
    })
}

/// A table of words with their similarities and, where known, counts.
pub fn table(title: &str, score: &str, neighbors: &[Neighbor<'_>]) -> String {
    let has_counts = neighbors.iter().any(|neighbor| neighbor.count.is_some());
    let mut table = Table::default();
    table.row(
        [title, score]
            .into_iter()
            .chain(has_counts.then_some("occurrences since admitted"))
            .map(str::to_owned),
    );
    for Neighbor { word, similarity, count, .. } in neighbors {
        let count = count.map(output::count);
        table.row([format!("  {word}"), format!("{similarity:.4}")].into_iter().chain(count));
    }
    let none =
        if neighbors.is_empty() { "  no other word has the occurrences that are asked for\n" } else { "" };
    table.text() + none
}
