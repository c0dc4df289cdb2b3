//! `skipstream odd-one-out`.

use std::fmt;

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use skipstream::Embeddings;
use skipstream::embeddings::Neighbor;

use crate::Ending;
use crate::ask::{self, AskArgs, Query, Shape};

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

/// Answers each question.
pub fn run(args: OddOneOutArgs) -> Result<Ending> {
    ask::run(&args.ask, &args.words, |embeddings| OddOnesOut { embeddings })
}

struct OddOnesOut {
    embeddings: Embeddings,
}

#[derive(Serialize)]
struct Answer<'a> {
    words: Vec<&'a str>,
    odd_one_out: &'a str,
    /// How well each word fits the others, the odd one first.
    fits: Vec<Neighbor<'a>>,
}

impl Query for OddOnesOut {
    type Answer<'a> = Answer<'a>;

    const SHAPE: Shape = Shape { least: 3, most: None, form: "WORD WORD WORD …" };

    fn embeddings(&self) -> &Embeddings {
        &self.embeddings
    }

    fn answer<'a>(&'a self, words: &[&'a str]) -> skipstream::Result<Answer<'a>> {
        let fits = self.embeddings.odd_one_out(words)?;
        Ok(Answer { words: words.to_vec(), odd_one_out: fits[0].word, fits })
    }
}

impl fmt::Display for Answer<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}", self.odd_one_out)
    }
}
