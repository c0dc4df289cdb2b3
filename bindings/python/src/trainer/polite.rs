//! Slow text must not keep other threads from the trainer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use skipstream::Result;
use skipstream::corpus::{Passage, Read, Sentence, Source};

use super::turns::Turns;
use crate::text::Shared;

/// How long Python may take for the text of a batch while another thread waits.
const SLOW: Duration = Duration::from_secs(1);

/// A feed that ends a batch early if its text arrives slowly and another thread waits for the trainer.
///
/// A batch of a live stream may take hours. Batch boundaries depend on time only if a thread waits; otherwise the same
/// text gives the same model.
pub struct Polite<'a> {
    feed: Shared,
    turns: &'a Turns,
    /// Whether another batch has started.
    border: Arc<AtomicBool>,
    /// How long the feed had waited for Python when the batch started.
    earlier: Duration,
}

impl<'a> Polite<'a> {
    pub fn new(feed: &Shared, turns: &'a Turns, border: Arc<AtomicBool>) -> Polite<'a> {
        let earlier = feed.feed().waited();
        Polite { feed: feed.clone(), turns, border, earlier }
    }
}

impl Source for Polite<'_> {
    fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
        let mut feed = self.feed.feed();
        let waited = feed.waited();
        if self.border.swap(false, Ordering::Relaxed) {
            self.earlier = waited;
        }
        if waited - self.earlier > SLOW && self.turns.is_wanted() {
            Ok(Read::Pending)
        } else {
            feed.read(sentence)
        }
    }

    /// Only of files, for which Python does not wait.
    fn cut(&mut self, max_bytes: usize) -> Option<Passage> {
        self.feed.feed().cut(max_bytes)
    }

    fn put_back(&mut self, passage: Passage) {
        self.feed.feed().put_back(passage);
    }
}
