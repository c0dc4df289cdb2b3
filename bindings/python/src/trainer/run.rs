//! One call of `train`: trains, and pauses when another thread wants the trainer.

use std::ffi::OsString;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::json;
use skipstream::corpus::{Files, Source};
use skipstream::train::AnyTrainer;
use skipstream::{Observer, Progress, StopReason};

use super::polite::Polite;
use super::watch::{PassWatch, Watch};
use super::{TRAINS, Trainer};
use crate::call::call;
use crate::ending::Inside;
use crate::error::to_python;
use crate::text::{Feed, Model, Request, Shared, raised};

/// A summary as JSON, and the files that were skipped, had no words and were not text, whose names need not be UTF-8.
pub type Told = (String, Vec<OsString>, Vec<OsString>, Vec<OsString>);

impl Trainer {
    /// Learns a text. After an error or Ctrl-C, learns what was read until then and returns the error.
    pub(super) fn run(
        &self,
        py: Python<'_>,
        request: &Request,
        callback: Option<&Py<PyAny>>,
        interval: Duration,
    ) -> PyResult<Told> {
        let _inside = Inside::enter()?;
        let _training = self.trainings.wait(py, TRAINS)?;
        let turn = self.turn(py)?;
        // We have the turn, so no thread that could wait for the GIL has the trainer.
        let (before, model) = {
            let trainer = self.lock();
            let model = trainer.model();
            let (options, ledger) = (model.settings().text().clone(), model.ledger().clone());
            let in_passes = matches!(*trainer, AnyTrainer::Passes(_));
            (model.progress(), Model { options, ledger, in_passes })
        };
        let in_passes = model.in_passes;
        let mut watch = Watch::new(&self.turns, callback, interval, before);
        let nothing_new = match request {
            Request::Files { .. } if in_passes => {
                Some(request.open(py, &model)?).filter(|feed| feed.files().is_some_and(Files::is_empty))
            }
            _ => None,
        };
        let (feed, result) = if let Some(feed) = nothing_new {
            drop(turn);
            (Some(Shared::new(feed)), Ok(()))
        } else if in_passes {
            let (feed, result) = self.run_passes(py, request, &model, &mut watch);
            drop(turn);
            (feed, result)
        } else {
            // Other threads need not wait for the first item.
            drop(turn);
            let feed = Shared::new(request.open(py, &model)?);
            let result = self.run_stream(py, &feed, &mut watch);
            (Some(feed), result)
        };
        let Some(feed) = feed else {
            return result.map(|()| Told::default());
        };
        let result = feed.feed().take_error().map_or(result, Err);
        if in_passes && result.is_err() {
            // Nothing was learned, so nothing is recorded.
            return result.map(|()| Told::default());
        }
        let turn = match self.turn_anyway(py) {
            Ok(turn) => turn,
            // The first error says why.
            Err(error) => return Err(result.err().unwrap_or(error)),
        };
        let recorded = call(py, || {
            let mut trainer = self.lock();
            let recorded = feed.feed().record_positions(trainer.ledger_mut());
            Ok((
                trainer.model().progress(),
                trainer.model().waiting(),
                trainer.model().settings().strategy().passes().unwrap_or(1),
                recorded,
            ))
        });
        drop(turn);
        result?;
        let (now, waiting, passes, recorded) = recorded?;
        recorded.map_err(to_python)?;
        let feed = feed.feed();
        watch.tell(py, &now, feed.fraction().map(|_| 1.0))?;
        let passes = if in_passes { passes } else { 1 };
        Ok(summary(&before, &now, waiting, watch.elapsed(), passes, Some(&feed)))
    }

    fn run_stream(&self, py: Python<'_>, feed: &Shared, watch: &mut Watch<'_>) -> PyResult<()> {
        let mut put_off = None;
        let result = loop {
            let turn = match self.turn(py) {
                Ok(turn) => turn,
                Err(interrupt) => break Err(interrupt),
            };
            let mut polite = Polite::new(feed, &self.turns, watch.border());
            let rested = call(py, || {
                let mut trainer = self.lock();
                let (outcome, recorded) = train_and_record(&mut trainer, feed, &mut polite, watch);
                // If a file is gone, its position cannot be recorded, but the rest is still worth learning.
                put_off = put_off.take().or(recorded.err());
                Ok((outcome?, trainer.model().progress()))
            });
            drop(turn);
            let now = match rested {
                Ok((StopReason::Paused | StopReason::Pending, now)) => now,
                Ok(_) => break put_off.map_or(Ok(()), |error| Err(to_python(error))),
                Err(error) => return Err(watch.take_error().unwrap_or(error)),
            };
            if let Some(error) = watch.take_error() {
                break Err(error);
            }
            let fraction = feed.feed().fraction();
            if let Err(error) = watch.tell_if_due(py, &now, fraction) {
                break Err(error);
            }
        };
        if result.is_err() {
            // Text already taken from Python would be lost otherwise.
            feed.feed().stop();
            let Ok(_turn) = self.turn_anyway(py) else { return result };
            if feed.feed().files().is_none() {
                call(py, || train_and_record(&mut self.lock(), feed, &mut feed.clone(), &mut ()).0)?;
            }
        }
        result
    }

