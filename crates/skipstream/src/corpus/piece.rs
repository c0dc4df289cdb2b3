//! Decoding: the bytes of a line become the tokens of a sentence, split at white space.

use super::Sentence;
use super::options::{TextOptions, Tokenizer};
use super::sentence::offset;
use super::separators::{BLOCK, Separator, candidates, separator};
use super::words::boundaries;

/// The number of bytes that may accumulate before unneeded ones are dropped; few in tests, so that it happens there.
const COMPACT_BYTES: usize = if cfg!(test) { 16 } else { 64 << 10 };

/// The number of bytes after a word boundary that decide whether it is one: the next two characters, each with a few
/// combining marks.
const CONTEXT_BYTES: usize = 64;

/// What to do with text without white space that is longer than a token may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LongRun {
    /// It is one token, and left out.
    LeaveOut,
    /// It may be many words, as in scripts without spaces: it is cut between two of them. Only a word that is too long is
    /// left out.
    Cut,
}

/// Whether all bytes of a run are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunEnd {
    Known,
    Open,
}

/// Whether a piece may have more tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Capacity {
    Left,
    None,
}

/// A line, or a piece of a long one, while its bytes arrive in parts of any size.
///
/// It is built in the memory of the sentence, so a line in one part costs one copy and no allocation. Between parts, only
/// the bytes of finished tokens, of the open token up to its limit and of an incomplete character must stay; `compact`
/// drops the rest, which bounds the memory whatever the line holds.
pub(super) struct Piece {
    bytes: Vec<u8>,
    spans: Vec<(u32, u32)>,
    max_words: usize,
    max_token_bytes: usize,
    long_run: LongRun,
    /// Where the open token starts: after the last separator.
    token: usize,
    scanned: usize,
    /// Whether bytes of the open token were dropped because it is too long.
    oversized: bool,
    /// The difference between an index in `bytes`, after the finished tokens, and its stream offset.
    origin: u64,
    /// Until the end, invalid bytes are found only among those that were dropped or moved.
    found: Finished,
    /// The length of `bytes` at which to compact again.
    compact_at: usize,
}

#[derive(Default)]
pub(super) struct Finished {
    /// The number of tokens that were left out.
    pub(super) long_tokens: u64,
    /// The stream offset of the first of them.
    pub(super) first_long: Option<u64>,
    /// The stream offset of the first byte that is not UTF-8.
    pub(super) first_invalid: Option<u64>,
    /// The stream offset of the first NUL.
    pub(super) first_nul: Option<u64>,
}

impl Piece {
    /// An empty piece that starts at a stream offset, built in the memory of a cleared sentence.
    pub(super) fn new(sentence: &mut Sentence, origin: u64, options: &TextOptions) -> Self {
        Self {
            bytes: std::mem::take(&mut sentence.text).into_bytes(),
            spans: std::mem::take(&mut sentence.spans),
            max_words: options.max_sentence_words,
            max_token_bytes: options.max_token_bytes,
            long_run: match options.tokenizer {
                Tokenizer::Whitespace => LongRun::LeaveOut,
                Tokenizer::Unicode => LongRun::Cut,
            },
            token: 0,
            scanned: 0,
            oversized: false,
            origin,
            found: Finished::default(),
            compact_at: COMPACT_BYTES,
        }
    }

    /// Adds bytes, none of them a newline.
    pub(super) fn extend(&mut self, part: &[u8]) {
        if self.bytes.len() + part.len() > self.compact_at {
            self.compact();
            self.compact_at = 2 * self.bytes.len() + part.len() + COMPACT_BYTES;
        }
        self.bytes.extend_from_slice(part);
    }

    /// Finds the tokens in the bytes that were added; `last` says that the line ends here.
    ///
    /// When the piece has the maximum number of tokens, it ends after the last of them and its separator. The result is the
    /// number of bytes after that, for [`split_off`](Self::split_off).
    pub(super) fn scan(&mut self, last: bool) -> Option<usize> {
        let mut block_start = self.scanned;
        while block_start < self.bytes.len() {
            let mut marks = candidates_from(&self.bytes, block_start);
            while marks != 0 {
                let place = block_start + marks.trailing_zeros() as usize;
                marks &= marks - 1;
                let width = match separator(&self.bytes[place..]) {
                    Separator::Of(width) => width,
                    Separator::Nul => {
                        self.found.first_nul.get_or_insert(self.origin + place as u64);
                        1
                    }
                    Separator::Undecided if !last => return self.pause(place),
                    Separator::Undecided | Separator::No => continue,
                };
                if self.end_token(place) == Capacity::None {
                    return Some(self.bytes.len() - self.token);
                }
                self.token = place + width;
                if self.spans.len() == self.max_words {
                    return Some(self.bytes.len() - self.token);
                }
            }
            block_start += BLOCK;
        }
        if !last {
            return self.pause(self.bytes.len());
        }
        self.scanned = self.bytes.len();
        match self.end_token(self.scanned) {
            Capacity::Left => None,
            Capacity::None => Some(self.bytes.len() - self.token),
        }
    }

    fn pause(&mut self, scanned: usize) -> Option<usize> {
        self.scanned = scanned;
        if self.long_run == LongRun::Cut && self.cut_run(scanned, RunEnd::Open) == Capacity::None {
            return Some(self.bytes.len() - self.token);
        }
        None
    }

    /// Removes the last `rest` bytes, which belong to the next piece. Those of them that were not in the last part, of
    /// `part` bytes, are appended to `carried`.
    pub(super) fn split_off(&mut self, rest: usize, part: usize, carried: &mut Vec<u8>) {
        let end = self.bytes.len() - rest;
        carried.extend_from_slice(&self.bytes[end..end + rest.saturating_sub(part)]);
        self.bytes.truncate(end);
    }

