//! Framing: lines of text, read as sentences.

use std::collections::VecDeque;
#[cfg(feature = "records")]
use std::io::Cursor;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use super::marks::take_mark;
use super::options::{InvalidUtf8, TextOptions};
use super::passage::Passage;
use super::piece::{Finished, Piece};
use super::position::Position;
use super::report::{Location, TextReport};
use super::sentence::{Read, Sentence, Source};
use super::words::WordSplitter;
use crate::bytes::read_error;
use crate::{Error, Result};

/// The maximum number of bytes added to a piece at once, so that little is copied twice where a line is cut.
const STEP_BYTES: usize = 4096;

/// The number of bytes at the start of a text that are examined for signs of prose.
const EXAMINED_BYTES: u64 = 1 << 20;

/// Reads each line as a sentence of tokens, by default split at Unicode white space.
///
/// - Only `\n` ends a line; `\r` and the wide line separators are white space. Lines without tokens are skipped.
/// - A line of more than `max_sentence_words` tokens is cut into several sentences.
/// - A token of more than `max_token_bytes` bytes, before or after normalization, is left out.
/// - A NUL byte separates tokens. Lines with one are counted.
/// - A byte order mark at the start is dropped. UTF-16 is an error.
///
/// A line is never held whole: memory is bounded by the limits.
///
/// ```
/// use skipstream::corpus::{Lines, Sentence, Source, TextOptions};
///
/// let mut lines = Lines::new("the cat\n\nsat".as_bytes(), "example", &TextOptions::default())?;
/// let mut sentence = Sentence::default();
/// assert!(lines.read(&mut sentence)?.is_sentence());
/// assert_eq!(sentence.tokens().collect::<Vec<_>>(), ["the", "cat"]);
/// assert_eq!(lines.position().offset, 8);
/// # Ok::<(), skipstream::Error>(())
/// ```
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    name: PathBuf,
    options: TextOptions,
    /// The stream offset of the reader's next byte.
    offset: u64,
    /// Bytes that were taken from the reader and belong to the next piece.
    carried: Vec<u8>,
    /// The number of lines before the start of reading.
    lines_before: u64,
    position: Position,
    /// Where the last piece started, and why it ended.
    piece_start: Position,
    piece_end: End,
    line: Line,
    /// Whether the last sentence of prose ended before its line.
    is_prose_end: bool,
    /// Where the record of this text starts, if it is from a record.
    record: Option<Position>,
    /// The tokenizer, unless tokens are just split at white space.
    words: Option<Box<WordSplitter>>,
    /// Passages that were cut and not used up, which come before the reader's next byte.
    ahead: VecDeque<Passage>,
    /// The number of lines in all passages that were cut and not used up.
    lines_cut: u64,
    /// Why no more could be cut.
    failed: Option<Error>,
    report: TextReport,
}

#[derive(Debug, Default)]
struct Line {
    /// From 1.
    number: u64,
    begun: bool,
    has_sentence: bool,
    is_cut: bool,
    invalid: bool,
    nul: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Cut,
    Line,
    Stream,
}

impl<R: BufRead> Lines<R> {
    /// Reads from the start of a stream; errors call it `name`.
    pub fn new(reader: R, name: impl AsRef<Path>, options: &TextOptions) -> Result<Self> {
        Self::starting_at(reader, Position::default(), name, options)
    }

    /// Continues at the [`position`](Self::position) of an earlier reader; `reader` must be at its offset.
    ///
    /// With the same options the following sentences are those that the earlier reader would have returned.
    pub fn starting_at(
        reader: R,
        position: Position,
        name: impl AsRef<Path>,
        options: &TextOptions,
    ) -> Result<Self> {
        options.check()?;
        Ok(Self {
            reader,
            name: name.as_ref().to_owned(),
            options: options.clone(),
            offset: position.offset,
            carried: Vec::new(),
            lines_before: position.lines,
            position,
            piece_start: position,
            piece_end: End::Line,
            line: Line::default(),
            is_prose_end: false,
            record: None,
            words: (!options.is_plain() || position.words > 0)
                .then(|| Box::new(WordSplitter::new(options, position.words))),
            ahead: VecDeque::new(),
            lines_cut: 0,
            failed: None,
            report: TextReport::default(),
        })
    }

