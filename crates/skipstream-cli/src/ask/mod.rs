//! Commands that answer questions about words: from arguments, line by line, or at a prompt.

mod answers;
mod conversation;

use std::borrow::Cow;
use std::io::{self, IsTerminal as _};
use std::ops::Range;

use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;
use skipstream::Embeddings;
use skipstream::embeddings::Expression;

use crate::Ending;
use crate::args::positive;
use crate::model::ModelArgs;
use crate::subwords::SubwordArgs;
use answers::Answers;

/// Arguments common to all of them.
#[derive(Debug, Args)]
pub struct AskArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub subwords: SubwordArgs,
    /// Print JSON, one object per line
    #[arg(long)]
    pub json: bool,
}

/// The number of answers, and which words may be answers.
#[derive(Debug, Args)]
pub struct CandidateArgs {
    /// Number of answers per question
    #[arg(short = 'n', long, value_name = "N", default_value = "10", value_parser = positive)]
    pub number: usize,
    /// Minimum count of an answer; 0 allows every word [default: 1 per 200,000 words learned, from 1 to 20]
    ///
    /// The vectors of rare words are mostly noise. The count of a word is its number of occurrences since it was admitted to
    /// the vocabulary, for the last time if it was evicted in between. The words that you ask about may be as rare as they
    /// are.
    #[arg(long, value_name = "N")]
    pub min_count: Option<u64>,
    /// Search only the N most frequent words
    #[arg(long, value_name = "N", value_parser = positive)]
    pub top: Option<usize>,
}

impl CandidateArgs {
    /// The rows of the words that may be answers.
    pub fn rows(&self, embeddings: &Embeddings) -> Result<Range<usize>> {
        if self.min_count.is_some_and(|count| count > 0) && !embeddings.has_counts() {
            bail!("these vectors have no counts, so --min-count cannot select words; --top can");
        }
        Ok(embeddings.candidates(self.min_count, self.top))
    }
}

/// How many words a question has, and how it is written.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub least: usize,
    pub most: Option<usize>,
    pub form: &'static str,
    /// Whether an [`Expression`] is a question, too.
    pub expressions: bool,
}

/// An answer, for people and for programs.
pub struct Answer {
    /// With a line end.
    text: String,
    json: String,
}

impl Shape {
    pub const WORD: Shape = Shape { least: 1, most: Some(1), form: "WORD", expressions: false };

    fn check(self, words: &[&str]) -> Result<(), String> {
        let Shape { least, most, form, expressions } = self;
        if expressions && Expression::is_meant_by(words) {
            let expression = words.join(" ").parse::<Expression>();
            return expression.map(|_| ()).map_err(|error| error.to_string());
        }
        if words.len() >= least && most.is_none_or(|most| words.len() <= most) {
            return Ok(());
        }
        let expected = match most {
            Some(1) => "1 word".to_owned(),
            Some(most) => format!("{most} words"),
            None => format!("at least {least} words"),
        };
        let is_glued = expressions && words.iter().any(|word| word.contains('+'));
        let hint = if is_glued { "; put spaces around + and -" } else { "" };
        Err(format!("expected {expected} ({form}), got {}{hint}", words.len()))
    }
}

impl Shape {
    /// The words of a question.
    fn words<'a>(self, question: &[&'a str]) -> Vec<Cow<'a, str>> {
        match question.join(" ").parse::<Expression>() {
            Ok(expression) if self.expressions && Expression::is_meant_by(question) => {
                expression.words().map(|word| word.to_owned().into()).collect()
            }
            _ => question.iter().map(|&word| word.into()).collect(),
        }
    }
}

impl Answer {
    /// Adds a member to the JSON, which is an object.
    fn with_member(mut self, name: &str, value: &impl Serialize) -> Answer {
        let value = serde_json::to_string(value).expect("answers are plain data");
        self.json.truncate(self.json.len() - 1);
        self.json += &format!(",\"{name}\":{value}}}");
        self
    }

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
    answer: impl Fn(&Embeddings, &[&str]) -> Result<Answer>,
) -> Result<Ending> {
    let words = words.iter().map(String::as_str);
    let words: Vec<&str> = match shape.expressions {
        // An expression may be one argument.
        true => words.flat_map(str::split_whitespace).collect(),
        false => words.collect(),
    };
    let reads_lines = matches!(words[..], [] | ["-"]);
    let per_question = shape.most.filter(|&most| most == 1).unwrap_or(words.len().max(1));
    let questions = words.chunks(per_question).filter(|_| !reads_lines);
    args.subwords.check()?;
    for question in questions.clone() {
        if let Err(reason) = shape.check(question) {
            bail!("{reason}");
        }
    }
    let embeddings = if reads_lines { args.model.load()? } else { args.model.load_for_questions()? };
    let subwords = args.subwords.fit(&embeddings)?;
    let mut answers = Answers {
        embeddings: &embeddings,
        subwords: subwords.as_ref(),
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
