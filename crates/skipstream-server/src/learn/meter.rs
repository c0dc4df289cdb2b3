//! How learning goes: speed, loss, and the curve of the loss.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use skipstream::{Progress, Totals};

use crate::status::LossPoint;

/// The time over which speed and loss are taken.
const WINDOW: Duration = Duration::from_secs(5);

/// Points of the loss curve, at the most.
const POINTS: usize = 300;

/// How learning goes.
#[derive(Debug)]
pub struct Meter {
    progress: Progress,
    /// When so many tokens were learned, and what was trained since the entry before.
    recent: VecDeque<Entry>,
    curve: VecDeque<Point>,
    /// Whether the curve has batches.
    has_batches: bool,
    /// Words that a point of the curve stands for, at the least.
    step: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    time: Instant,
    tokens: u64,
    pairs: u64,
    loss: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Point {
    words: u64,
    pairs: u64,
    loss: f64,
}

impl Meter {
    /// Begins with what was learned before.
    pub fn new(progress: Progress, now: Instant) -> Meter {
        let entry = Entry { time: now, tokens: progress.tokens, pairs: 0, loss: 0.0 };
        Meter {
            progress,
            recent: VecDeque::from([entry]),
            curve: VecDeque::new(),
            has_batches: false,
            step: 1,
        }
    }

    /// The trainer has come so far, from a state in which it had trained `before`.
    ///
    /// A fork may have been further already: then its text is trained again, which is no new text.
    pub fn note(&mut self, progress: &Progress, before: &Totals, now: Instant) {
        let trained = self.count(progress, before, now);
        if trained.pairs > 0 {
            self.has_batches = true;
            self.draw(Point { words: progress.tokens, pairs: trained.pairs, loss: trained.loss });
        }
    }

    /// A fork has come so far. The text behind the last batch is too little to compare its loss with that of batches, so
    /// it is drawn only as long as there are none.
    pub fn note_fork(&mut self, progress: &Progress, before: &Totals, now: Instant) {
        let trained = self.count(progress, before, now);
        if trained.pairs > 0 && !self.has_batches {
            self.draw(Point { words: progress.tokens, pairs: trained.pairs, loss: trained.loss });
        }
    }

    /// What was trained.
    fn count(&mut self, progress: &Progress, before: &Totals, now: Instant) -> Totals {
        let trained = progress.totals.since(before);
        if progress.tokens >= self.progress.tokens {
            self.progress = *progress;
        }
        let tokens = self.progress.tokens;
        self.recent.push_back(Entry { time: now, tokens, pairs: trained.pairs, loss: trained.loss });
        self.forget(now);
        trained
    }

    /// How far learning has come, forks included.
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// Words learned a second, over the last few seconds.
    pub fn words_per_second(&mut self, now: Instant) -> f64 {
        self.forget(now);
        let Some(first) = self.recent.front() else { return 0.0 };
        let seconds = now.duration_since(first.time).as_secs_f64();
        // A moment after the start is no measure.
        (self.progress.tokens - first.tokens) as f64 / seconds.max(0.5)
    }

    /// The mean loss of a pair over the last few seconds, if any was trained.
    pub fn loss(&self) -> Option<f64> {
        // What the first entry stands for was trained before the window.
        let (pairs, loss) = self
            .recent
            .iter()
            .skip(1)
            .fold((0, 0.0), |(pairs, loss), entry| (pairs + entry.pairs, loss + entry.loss));
        (pairs > 0).then(|| loss / pairs as f64)
    }

    /// The curve of the loss.
    pub fn losses(&self) -> VecDeque<LossPoint> {
        let point = |point: &Point| LossPoint { words: point.words, loss: point.loss / point.pairs as f64 };
        self.curve.iter().map(point).collect()
    }

    /// Keeps the window, and one entry before it, from which it is counted.
    fn forget(&mut self, now: Instant) {
        while self.recent.get(1).is_some_and(|entry| now.duration_since(entry.time) > WINDOW) {
            self.recent.pop_front();
        }
        // An old entry alone would spread what comes next over the silence before it.
        if let Some(first) = self.recent.front_mut()
            && let Some(start) = now.checked_sub(WINDOW)
        {
            first.time = first.time.max(start);
        }
    }

    /// Adds to the curve: a new point where the last one stands for enough words.
    fn draw(&mut self, point: Point) {
        let before = self.curve.len().checked_sub(2).map_or(0, |before| self.curve[before].words);
        match self.curve.back_mut() {
            // Text that a fork has trained comes again.
            Some(last) if point.words <= last.words => {}
            Some(last) if last.words - before < self.step => {
                *last = Point {
                    words: point.words,
                    pairs: last.pairs + point.pairs,
                    loss: last.loss + point.loss,
                };
            }
            _ => self.curve.push_back(point),
        }
        if self.curve.len() > POINTS {
            self.thin();
        }
    }

    /// Halves the curve.
    fn thin(&mut self) {
        let points: Vec<Point> = self.curve.drain(..).collect();
        self.curve = points
            .chunks(2)
            .map(|pair| Point {
                words: pair[pair.len() - 1].words,
                pairs: pair.iter().map(|point| point.pairs).sum(),
                loss: pair.iter().map(|point| point.loss).sum(),
            })
            .collect();
        let words = self.curve.back().map_or(0, |point| point.words);
        self.step = (words / self.curve.len().max(1) as u64).max(1);
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
        assert_eq!(meter.loss(), None);
        meter.note(&progress(300, 20, 21.0), &progress(0, 10, 1.0).totals, at(1));
        meter.note(&progress(500, 30, 31.0), &progress(0, 20, 21.0).totals, at(2));
        assert_eq!(meter.words_per_second(at(2)), 200.0);
        assert_eq!(meter.loss(), Some(30.0 / 20.0));
        meter.note(&progress(1500, 40, 71.0), &progress(0, 30, 31.0).totals, at(60));
        assert_eq!(meter.words_per_second(at(60)), 200.0);
        assert_eq!(meter.loss(), Some(4.0));
        assert_eq!(meter.words_per_second(at(100)), 0.0);
    }

    #[test]
    fn text_that_is_trained_again_is_no_new_text() {
        let now = Instant::now();
        let mut meter = Meter::new(progress(0, 0, 0.0), now);
        meter.note_fork(&progress(100, 50, 50.0), &Totals::default(), now);
        meter.note(&progress(80, 40, 40.0), &Totals::default(), now);
        assert_eq!(meter.progress().tokens, 100);
        assert_eq!(meter.losses().len(), 1);
        meter.note_fork(&progress(120, 60, 60.0), &progress(0, 40, 40.0).totals, now);
        assert_eq!((meter.progress().tokens, meter.losses().len()), (120, 1));
    }

    #[test]
    fn the_curve_is_thinned_and_keeps_the_mean() {
        let now = Instant::now();
        let mut meter = Meter::new(progress(0, 0, 0.0), now);
        for batch in 0..10_000_u64 {
            let before = progress(0, batch * 2, batch as f64 * 6.0);
            meter.note(
                &progress((batch + 1) * 10, (batch + 1) * 2, (batch + 1) as f64 * 6.0),
                &before.totals,
                now,
            );
        }
        let losses = meter.losses();
        assert!((POINTS / 3..=POINTS).contains(&losses.len()), "{} points", losses.len());
        assert!(losses.iter().all(|point| point.loss == 3.0));
        assert!(losses.iter().zip(losses.iter().skip(1)).all(|(one, next)| one.words < next.words));
        assert_eq!(losses.back().unwrap().words, 100_000);
    }
}
