//! `skipstream similarity`.

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use crate::Ending;
use crate::ask::{self, Answer, AskArgs, Shape};

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

/// An answer in JSON.
#[derive(Serialize)]
struct Report<'a> {
    words: [&'a str; 2],
    similarity: f32,
}

/// Answers each question.
pub fn run(args: SimilarityArgs) -> Result<Ending> {
    let shape = Shape { least: 2, most: Some(2), form: "A B", expressions: false };
    ask::run(&args.ask, &args.words, shape, |embeddings, words| {
        let [first, second] = [words[0], words[1]];
        let similarity = embeddings.similarity(first, second)?;
        let text = format!("{first} {second} {similarity:.4}\n");
        Ok(Answer::new(text, &Report { words: [first, second], similarity }))
    })
}
