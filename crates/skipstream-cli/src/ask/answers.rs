//! Questions are answered one by one, and what went wrong is remembered.

use anyhow::Result;
use serde::Serialize;
use skipstream::Error;

use super::Query;
use crate::Ending;
use crate::output::{note, print, print_json};

/// Spellings that are suggested for a word that is not known.
const SUGGESTIONS: usize = 3;

/// Answers questions and prints the answers.
pub struct Answers<'a, Q> {
    query: &'a Q,
    json: bool,
    /// Whether an answer was printed that is not alone on its line.
    in_blocks: bool,
    unknown: bool,
    misunderstood: bool,
}

/// What is said of a word that is not known.
#[derive(Serialize)]
struct Unknown<'a> {
    word: &'a str,
    error: &'static str,
    suggestions: Vec<&'a str>,
}

/// What is said of a line that is not a question.
#[derive(Serialize)]
struct Misunderstood<'a> {
    line: u64,
    error: &'a str,
}

impl<'a, Q: Query> Answers<'a, Q> {
    pub fn new(query: &'a Q, json: bool) -> Answers<'a, Q> {
        Answers { query, json, in_blocks: false, unknown: false, misunderstood: false }
    }

    /// How the command ends.
    pub fn ending(&self) -> Ending {
        match (self.misunderstood, self.unknown) {
            (true, _) => Ending::Misunderstood,
            (false, true) => Ending::NotFound,
            (false, false) => Ending::Done,
        }
    }

    /// Answers a line of words, or says why it is not a question. A line without words is none.
    pub fn answer_line(&mut self, number: u64, line: &str) -> Result<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match Q::SHAPE.check(&words) {
            _ if words.is_empty() => Ok(()),
            Ok(()) => self.answer(&words),
            Err(reason) => self.misunderstand(number, &reason),
        }
    }

    /// Answers a question, or says which word is not known.
    pub fn answer(&mut self, words: &[&str]) -> Result<()> {
        match self.query.answer(words) {
            Ok(answer) if self.json => print_json(&answer),
            Ok(answer) => self.print(&answer.to_string()),
            Err(Error::UnknownWord { word }) => self.report_unknown(&word),
            Err(error) => Err(error.into()),
        }
    }

    /// Says why a line is not a question.
    pub fn misunderstand(&mut self, line: u64, reason: &str) -> Result<()> {
        self.misunderstood = true;
        if self.json {
            return print_json(&Misunderstood { line, error: reason });
        }
        note(format_args!("line {line}: {reason}"));
        Ok(())
    }

    /// Answers of several lines have a blank one between them.
    fn print(&mut self, answer: &str) -> Result<()> {
        let blank = if self.in_blocks { "\n" } else { "" };
        self.in_blocks = answer.lines().count() > 1;
        print(&format!("{blank}{answer}"))
    }

    fn report_unknown(&mut self, word: &str) -> Result<()> {
        self.unknown = true;
        let suggestions = self.query.embeddings().suggestions(word, SUGGESTIONS);
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
