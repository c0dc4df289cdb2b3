//! Speed, loss and loss curve of learning.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use skipstream::{Progress, Totals};

use crate::status::{LossPoint, Status};

/// The window of speed and loss.
const WINDOW: Duration = Duration::from_secs(5);

/// The maximum number of points of the loss curve.
const POINTS: usize = 300;

#[derive(Debug)]
pub struct Meter {
    progress: Progress,
    /// What was learned when, within the window.
    recent: VecDeque<Entry>,
    curve: VecDeque<Point>,
    /// Whether the curve has batches.
    has_batches: bool,
    /// The minimum number of words per point of the curve.
    step: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    time: Instant,
    tokens: u64,
    trained: Totals,
}

#[derive(Clone, Copy, Debug)]
struct Point {
    words: u64,
    trained: Totals,
}

impl Meter {
    /// Starts with what was learned before.
    pub fn new(progress: Progress, now: Instant) -> Meter {
        let entry = Entry { time: now, tokens: progress.tokens, trained: Totals::default() };
        Meter {
            progress,
            recent: VecDeque::from([entry]),
            curve: VecDeque::new(),
            has_batches: false,
            step: 1,
        }
    }

    /// Records the progress of the trainer since `before`.
    ///
    /// A fork may have been further already. Its text is then trained again and does not count as new.
    pub fn note(&mut self, progress: &Progress, before: &Totals, now: Instant) {
        let trained = self.count(progress, before, now);
        self.has_batches |= trained.pairs > 0;
        self.draw(Point { words: progress.tokens, trained });
    }

    /// Records the progress of a fork. Its text is too short for its loss to be compared with that of batches, so it is
    /// drawn only while there are none.
    pub fn note_fork(&mut self, progress: &Progress, before: &Totals, now: Instant) {
        let trained = self.count(progress, before, now);
        if !self.has_batches {
            self.draw(Point { words: progress.tokens, trained });
        }
    }

    /// Adds an entry, and returns what was trained.
    fn count(&mut self, progress: &Progress, before: &Totals, now: Instant) -> Totals {
        let trained = progress.totals.since(before);
        if progress.tokens >= self.progress.tokens {
            self.progress = *progress;
        }
        self.recent.push_back(Entry { time: now, tokens: self.progress.tokens, trained });
        self.recent.drain(..self.start_of_window(now));
        trained
    }

    /// The measurements so far; the speed and the loss are those of the last few seconds.
    pub fn status(&self, now: Instant) -> Status {
        let start = self.start_of_window(now);
        let first = self.recent[start];
        // Text after a pause counts in the window only. Shortly after the start the speed would be meaningless.
        let seconds = now.duration_since(first.time).min(WINDOW).as_secs_f64().max(0.5);
        let trained = sum(self.recent.iter().skip(start + 1).map(|entry| entry.trained));
        let point = |point: &Point| LossPoint { words: point.words, loss: point.trained.mean_loss() };
        Status {
            progress: Some(self.progress),
            words_per_second: (self.progress.tokens - first.tokens) as f64 / seconds,
            loss: (trained.pairs > 0).then(|| trained.mean_loss()),
            losses: self.curve.iter().map(point).collect(),
            ..Status::default()
        }
    }

    /// The last entry before the window, from which its speed is measured.
    fn start_of_window(&self, now: Instant) -> usize {
        self.recent.partition_point(|entry| now.duration_since(entry.time) > WINDOW).saturating_sub(1)
    }

    /// Adds to the last point of the curve, or a new point if the last one has enough words.
    fn draw(&mut self, point: Point) {
        let before = self.curve.len().checked_sub(2).map_or(0, |before| self.curve[before].words);
        match self.curve.back_mut() {
            _ if point.trained.pairs == 0 => {}
            // A fork has trained this text before.
            Some(last) if point.words <= last.words => {}
            Some(last) if last.words - before < self.step => {
                *last = Point { words: point.words, trained: sum([last.trained, point.trained]) };
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
                trained: sum(pair.iter().map(|point| point.trained)),
            })
            .collect();
        let words = self.curve.back().map_or(0, |point| point.words);
        self.step = (words / self.curve.len().max(1) as u64).max(1);
    }
}

fn sum(parts: impl IntoIterator<Item = Totals>) -> Totals {
    parts.into_iter().fold(Totals::default(), |sum, part| Totals {
        pairs: sum.pairs + part.pairs,
        loss: sum.loss + part.loss,
        replayed: sum.replayed + part.replayed,
    })
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
        meter.note_fork(&progress(100, 50, 50.0), &Totals::default(), now);
        meter.note(&progress(80, 40, 40.0), &Totals::default(), now);
        let status = meter.status(now);
        assert_eq!((status.progress.unwrap().tokens, status.losses.len()), (100, 1));
        meter.note_fork(&progress(120, 60, 60.0), &progress(0, 40, 40.0).totals, now);
        let status = meter.status(now);
        assert_eq!((status.progress.unwrap().tokens, status.losses.len()), (120, 1));
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
        let losses = meter.status(now).losses;
        assert!((POINTS / 3..=POINTS).contains(&losses.len()), "{} points", losses.len());
        assert!(losses.iter().all(|point| point.loss == 3.0));
        assert!(losses.iter().zip(losses.iter().skip(1)).all(|(one, next)| one.words < next.words));
        assert_eq!(losses.back().unwrap().words, 100_000);
    }
}
