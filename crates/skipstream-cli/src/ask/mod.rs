//! Commands that answer questions about words: from arguments, line by line, or at a prompt.

mod answers;
mod conversation;

use std::io::{self, IsTerminal as _};

use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;
use skipstream::Embeddings;

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

/// How many words a question has, and how it is written.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub least: usize,
    pub most: Option<usize>,
    pub form: &'static str,
}

/// An answer, for people and for programs.
pub struct Answer {
    /// With a line end.
    text: String,
    json: String,
}

impl Shape {
    pub const WORD: Shape = Shape { least: 1, most: Some(1), form: "WORD" };

    fn check(self, words: &[&str]) -> Result<(), String> {
        let Shape { least, most, form } = self;
        if words.len() >= least && most.is_none_or(|most| words.len() <= most) {
            return Ok(());
        }
        let expected = match most {
            Some(1) => "1 word".to_owned(),
            Some(most) => format!("{most} words"),
            None => format!("at least {least} words"),
        };
        Err(format!("expected {expected} ({form}), got {}", words.len()))
    }
}

impl Answer {
    pub fn new(text: String, json: &impl Serialize) -> Answer {
        Answer { text, json: serde_json::to_string(json).expect("answers are plain data") }
    }
}

/// Answers the arguments, one by one if a question is a single word. Without any (or with `-`), answers the lines of standard
/// input, at a prompt if that is a terminal. `answer` gets the number of words that `shape` asks for.
pub fn run(
    args: &AskArgs,
    words: &[String],
    shape: Shape,
    answer: impl Fn(&Embeddings, &[&str]) -> skipstream::Result<Answer>,
) -> Result<Ending> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let reads_lines = matches!(words[..], [] | ["-"]);
    let per_question = shape.most.filter(|&most| most == 1).unwrap_or(words.len().max(1));
    let questions = words.chunks(per_question).filter(|_| !reads_lines);
    for question in questions.clone() {
        if let Err(reason) = shape.check(question) {
            bail!("{reason}");
        }
    }
    let embeddings = args.model.load()?;
    let mut answers = Answers {
        embeddings: &embeddings,
        shape,
        answer: &answer,
        json: args.json,
        ending: Ending::Done,
        in_blocks: false,
    };
    if !reads_lines {
        for question in questions {
            answers.answer(question)?;
        }
    } else if io::stdin().is_terminal() && io::stdout().is_terminal() {
        conversation::hold(&args.model.model, &mut answers)?;
        return Ok(Ending::Done);
    } else {
        answers.answer_lines(io::stdin().lock())?;
    }
    Ok(answers.ending)
}
