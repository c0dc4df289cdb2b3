//! `skipstream similarity`.

use std::fmt;

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use skipstream::Embeddings;

use crate::Ending;
use crate::ask::{self, AskArgs, Query, Shape};

/// Arguments of `similarity`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream similarity --model m.safetensors berlin paris\n  \
    printf 'berlin paris\\nberlin france\\n' | skipstream similarity --model m.safetensors")]
pub struct SimilarityArgs {
    /// Two words [default: read two per line from standard input]
    #[arg(value_name = "A B", num_args = 0..)]
    pub words: Vec<String>,
    #[command(flatten)]
    pub ask: AskArgs,
}

/// Answers each question.
pub fn run(args: SimilarityArgs) -> Result<Ending> {
    ask::run(&args.ask, &args.words, |embeddings| Similarities { embeddings })
}

struct Similarities {
    embeddings: Embeddings,
}

#[derive(Serialize)]
struct Answer<'a> {
    words: [&'a str; 2],
    similarity: f32,
}

impl Query for Similarities {
    type Answer<'a> = Answer<'a>;

    const SHAPE: Shape = Shape { least: 2, most: Some(2), form: "A B" };

    fn embeddings(&self) -> &Embeddings {
        &self.embeddings
    }

    fn answer<'a>(&'a self, words: &[&'a str]) -> skipstream::Result<Answer<'a>> {
        let words = [words[0], words[1]];
        Ok(Answer { words, similarity: self.embeddings.similarity(words[0], words[1])? })
    }
}

impl fmt::Display for Answer<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Answer { words: [first, second], similarity } = self;
        writeln!(formatter, "{first} {second} {similarity:.4}")
    }
}
