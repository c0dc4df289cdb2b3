//! Commands that answer questions about words: from arguments, line by line, or at a prompt.

mod answers;
mod conversation;
mod lines;
mod shape;

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

/// An answer, for people and for programs.
pub struct Answer {
    /// With a line end.
    pub text: String,
    pub json: String,
}

impl Answer {
    pub fn new(text: String, json: &impl Serialize) -> Answer {
        Answer { text, json: serde_json::to_string(json).expect("answers are plain data") }
    }
}

/// Answers the arguments. Without any (or with `-`), answers the lines of standard input, at a prompt if that is a
/// terminal. `answer` gets the number of words that `shape` asks for.
pub fn run(
    args: &AskArgs,
    words: &[String],
    shape: Shape,
    answer: impl Fn(&Embeddings, &[&str]) -> skipstream::Result<Answer>,
) -> Result<Ending> {
    let questions = match words {
        [] => None,
        [dash] if dash == "-" => None,
        words => match shape.questions(words) {
            Ok(questions) => Some(questions),
            Err(reason) => bail!("{reason}"),
        },
    };
    let embeddings = args.model.load()?;
    let mut answers = Answers::new(&embeddings, shape, &answer, args.json);
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
