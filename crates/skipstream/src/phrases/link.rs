//! What is between the parts of a pair: connectors, as a number in its key.

use super::JOINER_TEXT;
use crate::config::Connectors;

/// Connectors in a row, at most.
pub(super) const MAX_CONNECTORS: usize = 2;

/// In the key of a pair: the left part is a phrase. (A token may have the same text.)
pub(super) const JOINED: u32 = 1 << 31;

/// In the key of a pair: the number of a connector and one, for each of them.
const CONNECTOR_BITS: u32 = 8;

/// Connectors as a part of a key; nothing if there are too many.
pub(super) fn link(connectors: &[u8]) -> Option<u32> {
    let digits = connectors.iter().rev();
    let link = || digits.fold(0, |link, &connector| link << CONNECTOR_BITS | (u32::from(connector) + 1));
    (connectors.len() <= MAX_CONNECTORS).then(link)
}

/// The connectors of a key.
pub(super) fn connectors(link: u32) -> Vec<u8> {
    let digits = (0..MAX_CONNECTORS as u32).map(|place| link >> (CONNECTOR_BITS * place) & 0xff);
    digits.take_while(|&digit| digit > 0).map(|digit| (digit - 1) as u8).collect()
}

/// Adds connectors and a word to a phrase.
pub(super) fn append(text: &mut String, connectors: &[u8], word: &str, possible: Connectors) {
    let words = possible.words();
    for part in connectors.iter().map(|&connector| words[usize::from(connector)]).chain([word]) {
        text.push_str(JOINER_TEXT);
        text.push_str(part);
    }
}
