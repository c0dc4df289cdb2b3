//! The bytes of all words in one allocation.

/// The bytes of a word: 48 bits of offset, 16 of length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span(u64);

impl Span {
    fn new(offset: usize, length: usize) -> Span {
        assert!(offset < 1 << 48 && length < 1 << 16);
        Span((offset as u64) << 16 | length as u64)
    }

    fn offset(self) -> usize {
        (self.0 >> 16) as usize
    }

    fn length(self) -> usize {
        (self.0 & 0xffff) as usize
    }
}

/// The bytes of all words. Those of evicted words are reclaimed when they exceed a third of the whole, so the arena never
/// holds more than 1.5 times the live bytes (plus [`SLACK`]).
#[derive(Clone, Debug, Default)]
pub(super) struct Arena {
    bytes: String,
    dead: usize,
}

/// Dead bytes that are never worth a compaction.
pub(super) const SLACK: usize = 1 << 12;

impl Arena {
    #[inline]
    pub(super) fn get(&self, span: Span) -> &str {
        &self.bytes[span.offset()..][..span.length()]
    }

    /// The same without a check of character boundaries, which would visit the bytes one by one.
    #[inline]
    pub(super) fn bytes(&self, span: Span) -> &[u8] {
        &self.bytes.as_bytes()[span.offset()..][..span.length()]
    }

    /// Maximum memory for `live` bytes of words. While the arena grows, the old allocation, at worst two thirds of it live,
    /// and the new one, a quarter larger, exist at the same time.
    pub(super) fn max_bytes(live: usize) -> u64 {
        (live as u64 * 3 / 2 + SLACK as u64) * 9 / 4
    }

    pub(super) fn add(&mut self, word: &str) -> Span {
        if self.bytes.capacity() - self.bytes.len() < word.len() {
            self.bytes.reserve_exact(word.len().max(SLACK).max(self.bytes.len() / 4));
        }
        let span = Span::new(self.bytes.len(), word.len());
        self.bytes.push_str(word);
        span
    }

    pub(super) fn release(&mut self, span: Span) {
        self.dead += span.length();
    }

    pub(super) fn wants_compaction(&self) -> bool {
        self.dead > SLACK && self.dead > self.bytes.len() / 3
    }

    /// Moves the live words together. `spans` are those of all live words.
    pub(super) fn compact<'a>(&mut self, spans: impl Iterator<Item = &'a mut Span>) {
        let mut compacted = String::with_capacity(self.bytes.len() - self.dead);
        for span in spans {
            let offset = compacted.len();
            compacted.push_str(self.get(*span));
            *span = Span::new(offset, span.length());
        }
        self.bytes = compacted;
        self.dead = 0;
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }
}
