//! How far the log was learned.

use std::collections::BTreeMap;

use crate::published::Seq;

/// A place between two sentences of the log. It is saved with the model, so that no sentence is learned twice and none is
/// passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line in which reading goes on.
    pub line: Seq,
    /// Sentences of that line which are learned: a long line is cut into several, and a batch may end between two.
    pub sentences: u64,
}

const LINE: &str = "serve_line";
const SENTENCES: &str = "serve_sentences";

impl Position {
    /// Before the first line.
    pub const START: Position = Position { line: 1, sentences: 0 };

    /// The last line that is learned whole.
    pub fn learned(&self) -> Seq {
        self.line - 1
    }

    /// Writes it into a model's notes.
    pub fn note(&self, notes: &mut BTreeMap<String, String>) {
        notes.insert(LINE.to_owned(), self.line.to_string());
        notes.insert(SENTENCES.to_owned(), self.sentences.to_string());
    }

    /// What a model's notes say, if they do.
    pub fn noted(notes: &BTreeMap<String, String>) -> Option<Position> {
        let number = |name| notes.get(name)?.parse().ok();
        let (line, sentences) = (number(LINE)?, number(SENTENCES)?);
        (line > 0).then_some(Position { line, sentences })
    }
}
