//! Which bytes end a token: Unicode's White_Space, found eight bytes at a time.
//!
//! This is the set of `char::is_whitespace` and, but for the control bytes 1C to 1F, of Python's `str.split()`.
//!
//! The search works on raw bytes, before they are known to be UTF-8. That is exact, because in UTF-8 a lead byte is
//! never a continuation byte: wherever the bytes of a white space character stand, they are decoded as that
//! character, whatever damage stands before them.

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// What stands at a place in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    /// A white space character of so many bytes.
    Of(usize),
    /// The text ends before this is known.
    Undecided,
    /// Something else.
    No,
}

/// Marks, with the high bit of each byte, the bytes of a little-endian word at which a separator may start.
///
/// ASCII control bytes and the lead bytes of wide white space are marked; [`separator`] decides.
#[inline]
pub(super) fn candidates(word: u64) -> u64 {
    // No sum carries into the next byte: 7F + 5F is below 100.
    let above_space = (word & !HIGH) + LOW * (0x7F - 0x20);
    let ascii = !(above_space | word) & HIGH;
    if word & HIGH == 0 {
        return ascii;
    }
    ascii | equal(word, 0xC2) | equal(word, 0xE1) | equal(word, 0xE2) | equal(word, 0xE3)
}

/// Marks the bytes of `word` that are `byte`, exactly.
#[inline]
fn equal(word: u64, byte: u8) -> u64 {
    let difference = word ^ (LOW * u64::from(byte));
    !(((difference & !HIGH) + LOW * 0x7F) | difference) & HIGH
}

/// What the first bytes of `text` are.
#[inline]
pub(super) fn separator(text: &[u8]) -> Separator {
    match text {
        [b' ' | b'\t'..=b'\r', ..] => Separator::Of(1),
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
            let mut bytes = [0; 8];
            let width = character.encode_utf8(&mut bytes).len();
            let marked = candidates(u64::from_le_bytes(bytes)) & 0x80 != 0;
            let found = marked && separator(&bytes) == Separator::Of(width);
            assert_eq!(found, character.is_whitespace(), "{character:?}");
        }
    }

    #[test]
    fn each_byte_is_marked_without_regard_to_its_neighbours() {
        let mark = |byte: u8| matches!(byte, 0..=0x20 | 0xC2 | 0xE1 | 0xE2 | 0xE3);
        for first in 0..=255 {
            for second in 0..=255 {
                let word = [first, second, first, second, first, first, second, second];
                let marks = candidates(u64::from_le_bytes(word)).to_le_bytes();
                assert_eq!(marks, word.map(|byte| if mark(byte) { 0x80 } else { 0 }));
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
