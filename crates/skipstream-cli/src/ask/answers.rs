//! Answers questions one by one and remembers what failed.

use std::collections::BTreeMap;
use std::io::{BufRead, Read as _};

use anyhow::{Context, Result};
use serde::Serialize;
use skipstream::embeddings::{Source, Subwords};
use skipstream::{Embeddings, Error};

use super::{Answer, Shape};
use crate::Ending;
use crate::output::{note, print, print_json, print_json_line};

/// Spellings suggested for an out-of-vocabulary word.
const SUGGESTIONS: usize = 3;

/// The maximum length of a question in bytes.
const LONGEST_LINE: u64 = 1 << 16;

/// Answers questions and prints the answers.
pub struct Answers<'a> {
    pub embeddings: &'a Embeddings,
    /// For words that are unknown or rare.
    pub subwords: Option<&'a Subwords>,
    pub shape: Shape,
    pub answer: &'a dyn Fn(&Embeddings, &[&str]) -> Result<Answer>,
    pub json: bool,
    /// The exit status so far.
    pub ending: Ending,
    /// Whether the last answer had several lines.
    pub in_blocks: bool,
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

impl Answers<'_> {
    /// Answers line by line. Prints each answer before it reads the next line, so that another program can query through
    /// two pipes.
    pub fn answer_lines(&mut self, mut input: impl BufRead) -> Result<()> {
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            let read = (&mut input).take(LONGEST_LINE + 1).read_until(b'\n', &mut line);
            if read.context("standard input")? == 0 {
                break;
            }
            if line.len() as u64 > LONGEST_LINE {
                self.misunderstand(number, &format!("the line is longer than {LONGEST_LINE} bytes"))?;
                if line.last() != Some(&b'\n') {
                    input.skip_until(b'\n').context("standard input")?;
                }
                continue;
            }
            match str::from_utf8(&line) {
                Ok(line) => self.answer_line(number, line)?,
                Err(error) => {
                    let place = error.valid_up_to() + 1;
                    self.misunderstand(number, &format!("byte {place} of the line is not valid UTF-8"))?;
                }
            }
        }
        Ok(())
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
        let answer = match self.subwords {
            Some(subwords) => self.estimated_answer(subwords, words),
            None => (self.answer)(self.embeddings, words),
        };
        match answer {
            Ok(answer) if self.json => print_json_line(&answer.json),
            Ok(answer) => self.print(&answer.text),
            Err(error) => match error.downcast_ref() {
                Some(Error::UnknownWord { word }) => self.report_unknown(word),
                _ => Err(error),
            },
        }
    }

    /// Answers with estimates of unknown and rare words, and says which.
    fn estimated_answer(&self, subwords: &Subwords, question: &[&str]) -> Result<Answer> {
        let words = self.shape.words(question);
        let embeddings = self.embeddings.with_estimates(subwords, &words);
        let answer = (self.answer)(&embeddings, question)?;
        let mut sources = BTreeMap::new();
        for word in &words {
            let row = embeddings.index_of(word);
            let source = row.map_or(Source::Vocabulary, |row| embeddings.source(row));
            if source != Source::Vocabulary {
                sources.insert(word, source);
            }
        }
        if !self.json {
            for (word, source) in &sources {
                let reason = match source {
                    Source::Blend => {
                        "blended with an estimate from its subwords, because it has few occurrences"
                    }
                    _ => "not in the vocabulary; its vector is estimated from its subwords",
                };
                note(format_args!("`{word}` is {reason}"));
            }
        }
        Ok(answer.with_member("sources", &sources))
    }

    /// Reports why a line is not a valid question.
    fn misunderstand(&mut self, line: u64, reason: &str) -> Result<()> {
        self.ending = Ending::Misunderstood;
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
        self.ending = self.ending.max(Ending::NotFound);
        let suggestions = self.embeddings.suggestions(word, SUGGESTIONS);
        if self.json {
            return print_json(&Unknown { word, error: "unknown word", suggestions });
        }
        // With subwords, only the empty word is unknown.
        let estimate = if self.subwords.is_none() { "--subwords estimates it from its spelling" } else { "" };
        let hint = match suggestions[..] {
            [] if estimate.is_empty() => String::new(),
            [] => format!("; {estimate}"),
            _ => format!("; did you mean {}? {estimate}", suggestions.join(", ")),
        };
        let hint = hint.trim_end();
        note(format_args!("`{word}` is not in the vocabulary{hint}"));
        Ok(())
    }
}
