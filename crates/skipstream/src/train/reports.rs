//! Calls to the observer, for the strategies that train pair by pair.

use super::Observer;
use super::trainer::Stream;

const REPORT_EVERY: u64 = 20_000;

/// Calls the observer after every [`REPORT_EVERY`] tokens.
#[derive(Debug, Default)]
pub(super) struct Reports {
    tokens: u64,
}

impl Reports {
    /// Whether the observer was called and asks for a pause.
    pub fn is_paused(&mut self, tokens: usize, stream: &Stream, observer: &mut dyn Observer) -> bool {
        self.tokens += tokens as u64;
        if self.tokens < REPORT_EVERY {
            return false;
        }
        self.tokens = 0;
        observer.progress(&stream.progress()).is_break()
    }
}
