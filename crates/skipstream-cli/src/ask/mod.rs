//! Commands that answer questions about words: from arguments, line by line, or at a prompt.

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

/// Arguments common to all of them.
#[derive(Debug, Args)]
pub struct AskArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Print JSON, one object per line
    #[arg(long)]
    pub json: bool,
}

/// A kind of question.
pub trait Query {
    /// The answer: `Display` for people, with a line end, and `Serialize` for programs.
    type Answer<'a>: Display + Serialize
    where
        Self: 'a;

    /// How many words a question has.
    const SHAPE: Shape;

    /// Where the words are looked up.
    fn embeddings(&self) -> &Embeddings;

    /// Answers a question with the right number of words.
    fn answer<'a>(&'a self, words: &[&'a str]) -> skipstream::Result<Self::Answer<'a>>;
}

/// Answers the arguments. Without any (or with `-`), answers the lines of standard input, at a prompt if that is a
/// terminal.
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
