//! The bytes that end a token: Unicode's White_Space and NUL, found a block of bytes at a time.
//!
//! White space is the set of `char::is_whitespace` and, except for the control bytes 1C to 1F, of Python's `str.split()`.
//! NUL is not part of any word; programs write it at the end of strings.
//!
//! The search works on raw bytes, before they are known to be UTF-8. That is exact, because in UTF-8 a lead byte is
//! never a continuation byte: the bytes of a white space character are always decoded as that character, whatever
//! invalid bytes come before them.

/// The number of bytes examined together.
///
/// With 8, the branch predictor misses the number of separators in a block once per word; with 64, once in nine words.
pub(super) const BLOCK: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    /// A white space character with this number of bytes.
    Of(usize),
    Nul,
    /// The text ends before this is known.
    Undecided,
    /// Something else.
    No,
}

/// Marks, one bit per byte from the lowest, the bytes at which a separator may start.
///
/// ASCII control bytes and the lead bytes of wide white space are marked; [`separator`] decides.
#[inline]
pub(super) fn candidates(block: &[u8; BLOCK]) -> u64 {
    // The compiler turns this loop into vector instructions of any width.
    let mut marks = [0; BLOCK];
    for (mark, &byte) in marks.iter_mut().zip(block) {
        let wide = (byte == 0xC2) | (byte.wrapping_sub(0xE1) <= 2);
        *mark = u8::from((byte <= b' ') | wide);
    }
    let (words, _) = marks.as_chunks::<8>();
    words.iter().rev().fold(0, |mask, &word| {
        // Each byte is 0 or 1; the product gathers them in its highest byte.
        let gathered = u64::from_le_bytes(word).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask << 8 | gathered
    })
}

#[inline]
pub(super) fn separator(text: &[u8]) -> Separator {
    match text {
        [b' ' | b'\t'..=b'\r', ..] => Separator::Of(1),
        [0, ..] => Separator::Nul,
        [0xC2, 0x85 | 0xA0, ..] => Separator::Of(2),
        [0xE1, 0x9A, 0x80, ..]
        | [0xE2, 0x80, 0x80..=0x8A | 0xA8 | 0xA9 | 0xAF, ..]
        | [0xE2, 0x81, 0x9F, ..]
        | [0xE3, 0x80, 0x80, ..] => Separator::Of(3),
        [0xC2 | 0xE1 | 0xE2 | 0xE3] | [0xE1, 0x9A] | [0xE2, 0x80 | 0x81] | [0xE3, 0x80] => {
            Separator::Undecided
        }
        _ => Separator::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_is_a_separator_exactly_when_unicode_says_so() {
        for character in '\0'..=char::MAX {
            let mut block = [b'a'; BLOCK];
            let width = character.encode_utf8(&mut block).len();
            let marked = candidates(&block) & 1 == 1;
            let found = marked && separator(&block) == Separator::Of(width);
            assert_eq!(found, character.is_whitespace(), "{character:?}");
            assert_eq!(separator(&block) == Separator::Nul, character == '\0');
        }
    }

    #[test]
    fn each_byte_is_marked_at_each_place_without_regard_to_its_neighbors() {
        for place in 0..BLOCK {
            for byte in 0..=255 {
                let expected = matches!(byte, 0..=0x20 | 0xC2 | 0xE1 | 0xE2 | 0xE3);
                for (filler, others) in [(b'a', 0), (b' ', u64::MAX), (0xFF, 0)] {
                    let mut block = [filler; BLOCK];
                    block[place] = byte;
                    let mask = others & !(1 << place) | u64::from(expected) << place;
                    assert_eq!(candidates(&block), mask, "{byte} at {place}");
                }
            }
        }
    }

    #[test]
    fn wide_white_space_that_is_cut_short_is_undecided() {
        for character in ['\u{85}', '\u{1680}', '\u{2003}', '\u{205F}', '\u{3000}'] {
            let text = character.to_string();
            for length in 1..text.len() {
                let start = &text.as_bytes()[..length];
                assert_eq!(separator(start), Separator::Undecided);
            }
        }
    }
}
