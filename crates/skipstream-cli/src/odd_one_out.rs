//! `skipstream odd-one-out`.

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use skipstream::embeddings::Neighbor;

use crate::Ending;
use crate::ask::{self, Answer, AskArgs, Shape};

/// Arguments of `odd-one-out`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream odd-one-out --model m.safetensors berlin paris bread\n  \
    echo bread cheese moon butter | skipstream odd-one-out --model m.safetensors --json")]
pub struct OddOneOutArgs {
    /// Three or more words [default: read one question per line from standard input]
    #[arg(value_name = "WORD")]
    pub words: Vec<String>,
    #[command(flatten)]
    pub ask: AskArgs,
}

/// An answer in JSON.
#[derive(Serialize)]
struct Report<'a> {
    words: &'a [&'a str],
    odd_one_out: &'a str,
    /// How well each word fits the others, the odd one first.
    fits: Vec<Neighbor<'a>>,
}

/// Answers each question.
pub fn run(args: OddOneOutArgs) -> Result<Ending> {
    let shape = Shape { least: 3, most: None, form: "WORD WORD WORD …", expressions: false };
    ask::run(&args.ask, &args.words, shape, |embeddings, words| {
        let fits = embeddings.odd_one_out(words)?;
        let odd_one_out = fits[0].word;
        Ok(Answer::new(format!("{odd_one_out}\n"), &Report { words, odd_one_out, fits }))
    })
}
