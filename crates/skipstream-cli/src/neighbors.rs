//! `skipstream neighbors`.

use std::fmt::Write as _;

use anyhow::Result;
use clap::Args;
use indicatif::HumanCount;
use serde::Serialize;
use skipstream::embeddings::Neighbor;

use crate::Ending;
use crate::model::ModelArgs;
use crate::output::{print, print_json};

/// What was typed after `neighbors`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  skipstream neighbors --model m.safetensors berlin paris -n 5")]
pub struct NeighborsArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The words, as they are written in the text
    #[arg(value_name = "WORD", required = true)]
    pub words: Vec<String>,
    /// Neighbors of each word
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub number: usize,
    /// Look only among the N most frequent words: rare ones have uncertain vectors
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The answer for one word.
#[derive(Serialize)]
struct Answer<'a> {
    word: &'a str,
    /// The nearest first; `None` for a word that is not in the vocabulary.
    neighbors: Option<Vec<Neighbor<'a>>>,
}

/// Answers each word.
pub fn run(args: NeighborsArgs) -> Result<Ending> {
    let embeddings = args.model.load()?;
    let among = embeddings.top(args.top.unwrap_or(embeddings.len()));
    let mut answers = Vec::new();
    for word in &args.words {
        let neighbors = embeddings
            .index_of(word)
            .map(|row| among.neighbors_of_vector(&embeddings.vector_at(row), args.number, &[row]));
        answers.push(Answer { word, neighbors: neighbors.transpose()? });
    }
    if args.json {
        print_json(&answers)?;
    } else {
        let blocks: Vec<String> = answers.iter().filter_map(block).collect();
        print(&blocks.join("\n"))?;
    }
    let mut ending = Ending::Done;
    for answer in answers.iter().filter(|answer| answer.neighbors.is_none()) {
        eprintln!("`{}` is not in the vocabulary", answer.word);
        ending = Ending::NotFound;
    }
    Ok(ending)
}

/// A table for people.
fn block(answer: &Answer<'_>) -> Option<String> {
    let neighbors = answer.neighbors.as_ref()?;
    let lengths = neighbors.iter().map(|neighbor| neighbor.word.chars().count());
    let width = lengths.max().unwrap_or(0).max(12);
    let mut text = format!("{:width$}    similarity        count\n", answer.word, width = width);
    for neighbor in neighbors {
        let Neighbor { word, similarity, count } = neighbor;
        let count = HumanCount(*count).to_string();
        writeln!(text, "  {word:width$}  {similarity:>10.4}  {count:>11}")
            .expect("writing into a string cannot fail");
    }
    Some(text)
}
