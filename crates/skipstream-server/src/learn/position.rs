//! How far the log was learned.

use std::collections::BTreeMap;

use crate::published::Seq;

/// A position between two sentences of the log. It is saved in the model file, so that no sentence is learned twice or
/// skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line where reading continues.
    pub line: Seq,
    /// Sentences of that line that are learned: a long line has several, and a batch may end between two.
    pub sentences: u64,
}

const LINE: &str = "serve_line";
const SENTENCES: &str = "serve_sentences";

impl Position {
    /// Before the first line.
    pub const START: Position = Position { line: 1, sentences: 0 };

    /// The last line that is completely learned.
    pub fn learned(&self) -> Seq {
        self.line - 1
    }

    /// Writes the position to the notes of a model.
    pub fn note(&self, notes: &mut BTreeMap<String, String>) {
        notes.insert(LINE.to_owned(), self.line.to_string());
        notes.insert(SENTENCES.to_owned(), self.sentences.to_string());
    }

    /// Reads the position from the notes of a model, if they have one.
    pub fn noted(notes: &BTreeMap<String, String>) -> Option<Position> {
        let number = |name| notes.get(name)?.parse().ok();
        let (line, sentences) = (number(LINE)?, number(SENTENCES)?);
        (line > 0).then_some(Position { line, sentences })
    }
}
