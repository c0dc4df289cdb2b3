//! The observer of a training.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use serde_json::json;
use skipstream::{Observer, Progress};

use super::turns::Turns;
use crate::ending;

/// How often to check for Ctrl-C.
const SIGNALS_EVERY: Duration = Duration::from_millis(50);

/// Asks training to pause when another thread wants the trainer, a callback is due, or a signal arrived.
pub struct Watch<'a> {
    turns: &'a Turns,
    callback: Option<&'a Py<PyAny>>,
    interval: Duration,
    began: Instant,
    first: Progress,
    /// Start of the interval.
    since: Instant,
    earlier: Progress,
    signals: Instant,
    error: Option<PyErr>,
    border: Arc<AtomicBool>,
}

impl<'a> Watch<'a> {
    pub fn new(turns: &'a Turns, callback: Option<&'a Py<PyAny>>, interval: Duration, now: Progress) -> Self {
        let began = Instant::now();
        Watch {
            turns,
            callback,
            interval,
            began,
            first: now,
            since: began,
            earlier: now,
            signals: began,
            error: None,
            border: Arc::default(),
        }
    }

    /// Set whenever a batch is complete and the next one is about to be read.
    pub fn border(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.border)
    }

    /// The error raised by a signal handler or the callback.
    pub fn take_error(&mut self) -> Option<PyErr> {
        self.error.take()
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Calls the callback if the interval is over.
    pub fn tell_if_due(&mut self, py: Python<'_>, now: &Progress, fraction: Option<f64>) -> PyResult<()> {
        if self.is_due() { self.tell(py, now, fraction) } else { Ok(()) }
    }

    /// Calls the callback.
    pub fn tell(&mut self, py: Python<'_>, now: &Progress, fraction: Option<f64>) -> PyResult<()> {
        let Some(callback) = self.callback else { return Ok(()) };
        let trained = now.totals.since(&self.earlier.totals);
        let elapsed = self.since.elapsed().as_secs_f64().max(1e-9);
        let figures = json!({
            "words": now.tokens - self.first.tokens,
            "words_per_second": (now.tokens - self.earlier.tokens) as f64 / elapsed,
            "loss": (trained.pairs > 0).then(|| trained.mean_loss()).filter(|loss| loss.is_finite()),
            "vocabulary": now.vocabulary,
            "evictions": now.evictions,
            "seconds": self.began.elapsed().as_secs_f64(),
            "fraction": fraction,
        });
        self.since = Instant::now();
        self.earlier = *now;
        callback.call1(py, (figures.to_string(),)).map(drop)
    }

    fn is_due(&self) -> bool {
        self.callback.is_some() && self.since.elapsed() >= self.interval
    }

    /// Whether Python is shutting down or a signal handler raised an error. Only the main thread handles signals.
    fn is_interrupted(&mut self) -> bool {
        if self.error.is_none() {
            self.error = ending::check().err();
        }
        if self.error.is_none() && self.signals.elapsed() >= SIGNALS_EVERY {
            self.signals = Instant::now();
            self.error = Python::try_attach(|py| py.check_signals().err()).flatten();
        }
        self.error.is_some()
    }
}

impl Observer for Watch<'_> {
    fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
        self.border.store(true, Ordering::Relaxed);
        if self.is_interrupted() || self.is_due() || self.turns.is_wanted() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// The same for passes over a corpus, which cannot pause: the callback is called during training.
pub struct PassWatch<'a, 'b> {
    pub watch: &'b mut Watch<'a>,
    /// The fraction of this pass that was read.
    pub fraction: &'b dyn Fn() -> Option<f64>,
}

impl Observer for PassWatch<'_, '_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        if !self.watch.is_interrupted() && self.watch.is_due() {
            let fraction = (self.fraction)();
            let told = Python::try_attach(|py| self.watch.tell(py, progress, fraction));
            self.watch.error = told.and_then(Result::err);
        }
        if self.watch.error.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