    /// Learns a corpus in passes, all or nothing.
    fn run_passes(
        &self,
        py: Python<'_>,
        request: &Request,
        model: &Model,
        watch: &mut Watch<'_>,
    ) -> (Option<Shared>, PyResult<()>) {
        let mut passes = Passes::default();
        let trained = call(py, || {
            let mut trainer = self.lock();
            let AnyTrainer::Passes(trainer) = &mut *trainer else { unreachable!("a stream has one pass") };
            let was_empty = trainer.model().progress().tokens == 0;
            let current = std::cell::RefCell::new(&mut passes);
            let fraction = || current.borrow().feed.as_ref()?.feed().fraction();
            let mut open = || -> skipstream::Result<Box<dyn Source>> {
                let opened = Python::try_attach(|py| request.open(py, model));
                current.borrow_mut().begin(opened)
            };
            let mut outcome = trainer.train(&mut open, &mut PassWatch { watch, fraction: &fraction });
            if matches!(outcome, Ok(StopReason::EndOfText)) {
                outcome = current.borrow_mut().compare().map(|()| StopReason::EndOfText);
            }
            if was_empty && !matches!(outcome, Ok(StopReason::EndOfText)) {
                trainer.reset()?;
            }
            outcome
        });
        let result = match (passes.error.take(), watch.take_error(), trained) {
            (Some(error), ..) | (None, Some(error), _) | (None, None, Err(error)) => Err(error),
            (None, None, Ok(_)) => Ok(()),
        };
        (passes.feed, result)
    }
}

/// Trains until the next pause, and records positions in the same turn: the next one may save.
fn train_and_record(
    trainer: &mut AnyTrainer,
    feed: &Shared,
    source: &mut dyn Source,
    observer: &mut dyn Observer,
) -> (skipstream::Result<StopReason>, skipstream::Result<()>) {
    let AnyTrainer::Stream(stream) = trainer else { unreachable!("a corpus is learned in passes") };
    let outcome = stream.train_observed(source, observer);
    let recorded = feed.feed().record_positions(trainer.ledger_mut());
    (outcome, recorded)
}

/// The passes over a corpus so far.
#[derive(Default)]
struct Passes {
    feed: Option<Shared>,
    sentences: Option<u64>,
    error: Option<PyErr>,
}

impl Passes {
    /// Starts another pass, if the last one had as many sentences as the first.
    fn begin(&mut self, opened: Option<PyResult<Feed>>) -> skipstream::Result<Box<dyn Source>> {
        self.compare()?;
        match opened {
            Some(Ok(feed)) => {
                let feed = Shared::new(feed);
                self.feed = Some(feed.clone());
                Ok(Box::new(feed))
            }
            Some(Err(error)) => {
                self.error = Some(error);
                Err(raised())
            }
            // The interpreter is shutting down.
            None => Err(raised()),
        }
    }

    /// Checks that the last pass had as many sentences as the first.
    fn compare(&mut self) -> skipstream::Result<()> {
        let Some(feed) = &self.feed else { return Ok(()) };
        let read = feed.feed().report().sentences;
        let before = *self.sentences.get_or_insert(read);
        if read == before {
            return Ok(());
        }
        self.error = Some(PyValueError::new_err(format!(
            "the sentences must be the same in each pass; there were {before} at first and {read} later"
        )));
        Err(raised())
    }
}

/// The result of a training. `finish` has no feed.
pub fn summary(
    before: &Progress,
    now: &Progress,
    waiting: u64,
    elapsed: Duration,
    passes: u32,
    feed: Option<&Feed>,
) -> Told {
    let text = feed.map(Feed::report).unwrap_or_default();
    let trained = now.totals.since(&before.totals);
    let words = now.tokens - before.tokens;
    let seconds = elapsed.as_secs_f64();
    let figures = json!({
        "words": words,
        "sentences": text.sentences,
        "seconds": seconds,
        "words_per_second": words as f64 * f64::from(passes) / seconds.max(1e-9),
        "loss": finite(trained.mean_loss()),
        "pairs": trained.pairs,
        "replayed": trained.replayed,
        "waiting": waiting,
        "evictions": now.evictions - before.evictions,
        "short_tokens": text.short_tokens,
        "long_tokens": text.long_tokens,
        "cut_sentences": text.cut_lines,
        "invalid_lines": text.invalid_lines,
        "nul_lines": text.nul_lines,
        "bad_records": text.bad_records,
        "missing": feed.map_or(0, Feed::missing),
        "urls": text.urls,
        "emails": text.emails,
        "emoji": text.emoji,
        "numbers": text.numbers,
        "looks_like_prose": text.looks_like_prose(),
    });
    let (mut skipped, mut without_words, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    if let Some(files) = feed.and_then(Feed::files) {
        skipped.extend(files.skipped().iter().map(|path| path.as_os_str().to_owned()));
        without_words.extend(files.without_words().map(|path| path.as_os_str().to_owned()));
        left_out.extend(files.left_out().iter().map(|(path, _)| path.as_os_str().to_owned()));
    }
    (figures.to_string(), skipped, without_words, left_out)
}

/// JSON has only finite numbers. A loss that is not finite means that training diverged.
pub fn finite(loss: f64) -> f64 {
    if loss.is_finite() { loss } else { f64::MAX }
}