    /// The position after the last sentence that was returned.
    pub fn position(&self) -> Position {
        self.position
    }

    /// The position after everything that was taken from the reader, including empty lines after the last sentence.
    pub fn end(&self) -> Position {
        self.after_piece()
    }

    /// What was found so far.
    pub fn report(&self) -> &TextReport {
        &self.report
    }

    /// Whether the next byte starts a line that no sentence has begun.
    fn is_between_lines(&self) -> bool {
        self.record.is_none()
            && self.piece_end != End::Cut
            && self.words.as_ref().is_none_or(|words| words.is_empty() && !words.is_skipping())
    }

    /// Takes whole lines of at most `max_bytes` from the reader; none if the next one is longer.
    fn take_lines(&mut self, max_bytes: usize) -> Vec<u8> {
        let mut lines = std::mem::take(&mut self.carried);
        lines.reserve_exact(max_bytes.saturating_sub(lines.len()));
        loop {
            let chunk = match self.reader.fill_buf() {
                Ok([]) => return lines,
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.failed = Some(read_error(&self.name, error));
                    // As when reading, an error takes the line with it.
                    lines.truncate(memchr::memrchr(b'\n', &lines).map_or(0, |newline| newline + 1));
                    return lines;
                }
            };
            let room = max_bytes.saturating_sub(lines.len());
            let (taken, is_last) = match chunk.get(..room) {
                None => (chunk.len(), false),
                Some(part) => (memchr::memrchr(b'\n', part).map_or(0, |newline| newline + 1), true),
            };
            lines.extend_from_slice(&chunk[..taken]);
            self.reader.consume(taken);
            self.offset += taken as u64;
            if is_last {
                let end = memchr::memrchr(b'\n', &lines).map_or(0, |newline| newline + 1);
                self.carried.extend(lines.drain(end..));
                return lines;
            }
        }
    }

    /// Counts a passage that was used up.
    fn close(&mut self, mut passage: Passage) {
        self.lines_cut -= passage.n_lines;
        self.report += std::mem::take(&mut passage.report);
        if let Some(rest) = passage.rest() {
            self.lines_cut += rest.n_lines;
            self.ahead.push_front(rest);
        }
    }

    /// Reads a sentence of the passages that were put back. `None` if there is none.
    fn read_ahead(&mut self, sentence: &mut Sentence) -> Option<Result<Read>> {
        sentence.clear();
        while let Some(mut passage) = self.ahead.pop_front() {
            passage.split();
            let read = passage.read(sentence);
            self.put_back(passage);
            if let Some(read) = read {
                return Some(read.map(|()| Read::Sentence));
            }
        }
        self.failed.take().map(Err)
    }

    /// Reads a sentence of tokens that are just split at white space.
    fn read_plain(&mut self, sentence: &mut Sentence) -> Result<Read> {
        loop {
            self.read_piece(sentence)?;
            if !sentence.is_empty() {
                self.position = self.after_piece();
                return Ok(Read::Sentence);
            }
            if self.piece_end == End::Stream {
                return Ok(Read::End);
            }
        }
    }

    /// Reads a sentence of words made by the tokenizer. The pieces of a line are joined, so that only the last sentence of
    /// a line is shorter than the limit.
    fn read_words(&mut self, words: &mut WordSplitter, sentence: &mut Sentence) -> Result<Read> {
        sentence.clear();
        // The end that an earlier call found may be outdated: the stream may have grown since.
        let mut is_ended = false;
        loop {
            let long_tokens = self.report.long_tokens;
            self.is_prose_end = words.fill(sentence, self.options.max_sentence_words, &mut self.report);
            if self.report.long_tokens > long_tokens {
                let place = self.place(self.piece_start.offset);
                self.report.first.long_token.get_or_insert(place);
            }
            let is_full = sentence.len() == self.options.max_sentence_words;
            if is_full || self.is_prose_end || (self.piece_end != End::Cut && !sentence.is_empty()) {
                self.position = if words.is_empty() {
                    self.after_piece()
                } else {
                    Position { words: words.taken(), ..self.piece_start }
                };
                return Ok(Read::Sentence);
            }
            if is_ended {
                return Ok(Read::End);
            }
            let is_kept = self.read_piece(&mut words.runs)?;
            words.restart();
            is_ended = self.piece_end == End::Stream;
            if !is_kept && !sentence.is_empty() {
                // No window reaches across text that is left out.
                self.position = self.after_piece();
                return Ok(Read::Sentence);
            }
        }
    }

    fn after_piece(&self) -> Position {
        Position {
            offset: self.offset - self.carried.len() as u64,
            lines: self.lines_before + self.report.lines,
            words: 0,
        }
    }

    /// A byte in the current line.
    fn place(&self, offset: u64) -> Location {
        let (line, offset) = match self.record {
            Some(record) => (record.lines + 1, record.offset),
            None => (self.line.number, offset),
        };
        Location { path: self.name.clone(), line, offset }
    }

    /// Reads one piece, which may have no tokens. False if the policy for invalid UTF-8 leaves it out.
    fn read_piece(&mut self, sentence: &mut Sentence) -> Result<bool> {
        sentence.clear();
        self.piece_start = self.after_piece();
        if self.piece_end != End::Cut {
            let number = self.lines_before + self.report.lines + 1;
            self.line = Line { number, ..Line::default() };
        }
        if self.offset == 0 && self.record.is_none() {
            let taken = take_mark(&mut self.reader, &self.name)?;
            self.offset = taken.bytes;
            self.carried.extend_from_slice(taken.text);
            self.line.begun = taken.bytes > 0;
        }
        let mut piece = Piece::new(sentence, self.after_piece().offset, &self.options);
        piece.extend(&self.carried);
        self.carried.clear();
        self.piece_end = loop {
            let chunk = match self.reader.fill_buf() {
                Ok(chunk) => &chunk[..chunk.len().min(STEP_BYTES)],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(read_error(&self.name, error)),
            };
            let (part, end) = match memchr::memchr(b'\n', chunk) {
                Some(newline) => (&chunk[..newline], Some(End::Line)),
                None if chunk.is_empty() => (chunk, Some(End::Stream)),
                None => (chunk, None),
            };
            piece.extend(part);
            let (taken, end) = match piece.scan(end.is_some()) {
                Some(rest) => {
                    piece.split_off(rest, part.len(), &mut self.carried);
                    (part.len().saturating_sub(rest), Some(End::Cut))
                }
                None => (part.len() + usize::from(end == Some(End::Line)), end),
            };
            self.reader.consume(taken);
            self.offset += taken as u64;
            self.line.begun |= taken > 0;
            if let Some(end) = end {
                break end;
            }
        };
        let finished = piece.finish(sentence);
        self.admit(sentence, &finished)
    }

    /// Counts a piece, then applies the policy for invalid UTF-8.
    fn admit(&mut self, sentence: &mut Sentence, finished: &Finished) -> Result<bool> {
        self.report.long_tokens += finished.long_tokens;
        if let Some(place) = finished.first_long.map(|offset| self.place(offset)) {
            self.report.first.long_token.get_or_insert(place);
        }
        if let Some(place) = finished.first_nul.map(|offset| self.place(offset)) {
            self.report.nul_lines += u64::from(!std::mem::replace(&mut self.line.nul, true));
            self.report.first.nul_line.get_or_insert(place);
        }
        if let Some(place) = finished.first_invalid.map(|offset| self.place(offset)) {
            self.report.invalid_lines += u64::from(!std::mem::replace(&mut self.line.invalid, true));
            self.report.first.invalid_line.get_or_insert(place);
        }
        if self.piece_end != End::Cut {
            self.report.lines += u64::from(self.line.begun);
        }
        match (finished.first_invalid, self.options.invalid_utf8) {
            (None, _) | (_, InvalidUtf8::Replace) => Ok(true),
            (Some(_), InvalidUtf8::Skip) => {
                sentence.clear();
                Ok(false)
            }
            (Some(offset), InvalidUtf8::Error) => {
                let Location { path, line, offset } = self.place(offset);
                Err(Error::InvalidUtf8 { path, line, offset })
            }
        }
    }
}

