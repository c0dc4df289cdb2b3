//! Notices that the text looks like prose although it is split at white space.
//!
//! How text is split is fixed when a data folder is created, so it should be said while there is little text to send again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use skipstream::corpus::{InvalidUtf8, Lines, Sentence, Source, TextOptions, TextReport};

/// What to say, and what to do.
const WARNING: &str = "the text looks like prose, and `Dog`, `dog` and `dog,` are different words here, which is fixed for a data \
    folder; to learn them as one, start a service with another --data folder and --text prose, and send the text again \
    (--text tokens says that the text is meant so)";

/// Tokens that are examined, about a megabyte.
const EXAMINED: u64 = 200_000;

/// The signs of prose in the text that has arrived since the start.
#[derive(Debug, Default)]
pub struct Prose {
    /// `None` if the words of the text were chosen.
    options: Option<TextOptions>,
    report: Mutex<TextReport>,
    is_logged: AtomicBool,
}

impl Prose {
    /// Examines text that these options split, unless they do more than that.
    pub fn new(options: &TextOptions) -> Prose {
        let options = TextOptions { invalid_utf8: InvalidUtf8::Skip, ..options.clone() };
        Prose { options: Some(options).filter(TextOptions::is_plain), ..Prose::default() }
    }

    /// Examines lines that arrived.
    pub fn examine(&self, text: &[u8]) {
        let Some(options) = &self.options else { return };
        if self.report().prose.tokens >= EXAMINED {
            return;
        }
        let Ok(mut lines) = Lines::new(text, "text", options) else { return };
        let mut sentence = Sentence::default();
        while lines.read(&mut sentence).is_ok_and(|read| read.is_sentence()) {}
        let signs = lines.report().prose;
        let mut report = self.report();
        report.prose.tokens += signs.tokens;
        report.prose.marked += signs.marked;
        if report.looks_like_prose() && !self.is_logged.swap(true, Ordering::Relaxed) {
            tracing::warn!("{WARNING}");
        }
    }

    /// What to say if the text looks like prose.
    pub fn warning(&self) -> Option<&'static str> {
        self.report().looks_like_prose().then_some(WARNING)
    }

    fn report(&self) -> MutexGuard<'_, TextReport> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROSE: &str = "The Dog, however, barked; my dog didn't. So it goes!\n";

    #[test]
    fn prose_is_noticed_in_small_pieces_and_not_before_a_hundred_words() {
        let prose = Prose::new(&TextOptions::default());
        for piece in 0..12 {
            assert_eq!(prose.warning().is_some(), piece >= 10, "{piece}");
            prose.examine(PROSE.as_bytes());
        }
    }

    #[test]
    fn tokens_and_text_whose_words_were_chosen_are_left_alone() {
        let tokens = Prose::new(&TextOptions::default());
        tokens.examine("the dog however barked my dog did not so it goes\n".repeat(50).as_bytes());
        let lowercase = TextOptions { lowercase: true, ..TextOptions::default() };
        for prose in [tokens, Prose::new(&TextOptions::prose()), Prose::new(&lowercase), Prose::default()] {
            assert_eq!(prose.warning(), None);
        }
        let chosen = Prose::default();
        chosen.examine(PROSE.repeat(50).as_bytes());
        assert_eq!(chosen.warning(), None);
    }

    #[test]
    fn only_the_start_of_the_text_is_examined() {
        let prose = Prose::new(&TextOptions::default());
        prose.examine("a b c d\n".repeat(EXAMINED as usize / 4).as_bytes());
        assert_eq!(prose.report().prose.tokens, EXAMINED);
        prose.examine(PROSE.repeat(50_000).as_bytes());
        assert_eq!(prose.report().prose.tokens, EXAMINED);
        assert_eq!(prose.warning(), None);
    }
}