    /// Completes the sentence. Invalid bytes are replaced by U+FFFD.
    pub(super) fn finish(self, sentence: &mut Sentence) -> Finished {
        let mut finished = self.found;
        let bytes = match String::from_utf8(self.bytes) {
            Ok(text) if finished.first_invalid.is_none() => {
                sentence.text = text;
                sentence.spans = self.spans;
                return finished;
            }
            // Tokens that were moved together can look valid across a boundary within an invalid sequence.
            Ok(text) => text.into_bytes(),
            Err(error) => {
                let place = self.origin + error.utf8_error().valid_up_to() as u64;
                finished.first_invalid.get_or_insert(place);
                error.into_bytes()
            }
        };
        for (start, end) in self.spans {
            let token = String::from_utf8_lossy(&bytes[start as usize..end as usize]);
            if self.long_run == LongRun::LeaveOut && token.len() > self.max_token_bytes {
                finished.long_tokens += 1;
                // Tokens were moved; the invalid byte that made this one longer is near.
                finished.first_long = finished.first_long.or(finished.first_invalid);
            } else {
                sentence.push(&token);
            }
        }
        finished
    }

    #[inline]
    fn end_token(&mut self, end: usize) -> Capacity {
        let length = end - self.token;
        if self.oversized || length > self.max_token_bytes {
            return self.end_long_run(end);
        }
        if length > 0 {
            self.spans.push((offset(self.token), offset(end)));
        }
        Capacity::Left
    }

    #[cold]
    fn end_long_run(&mut self, end: usize) -> Capacity {
        match self.long_run {
            LongRun::Cut => self.cut_run(end, RunEnd::Known),
            LongRun::LeaveOut => {
                self.note_long();
                self.found.long_tokens += 1;
                self.oversized = false;
                Capacity::Left
            }
        }
    }

    /// Notes where the first token starts that is too long.
    fn note_long(&mut self) {
        if !self.oversized {
            self.found.first_long.get_or_insert(self.origin + self.token as u64);
        }
    }

    /// Cuts the open run, of which the bytes up to `end` are known, between words into parts that may be tokens.
    ///
    /// Where it is cut depends only on the bytes from the start of the run, not on the parts in which they arrived. A part
    /// can be cut in turn as if the text started there, because the rules for boundaries do not look across one.
    fn cut_run(&mut self, end: usize, run_end: RunEnd) -> Capacity {
        loop {
            let length = end - self.token;
            let window = length.min(self.max_token_bytes + CONTEXT_BYTES);
            let whole = run_end == RunEnd::Known && window == length;
            if run_end == RunEnd::Open && window == length {
                return Capacity::Left;
            }
            if whole && length <= self.max_token_bytes && !self.oversized {
                return self.end_token(end);
            }
            let bytes = &self.bytes[self.token..self.token + window];
            let decided = if whole { window } else { self.max_token_bytes };
            let cut = if self.oversized {
                boundaries(bytes).next().or(whole.then_some(0)).filter(|&cut| cut <= decided)
            } else {
                boundaries(bytes).take_while(|&cut| cut <= self.max_token_bytes).last()
            };
            match cut {
                Some(cut) if self.oversized => {
                    self.found.long_tokens += 1;
                    self.oversized = false;
                    self.token += cut;
                }
                Some(cut) => {
                    self.spans.push((offset(self.token), offset(self.token + cut)));
                    self.token += cut;
                    if self.spans.len() == self.max_words {
                        return Capacity::None;
                    }
                }
                None => {
                    let is_inside = |byte: &&u8| (0x80..0xC0).contains(*byte);
                    let rest = bytes[self.max_token_bytes..].iter().take_while(is_inside).count();
                    self.note_long();
                    self.oversized = true;
                    self.token += self.max_token_bytes + rest;
                }
            }
        }
    }

    /// Drops every byte that is no longer needed and moves the tokens together.
    fn compact(&mut self) {
        let mut keep = self.token;
        if self.long_run == LongRun::LeaveOut {
            if self.scanned - self.token > self.max_token_bytes {
                self.note_long();
                self.oversized = true;
            }
            if self.oversized {
                keep = self.scanned;
            }
        }
        if self.found.first_invalid.is_none()
            && let Err(error) = std::str::from_utf8(&self.bytes[..keep])
        {
            match error.error_len() {
                // The next bytes may complete the character.
                None if keep > self.token => keep = error.valid_up_to(),
                _ => self.found.first_invalid = Some(self.origin + error.valid_up_to() as u64),
            }
        }
        let mut end_of_kept = 0;
        for (start, end) in &mut self.spans {
            let token = *start as usize..*end as usize;
            let moved = end_of_kept..end_of_kept + token.len();
            self.bytes.copy_within(token, moved.start);
            (*start, *end) = (offset(moved.start), offset(moved.end));
            end_of_kept = moved.end;
        }
        self.bytes.drain(end_of_kept..keep);
        let dropped = keep - end_of_kept;
        self.token = end_of_kept;
        self.scanned -= dropped;
        self.origin += dropped as u64;
    }
}

/// Marks the candidates in a block of bytes from `place` on.
#[inline]
fn candidates_from(bytes: &[u8], place: usize) -> u64 {
    let rest = &bytes[place..];
    if let Some(block) = rest.first_chunk() {
        candidates(block)
    } else if let Some(block) = bytes.last_chunk() {
        candidates(block) >> (BLOCK - rest.len())
    } else {
        let mut block = [b'a'; BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        candidates(&block)
    }
}
