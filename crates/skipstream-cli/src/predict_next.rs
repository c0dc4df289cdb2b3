//! `skipstream predict-next`.

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use skipstream::Error;
use skipstream::embeddings::{Neighbor, VectorsError};
use skipstream::formats::FormatError;
use skipstream::snapshot::ModelFileError;

use crate::Ending;
use crate::ask::{self, Answer, AskArgs, CandidateArgs, Shape};
use crate::neighbors::table;

/// Arguments of `predict-next`.
#[derive(Debug, Args)]
#[command(
    mut_arg("vectors", |vectors| vectors.default_value("joined").hide(true)),
    after_help = "Examples:\n  \
    skipstream predict-next --model shop.safetensors cup saucer -n 5\n  \
    skipstream predict-next --model shop.safetensors --json < sessions.txt"
)]
pub struct PredictNextArgs {
    /// The items or words so far [default: read one sequence per line from standard input]
    #[arg(value_name = "ITEM")]
    pub words: Vec<String>,
    #[command(flatten)]
    pub candidates: CandidateArgs,
    #[command(flatten)]
    pub ask: AskArgs,
}

/// An answer in JSON.
#[derive(Serialize)]
struct Report<'a> {
    words: &'a [&'a str],
    /// Most likely first.
    next: Vec<Neighbor<'a>>,
}

/// Answers each question.
pub fn run(args: PredictNextArgs) -> Result<Ending> {
    let shape = Shape { least: 1, most: None, form: "ITEM …", expressions: false };
    let answered = ask::run(&args.ask, &args.words, shape, |embeddings, words| {
        let rows = words.iter().map(|word| embeddings.row_of(word)).collect::<Result<Vec<usize>, _>>()?;
        let mut query = embeddings.predict_next_query(&rows, args.candidates.number)?;
        query.rows = args.candidates.rows(embeddings)?;
        let next = embeddings.search(&query)?;
        Ok(Answer::new(table(&words.join(" "), "score", &next), &Report { words, next }))
    });
    answered.map_err(|error| match error.downcast_ref() {
        // A vectors file, and nobody has typed `--vectors`.
        Some(
            Error::ModelFile { cause: ModelFileError::OneKind { .. }, .. }
            | Error::Format { cause: FormatError::OneKind { .. }, .. },
        ) => Error::from(VectorsError::NotBoth).into(),
        _ => error,
    })
}
