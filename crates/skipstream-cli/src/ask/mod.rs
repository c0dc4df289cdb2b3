//! Commands that answer questions about words: from the command line, line by line, or in a conversation.

mod answers;
mod conversation;
mod lines;
mod shape;

use std::fmt::Display;
use std::io::{self, IsTerminal as _};

use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;
use skipstream::Embeddings;

pub use shape::Shape;

use crate::Ending;
use crate::model::ModelArgs;
use answers::Answers;

/// What every such command takes.
#[derive(Debug, Args)]
pub struct AskArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Print JSON, an object on a line for each question
    #[arg(long)]
    pub json: bool,
}

/// A kind of question.
pub trait Query {
    /// The answer: as text for people, with the line's end, and as JSON for programs.
    type Answer<'a>: Display + Serialize
    where
        Self: 'a;

    /// The words of a question.
    const SHAPE: Shape;

    /// Where the words are looked up.
    fn embeddings(&self) -> &Embeddings;

    /// Answers a question that has as many words as it should.
    fn answer<'a>(&'a self, words: &[&'a str]) -> skipstream::Result<Self::Answer<'a>>;
}

/// Answers the words that were typed; without any (or with `-`) the lines of standard input, as a conversation where
/// that is a terminal.
pub fn run<Q: Query>(
    args: &AskArgs,
    words: &[String],
    query: impl FnOnce(Embeddings) -> Q,
) -> Result<Ending> {
    let questions = match words {
        [] => None,
        [dash] if dash == "-" => None,
        words => match Q::SHAPE.questions(words) {
            Ok(questions) => Some(questions),
            Err(reason) => bail!("{reason}"),
        },
    };
    let query = query(args.model.load()?);
    let mut answers = Answers::new(&query, args.json);
    match questions {
        Some(questions) => {
            for question in questions {
                answers.answer(&question)?;
            }
        }
        None if io::stdin().is_terminal() && io::stdout().is_terminal() => {
            conversation::hold(&args.model.model, &mut answers)?;
            return Ok(Ending::Done);
        }
        None => lines::answer(io::stdin().lock(), &mut answers)?,
    }
    Ok(answers.ending())
}
