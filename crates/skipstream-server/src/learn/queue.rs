//! Numbered lines → sentences in memory, a little ahead of training.

use std::collections::VecDeque;

use skipstream::corpus::{self, InvalidUtf8, Lines, Sentence, Source, TextOptions};
use skipstream::vocabulary::WordTimes;

use super::model::Position;
use crate::error::Result;
use crate::log::{LogReader, Logged};

/// Sentences that were read from the log and that the trainer has not learned.
#[derive(Debug)]
pub struct Queue {
    reader: LogReader,
    options: TextOptions,
    sentences: VecDeque<Queued>,
    /// Words that they add to batches.
    words: u64,
    /// Where reading continues: after all sentences.
    end: Position,
    /// The number of the next token that is read.
    token: u64,
    /// Sentences to reuse.
    spare: Vec<Sentence>,
}

#[derive(Debug)]
struct Queued {
    sentence: Sentence,
    start: Position,
}

/// The maximum number of sentences to keep for reuse.
const SPARE: usize = 10_000;

impl Queue {
    /// Continues at a position up to which `tokens` tokens were learned.
    pub fn new(reader: LogReader, start: Position, tokens: u64, options: &TextOptions) -> Queue {
        let mut options = options.clone();
        // Invalid lines are rejected on arrival. One that is in the log anyway must not stop learning.
        if options.invalid_utf8 == InvalidUtf8::Error {
            options.invalid_utf8 = InvalidUtf8::Skip;
        }
        Queue {
            reader,
            options,
            sentences: VecDeque::new(),
            words: 0,
            end: start,
            token: tokens,
            spare: Vec::new(),
        }
    }

    /// Reads until the queue has this many words. Returns false if the log has no more lines.
    pub fn fill(&mut self, words: u64, times: &mut WordTimes) -> Result<bool> {
        while self.words < words {
            let Some(logged) = self.reader.read()? else { return Ok(false) };
            self.cut(&logged, times)?;
        }
        Ok(true)
    }

    pub fn take(&mut self, sentence: &mut Sentence) -> bool {
        let Some(mut next) = self.sentences.pop_front() else { return false };
        self.words -= next.sentence.load() as u64;
        std::mem::swap(sentence, &mut next.sentence);
        if self.spare.len() < SPARE {
            self.spare.push(next.sentence);
        }
        true
    }

    pub fn sentences(&self) -> impl Iterator<Item = &Sentence> {
        self.sentences.iter().map(|queued| &queued.sentence)
    }

    /// The position of the first sentence that was not taken.
    pub fn start(&self) -> Position {
        self.sentences.front().map_or(self.end, |queued| queued.start)
    }

    /// The position after everything that was read.
    pub fn end(&self) -> Position {
        self.end
    }

    pub fn is_empty(&self) -> bool {
        self.sentences.is_empty()
    }

    /// Cuts lines into sentences.
    fn cut(&mut self, logged: &Logged, times: &mut WordTimes) -> Result<()> {
        let Logged { first, arrived, chunk, .. } = logged;
        let start = self.end;
        // A chunk may begin with lines that were learned before the service started.
        let learned = (start.line - first) as usize;
        let ends = memchr_ends(&chunk.text);
        let text_start = learned.checked_sub(1).map_or(0, |last| ends[last]);
        let text = &chunk.text[text_start..];
        // A byte order mark counts only at the start of a stream, and this is in the middle of one.
        let within = corpus::Position::at(1);
        let mut lines = Lines::starting_at(text, within, "the log", &self.options)?;
        let (mut line, mut sentences) = (0, 0);
        loop {
            let mut sentence = self.spare.pop().unwrap_or_default();
            if !lines.read(&mut sentence)?.is_sentence() {
                self.spare.push(sentence);
                break;
            }
            let behind = lines.position();
            let bytes = (behind.offset - within.offset) as usize;
            let is_whole = behind.words == 0 && text[..bytes].ends_with(b"\n");
            let its_line = behind.lines - u64::from(is_whole);
            if its_line > line {
                (line, sentences) = (its_line, 0);
            }
            let place = Position { line: start.line + line, sentences };
            sentences += 1;
            if place < start {
                self.spare.push(sentence);
                continue;
            }
            let time = chunk.times.get(learned + line as usize).copied().flatten().unwrap_or(*arrived);
            times.mark(self.token, time.as_microsecond());
            sentence.set_time(time.as_microsecond());
            sentence.set_document(place.line);
            self.token += sentence.len() as u64;
            if let Some(&weight) = chunk.line_weights.get(learned + line as usize) {
                sentence.set_weight(weight);
            }
            self.words += sentence.load() as u64;
            self.sentences.push_back(Queued { sentence, start: place });
        }
        self.end = Position { line: first + ends.len() as u64, sentences: 0 };
        Ok(())
    }
}

/// The end of each line.
fn memchr_ends(text: &[u8]) -> Vec<usize> {
    memchr::memchr_iter(b'\n', text).map(|newline| newline + 1).collect()
}
