//! Controls in a few letters, for tests.

use super::Control;

pub(crate) fn pin(word: &str) -> Control {
    Control::Pin { word: word.to_owned() }
}

pub(crate) fn block(word: &str) -> Control {
    Control::Block { word: word.to_owned() }
}

pub(crate) fn merge(word: &str, into: &str) -> Control {
    Control::Merge { word: word.to_owned(), into: into.to_owned() }
}

pub(crate) fn forget(word: &str, keep_out: bool) -> Control {
    Control::Forget { word: word.to_owned(), keep_out }
}