#[cfg(feature = "records")]
impl Lines<Cursor<Vec<u8>>> {
    /// Reads the text of one record after the other; [`begin_record`](Self::begin_record) gives the first.
    ///
    /// Records are read as words whatever the options: a position in a record is a number of words, so what follows it
    /// must not depend on how the words before it were split into pieces.
    pub(super) fn of_records(name: &Path, options: &TextOptions) -> Result<Self> {
        let words = Some(Box::new(WordSplitter::new(options, 0)));
        Ok(Self { words, ..Self::new(Cursor::default(), name, options)? })
    }

    /// Starts the text of a record, and skips its first words.
    pub(super) fn begin_record(&mut self, text: &[u8], start: Position, skip_words: u64) {
        self.reader.set_position(0);
        self.reader.get_mut().clear();
        self.reader.get_mut().extend_from_slice(text);
        self.carried.clear();
        self.piece_end = End::Line;
        self.record = Some(start);
        if let Some(words) = &mut self.words {
            words.begin(skip_words);
        }
    }
}

impl TextOptions {
    /// The token that a text becomes, if it is exactly one.
    ///
    /// ```
    /// use skipstream::corpus::TextOptions;
    ///
    /// let options = TextOptions { lowercase: true, ..TextOptions::default() };
    /// assert_eq!(options.only_token("Berlin").as_deref(), Some("berlin"));
    /// assert_eq!(options.only_token("New York"), None);
    /// ```
    pub fn only_token(&self, text: &str) -> Option<String> {
        let mut sentence = Sentence::default();
        let mut lines = Lines::new(text.as_bytes(), "a word", self).ok()?;
        lines.read(&mut sentence).ok()?;
        let token = sentence.tokens().next().filter(|_| sentence.len() == 1).map(str::to_owned);
        token.filter(|_| lines.read(&mut sentence).is_ok_and(|read| read == Read::End))
    }
}

