//! Whole lines that one thread cuts off a text and another splits into sentences.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::lines::Lines;
use super::options::TextOptions;
use super::position::Position;
use super::report::TextReport;
use super::sentence::{Read, Sentence, Source, offset};
use crate::Result;
use crate::error::Error;

/// Whole lines of a text, which [`Source::cut`] cuts off so that another thread can split them into sentences.
///
/// The sentences, errors and positions are those that [`Source::read`] would have returned.
#[derive(Debug)]
pub struct Passage {
    name: PathBuf,
    options: TextOptions,
    start: Position,
    /// The lines, until they are split. Then those after an error.
    raw: Vec<u8>,
    is_split: bool,
    n_bytes: usize,
    pub(super) n_lines: u64,
    /// The bytes of all tokens.
    text: String,
    /// Where each token starts and ends in `text`.
    spans: Vec<(u32, u32)>,
    ends: Vec<SentenceEnd>,
    /// What ended the sentences, and the position after it.
    error: Option<Error>,
    rest: Position,
    pub(super) report: TextReport,
    /// The number of sentences that were taken.
    taken: usize,
    /// How many of them had been taken when the passage was last cut.
    taken_before: usize,
    is_used_up: bool,
}

/// The end of a sentence: the number of tokens up to it, and the position after it, relative to the start.
#[derive(Clone, Copy, Debug)]
struct SentenceEnd {
    tokens: u32,
    offset: u32,
    lines: u32,
    words: u32,
}

impl Passage {
    pub(super) fn new(name: &Path, options: &TextOptions, start: Position, raw: Vec<u8>) -> Passage {
        Passage {
            name: name.to_owned(),
            options: options.clone(),
            start,
            n_lines: memchr::memchr_iter(b'\n', &raw).count() as u64,
            text: String::with_capacity(raw.len()),
            n_bytes: raw.len(),
            raw,
            is_split: false,
            spans: Vec::new(),
            ends: Vec::new(),
            error: None,
            rest: start,
            report: TextReport::default(),
            taken: 0,
            taken_before: 0,
            is_used_up: false,
        }
    }

    /// Maximum memory per byte of text when it is split and its words are looked up. At worst each line is one letter: for
    /// two bytes there are the text twice, the end of a sentence, a span, a hash and an id.
    pub(crate) const MAX_BYTES_PER_BYTE: usize = 2 + (size_of::<SentenceEnd>() + 8 + 8 + 4) / 2;

    /// Splits the lines into sentences, unless that was done.
    pub(crate) fn split(&mut self) {
        if self.is_split {
            return;
        }
        let raw = std::mem::take(&mut self.raw);
        let mut lines = Lines::starting_at(&raw[..], self.start, &self.name, &self.options)
            .expect("the options were checked when the text was opened");
        let mut sentence = Sentence::default();
        loop {
            match lines.read(&mut sentence) {
                Ok(Read::Sentence) => self.push(&sentence, lines.position()),
                Ok(_) => break,
                Err(error) => {
                    self.error = Some(error);
                    break;
                }
            }
        }
        self.report = lines.report().clone();
        self.rest = lines.end();
        self.raw.extend_from_slice(&raw[(self.rest.offset - self.start.offset) as usize..]);
        self.is_split = true;
        self.spans.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// The lines after an error.
    pub(super) fn rest(mut self) -> Option<Passage> {
        let raw = std::mem::take(&mut self.raw);
        (!raw.is_empty()).then(|| Passage::new(&self.name, &self.options, self.rest, raw))
    }

    fn push(&mut self, sentence: &Sentence, position: Position) {
        let base = offset(self.text.len());
        self.text.push_str(&sentence.text);
        self.spans.extend(sentence.spans.iter().map(|&(start, end)| (base + start, base + end)));
        self.ends.push(SentenceEnd {
            tokens: offset(self.spans.len()),
            offset: (position.offset - self.start.offset) as u32,
            lines: (position.lines - self.start.lines) as u32,
            words: position.words as u32,
        });
    }

    pub(super) fn begin(&mut self) {
        self.taken_before = self.taken;
    }

    /// The length of the lines.
    pub(crate) fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// The number of tokens that were not taken yet.
    pub(crate) fn n_left(&self) -> usize {
        self.spans.len() - self.n_taken()
    }

    /// The bytes of the tokens that were not taken yet.
    pub(crate) fn words(&self) -> impl Iterator<Item = &[u8]> {
        let text = self.text.as_bytes();
        self.spans[self.tokens_of(self.taken)..]
            .iter()
            .map(|&(start, end)| &text[start as usize..end as usize])
    }

    pub(crate) fn word(&self, number: usize) -> &str {
        let (start, end) = self.spans[number];
        &self.text[start as usize..end as usize]
    }

    /// Takes the next sentence, as the numbers of its tokens.
    pub(crate) fn take_sentence(&mut self) -> Option<Result<Range<usize>>> {
        let Some(end) = self.ends.get(self.taken) else {
            self.is_used_up = true;
            return self.error.take().map(Err);
        };
        let end = end.tokens as usize;
        let start = self.tokens_of(self.taken);
        self.taken += 1;
        Some(Ok(start..end))
    }

    /// Takes the next sentence, and copies it.
    pub(super) fn read(&mut self, sentence: &mut Sentence) -> Option<Result<()>> {
        Some(self.take_sentence()?.map(|tokens| tokens.for_each(|token| sentence.push(self.word(token)))))
    }

    /// Whether someone asked for a sentence after the last. Before that, one without sentences is not used up either, so
    /// that reports are added in the order of the text.
    pub(super) fn is_used_up(&self) -> bool {
        self.is_used_up
    }

    /// The position after the last sentence that was taken.
    pub(super) fn position(&self) -> Option<Position> {
        let end = self.ends[..self.taken].last()?;
        Some(Position {
            offset: self.start.offset + u64::from(end.offset),
            lines: self.start.lines + u64::from(end.lines),
            words: end.words.into(),
        })
    }

    /// The number of tokens that were taken since the passage was cut.
    pub(super) fn taken_words(&self) -> u64 {
        (self.tokens_of(self.taken) - self.tokens_of(self.taken_before)) as u64
    }

    /// The number of tokens in the sentences that were taken.
    pub(crate) fn n_taken(&self) -> usize {
        self.tokens_of(self.taken)
    }

    /// The number of tokens in the first sentences.
    fn tokens_of(&self, sentences: usize) -> usize {
        self.ends[..sentences].last().map_or(0, |end| end.tokens as usize)
    }
}
