//! Answers questions one by one and remembers what failed.

use anyhow::Result;
use serde::Serialize;
use skipstream::{Embeddings, Error};

use super::{Answer, Shape};
use crate::Ending;
use crate::output::{note, print, print_json};

/// Spellings suggested for an out-of-vocabulary word.
const SUGGESTIONS: usize = 3;

/// Answers questions and prints the answers.
pub struct Answers<'a> {
    embeddings: &'a Embeddings,
    /// How many words a question has.
    pub shape: Shape,
    answer: &'a dyn Fn(&Embeddings, &[&str]) -> skipstream::Result<Answer>,
    json: bool,
    /// Whether the last answer had several lines.
    in_blocks: bool,
    unknown: bool,
    misunderstood: bool,
}

/// JSON for an out-of-vocabulary word.
#[derive(Serialize)]
struct Unknown<'a> {
    word: &'a str,
    error: &'static str,
    suggestions: Vec<&'a str>,
}

/// JSON for a line that is not a valid question.
#[derive(Serialize)]
struct Misunderstood<'a> {
    line: u64,
    error: &'a str,
}

impl<'a> Answers<'a> {
    pub fn new(
        embeddings: &'a Embeddings,
        shape: Shape,
        answer: &'a dyn Fn(&Embeddings, &[&str]) -> skipstream::Result<Answer>,
        json: bool,
    ) -> Answers<'a> {
        Answers { embeddings, shape, answer, json, in_blocks: false, unknown: false, misunderstood: false }
    }

    /// The exit status so far.
    pub fn ending(&self) -> Ending {
        match (self.misunderstood, self.unknown) {
            (true, _) => Ending::Misunderstood,
            (false, true) => Ending::NotFound,
            (false, false) => Ending::Done,
        }
    }

    /// Answers one line, or reports why it is not a valid question. Ignores blank lines.
    pub fn answer_line(&mut self, number: u64, line: &str) -> Result<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match self.shape.check(&words) {
            _ if words.is_empty() => Ok(()),
            Ok(()) => self.answer(&words),
            Err(reason) => self.misunderstand(number, &reason),
        }
    }

    /// Answers a question, or reports the out-of-vocabulary word.
    pub fn answer(&mut self, words: &[&str]) -> Result<()> {
        match (self.answer)(self.embeddings, words) {
            Ok(answer) if self.json => print(&(answer.json + "\n")),
            Ok(answer) => self.print(&answer.text),
            Err(Error::UnknownWord { word }) => self.report_unknown(&word),
            Err(error) => Err(error.into()),
        }
    }

    /// Reports why a line is not a valid question.
    pub fn misunderstand(&mut self, line: u64, reason: &str) -> Result<()> {
        self.misunderstood = true;
        if self.json {
            return print_json(&Misunderstood { line, error: reason });
        }
        note(format_args!("line {line}: {reason}"));
        Ok(())
    }

    /// Prints an answer, with a blank line between multi-line answers.
    fn print(&mut self, answer: &str) -> Result<()> {
        let blank = if self.in_blocks { "\n" } else { "" };
        self.in_blocks = answer.lines().count() > 1;
        print(&format!("{blank}{answer}"))
    }

    fn report_unknown(&mut self, word: &str) -> Result<()> {
        self.unknown = true;
        let suggestions = self.embeddings.suggestions(word, SUGGESTIONS);
        if self.json {
            return print_json(&Unknown { word, error: "unknown word", suggestions });
        }
        let hint = match suggestions[..] {
            [] => String::new(),
            _ => format!("; did you mean {}?", suggestions.join(", ")),
        };
        note(format_args!("`{word}` is not in the vocabulary{hint}"));
        Ok(())
    }
}