impl<R: BufRead> Source for Lines<R> {
    fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
        if let Some(read) = self.read_ahead(sentence) {
            return read;
        }
        let was_prose_end = self.is_prose_end;
        let read = match self.words.take() {
            None => self.read_plain(sentence),
            Some(mut words) => {
                let read = self.read_words(&mut words, sentence);
                self.words = Some(words);
                read
            }
        };
        match read {
            Ok(Read::Sentence) => {
                // The rest of a sentence that was too long.
                if self.line.has_sentence && !was_prose_end && !self.line.is_cut {
                    self.line.is_cut = true;
                    self.report.cut_lines += 1;
                    let place = self.place(self.piece_start.offset);
                    self.report.first.cut_line.get_or_insert(place);
                }
                self.line.has_sentence = true;
                let offset = self.record.unwrap_or(self.position).offset;
                if offset <= EXAMINED_BYTES && self.options.is_plain() {
                    self.report.prose.examine(sentence.tokens());
                }
                self.report.sentences += 1;
                self.report.tokens += sentence.len() as u64;
            }
            Ok(_) => {}
            Err(_) => sentence.clear(),
        }
        read
    }

    fn cut(&mut self, max_bytes: usize) -> Option<Passage> {
        if let Some(mut passage) = self.ahead.pop_front() {
            passage.begin();
            return Some(passage);
        }
        // The first line is read, with the byte order mark that may precede it.
        if self.offset == 0 || self.failed.is_some() || !self.is_between_lines() {
            return None;
        }
        let Position { offset, lines, .. } = self.after_piece();
        let raw = self.take_lines(max_bytes);
        if raw.is_empty() {
            return None;
        }
        let start = Position { offset, lines: lines + self.lines_cut, words: 0 };
        let passage = Passage::new(&self.name, &self.options, start, raw);
        self.lines_cut += passage.n_lines;
        Some(passage)
    }

    fn put_back(&mut self, passage: Passage) {
        self.position = passage.position().unwrap_or(self.position);
        if passage.is_used_up() { self.close(passage) } else { self.ahead.push_front(passage) }
    }
}

#[cfg(test)]
mod tests;
