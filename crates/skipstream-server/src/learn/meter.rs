//! Speed and loss of learning.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use skipstream::{Progress, Totals};

use crate::status::Status;

/// The window of speed and loss.
const WINDOW: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct Meter {
    progress: Progress,
    /// What was learned when, within the window.
    recent: VecDeque<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    time: Instant,
    tokens: u64,
    trained: Totals,
}

impl Meter {
    /// Starts with what was learned before.
    pub fn new(progress: Progress, now: Instant) -> Meter {
        let entry = Entry { time: now, tokens: progress.tokens, trained: Totals::default() };
        Meter { progress, recent: VecDeque::from([entry]) }
    }

    /// Records the progress of the trainer, or of a fork of it, since `before`.
    ///
    /// A fork may have been further already. Its text is then trained again and does not count as new.
    pub fn note(&mut self, progress: &Progress, before: &Totals, now: Instant) {
        let trained = progress.totals.since(before);
        if progress.tokens >= self.progress.tokens {
            self.progress = *progress;
        }
        self.recent.push_back(Entry { time: now, tokens: self.progress.tokens, trained });
        self.recent.drain(..self.start_of_window(now));
    }

    /// The measurements so far; the speed and the loss are those of the last few seconds.
    pub fn status(&self, now: Instant) -> Status {
        let start = self.start_of_window(now);
        let first = self.recent[start];
        // Text after a pause counts in the window only. Shortly after the start the speed would be meaningless.
        let seconds = now.duration_since(first.time).min(WINDOW).as_secs_f64().max(0.5);
        let trained = self.recent.iter().skip(start + 1).map(|entry| entry.trained);
        let (pairs, loss) = trained.fold((0, 0.0), |(pairs, loss), one| (pairs + one.pairs, loss + one.loss));
        Status {
            progress: Some(self.progress),
            words_per_second: (self.progress.tokens - first.tokens) as f64 / seconds,
            loss: (pairs > 0).then(|| loss / pairs as f64),
            ..Status::default()
        }
    }

    /// The last entry before the window, from which its speed is measured.
    fn start_of_window(&self, now: Instant) -> usize {
        self.recent.partition_point(|entry| now.duration_since(entry.time) > WINDOW).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(tokens: u64, pairs: u64, loss: f64) -> Progress {
        Progress { tokens, totals: Totals { pairs, loss, replayed: 0 }, vocabulary: 1, evictions: 0 }
    }

    #[test]
    fn speed_and_loss_are_those_of_the_last_seconds() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut meter = Meter::new(progress(100, 10, 1.0), start);
        assert_eq!(meter.status(start).loss, None);
        meter.note(&progress(300, 20, 21.0), &progress(0, 10, 1.0).totals, at(1));
        meter.note(&progress(500, 30, 31.0), &progress(0, 20, 21.0).totals, at(2));
        let status = meter.status(at(2));
        assert_eq!((status.words_per_second, status.loss), (200.0, Some(30.0 / 20.0)));
        meter.note(&progress(1500, 40, 71.0), &progress(0, 30, 31.0).totals, at(60));
        let status = meter.status(at(60));
        assert_eq!((status.words_per_second, status.loss), (200.0, Some(4.0)));
        assert_eq!(meter.status(at(100)).words_per_second, 0.0);
    }

    #[test]
    fn text_that_is_trained_again_is_no_new_text() {
        let now = Instant::now();
        let mut meter = Meter::new(progress(0, 0, 0.0), now);
        meter.note(&progress(100, 50, 50.0), &Totals::default(), now);
        meter.note(&progress(80, 40, 40.0), &Totals::default(), now);
        assert_eq!(meter.status(now).progress.unwrap().tokens, 100);
        meter.note(&progress(120, 60, 60.0), &progress(0, 40, 40.0).totals, now);
        assert_eq!(meter.status(now).progress.unwrap().tokens, 120);
    }
}
