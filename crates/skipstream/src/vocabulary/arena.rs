//! The bytes of all words in one allocation.

/// Where a word's bytes are: 48 bits of offset, 16 of length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(u64);

impl Place {
    fn new(offset: usize, length: usize) -> Place {
        assert!(offset < 1 << 48 && length < 1 << 16);
        Place((offset as u64) << 16 | length as u64)
    }

    fn offset(self) -> usize {
        (self.0 >> 16) as usize
    }

    fn length(self) -> usize {
        (self.0 & 0xffff) as usize
    }
}

/// Words behind one another. Bytes of words that left are reclaimed when they pass a third of the whole, so the
/// arena never holds more than 1.5 times the live bytes (and [`SLACK`]).
#[derive(Clone, Debug, Default)]
pub(super) struct Arena {
    bytes: String,
    dead: usize,
}

/// Dead bytes that are never worth a compaction.
pub(super) const SLACK: usize = 1 << 12;

impl Arena {
    #[inline]
    pub(super) fn get(&self, place: Place) -> &str {
        &self.bytes[place.offset()..][..place.length()]
    }

    /// Bytes taken at the most by `live` bytes of words: when the arena has to grow, the old one, two thirds of it alive at
    /// worst, and the new one, a quarter larger.
    pub(super) fn max_bytes(live: usize) -> u64 {
        (live as u64 * 3 / 2 + SLACK as u64) * 9 / 4
    }

    pub(super) fn add(&mut self, word: &str) -> Place {
        if self.bytes.capacity() - self.bytes.len() < word.len() {
            self.bytes.reserve_exact(word.len().max(SLACK).max(self.bytes.len() / 4));
        }
        let place = Place::new(self.bytes.len(), word.len());
        self.bytes.push_str(word);
        place
    }

    /// The word's bytes are not needed any more.
    pub(super) fn release(&mut self, place: Place) {
        self.dead += place.length();
    }

    pub(super) fn wants_compaction(&self) -> bool {
        self.dead > SLACK && self.dead > self.bytes.len() / 3
    }

    /// Moves the live words together; `places` are all of them.
    pub(super) fn compact<'a>(&mut self, places: impl Iterator<Item = &'a mut Place>) {
        let mut compacted = String::with_capacity(self.bytes.len() - self.dead);
        for place in places {
            let offset = compacted.len();
            compacted.push_str(self.get(*place));
            *place = Place::new(offset, place.length());
        }
        self.bytes = compacted;
        self.dead = 0;
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }
}
