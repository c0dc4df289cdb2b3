//! One sentence in the making: raw bytes go in, token spans come out.

use super::Sentence;
use super::options::TextOptions;
use super::sentence::offset;
use super::separators::{BLOCK, Separator, candidates, separator};

/// The bytes that may gather before those of no further use are dropped; few in tests, so that it happens there.
const COMPACT_BYTES: usize = if cfg!(test) { 16 } else { 64 << 10 };

/// A line, or a piece of a long one, while its bytes arrive in parts of any size.
///
/// The buffers are the sentence's own, so that a line in one part costs one copy and no allocation. Over parts, the
/// bytes of finished tokens, of the open token up to its limit and of an unfinished character are all that must
/// stay; `compact` drops the rest, and that bounds the memory by the limits whatever the line holds.
pub(super) struct Piece {
    bytes: Vec<u8>,
    spans: Vec<(u32, u32)>,
    max_words: usize,
    max_token_bytes: usize,
    /// Where the open token starts: behind the last separator.
    token: usize,
    /// The first byte that was not looked at.
    scanned: usize,
    /// Whether bytes of the open token were dropped because it is too long.
    oversized: bool,
    long_tokens: u64,
    /// What to add to a place in `bytes`, behind the finished tokens, for its stream offset.
    origin: u64,
    /// The stream offset of the first bad byte among those that were dropped or moved.
    first_invalid: Option<u64>,
    /// The length of `bytes` at which it is worth while to compact again.
    compact_at: usize,
}

/// What was met on the way to a finished sentence.
pub(super) struct Finished {
    /// Tokens that were left out.
    pub(super) long_tokens: u64,
    /// The stream offset of the first byte that is not UTF-8.
    pub(super) first_invalid: Option<u64>,
}

impl Piece {
    /// An empty piece that starts at a stream offset and takes over the buffers of a cleared sentence.
    pub(super) fn new(sentence: &mut Sentence, origin: u64, options: &TextOptions) -> Self {
        Self {
            bytes: std::mem::take(&mut sentence.text).into_bytes(),
            spans: std::mem::take(&mut sentence.spans),
            max_words: options.max_sentence_words,
            max_token_bytes: options.max_token_bytes,
            token: 0,
            scanned: 0,
            oversized: false,
            long_tokens: 0,
            origin,
            first_invalid: None,
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
    /// When the piece has all the tokens it may have, it ends behind the separator that ended the last of them, and
    /// the result is the number of bytes behind that, which belong to the next piece. They were all in the last part.
    pub(super) fn scan(&mut self, last: bool) -> Option<usize> {
        let mut block_start = self.scanned;
        while block_start < self.bytes.len() {
            let mut marks = candidates_from(&self.bytes, block_start);
            while marks != 0 {
                let place = block_start + marks.trailing_zeros() as usize;
                marks &= marks - 1;
                match separator(&self.bytes[place..]) {
                    Separator::Of(width) => {
                        self.end_token(place);
                        self.token = place + width;
                        if self.spans.len() == self.max_words {
                            let rest = self.bytes.len() - self.token;
                            self.bytes.truncate(self.token);
                            return Some(rest);
                        }
                    }
                    Separator::Undecided if !last => {
                        self.scanned = place;
                        return None;
                    }
                    Separator::Undecided | Separator::No => {}
                }
            }
            block_start += BLOCK;
        }
        self.scanned = self.bytes.len();
        if last {
            self.end_token(self.bytes.len());
        }
        None
    }

    /// Hands the buffers back to the sentence, with bad bytes replaced by U+FFFD.
    pub(super) fn finish(self, sentence: &mut Sentence) -> Finished {
        let mut finished = Finished { long_tokens: self.long_tokens, first_invalid: self.first_invalid };
        let bytes = match String::from_utf8(self.bytes) {
            Ok(text) if finished.first_invalid.is_none() => {
                sentence.text = text;
                sentence.spans = self.spans;
                return finished;
            }
            // Tokens that were moved together can look valid across a border that runs through a bad sequence.
            Ok(text) => text.into_bytes(),
            Err(error) => {
                let place = self.origin + error.utf8_error().valid_up_to() as u64;
                finished.first_invalid.get_or_insert(place);
                error.into_bytes()
            }
        };
        for (start, end) in self.spans {
            let token = String::from_utf8_lossy(&bytes[start as usize..end as usize]);
            if token.len() > self.max_token_bytes {
                finished.long_tokens += 1;
            } else {
                sentence.push(&token);
            }
        }
        finished
    }

    #[inline]
    fn end_token(&mut self, end: usize) {
        let length = end - self.token;
        if self.oversized || length > self.max_token_bytes {
            self.long_tokens += 1;
            self.oversized = false;
        } else if length > 0 {
            self.spans.push((offset(self.token), offset(end)));
        }
    }

    /// Drops every byte that is of no further use and moves the tokens together.
    fn compact(&mut self) {
        self.oversized |= self.scanned - self.token > self.max_token_bytes;
        let mut keep = if self.oversized { self.scanned } else { self.token };
        if self.first_invalid.is_none()
            && let Err(error) = std::str::from_utf8(&self.bytes[..keep])
        {
            match error.error_len() {
                Some(_) => self.first_invalid = Some(self.origin + error.valid_up_to() as u64),
                // The next bytes may complete the character.
                None => keep = error.valid_up_to(),
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

/// Marks the candidates among the bytes from `place` on, a block of them or up to the end.
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
