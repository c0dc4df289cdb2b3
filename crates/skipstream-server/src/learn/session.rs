//! The work of the learning thread.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use skipstream::{Progress, StopReason, Trainer};
use tokio::runtime::Runtime;
use tokio::time::{sleep_until, timeout};

use super::meter::Meter;
use super::model::{Model, publication};
use super::queue::Queue;
use super::source::{Tail, WholeBatches};
use crate::error::{Error, Result};
use crate::lifecycle::{LEARNER, Task};
use crate::log::ControlId;
use crate::published::{Published, Seq};
use crate::requests::LearnerRequest;
use crate::service::Service;
use crate::status::{Checkpoint, Status};
use crate::threads;

/// The interval of status updates.
const STATUS_EVERY: Duration = Duration::from_secs(1);

/// The delay after a failure.
const PAUSE: Duration = Duration::from_secs(1);

/// The maximum delay after a failed checkpoint.
const CHECKPOINT_PAUSE: Duration = Duration::from_secs(10);

/// The maximum number of marks in the word times: 16 MiB.
const MARKS: usize = 1 << 20;

/// The problem of a diverged model.
const DIVERGED: &str =
    "the model has diverged: a value is infinite or NaN; the last good version answers queries";

pub struct Session {
    pub(super) service: Arc<Service>,
    pub(super) model: Model,
    pub(super) queue: Queue,
    /// Controls up to this number are in effect, and need not be logged any more once the model is saved.
    pub(super) finished_controls: ControlId,
    /// Learns the text after the last whole batch, for publication.
    pub(super) fork: Option<Trainer>,
    /// The duration of the last fork, and when it ended.
    fork_cost: Duration,
    fork_end: Instant,
    pub(super) meter: Meter,
    pub(super) published_at: Instant,
    /// When the next checkpoint is due.
    checkpoint_at: Instant,
    checkpoint: Option<Checkpoint>,
    reported_at: Instant,
    /// Whether the last attempt to save failed.
    is_saving_failing: bool,
    /// To wait for several things.
    runtime: Runtime,
}

/// What to do after a step.
enum Next {
    Continue,
    /// Wait until then, or until the log has news.
    Wait(Instant),
}

impl Session {
    /// Continues at the model's position.
    pub fn new(service: Arc<Service>, model: Model) -> Result<Session> {
        let (trainer, position) = (&model.trainer, model.position);
        let reader = service.log.reader(position.line)?;
        // A crash may have left learned lines. The reader must exist first: it takes them out of the queue's count.
        service.log.forget(position.learned());
        let queue = Queue::new(reader, position, trainer.vocabulary().tokens(), trainer.settings().text());
        let now = Instant::now();
        let seq = model.saved_line();
        let session = Session {
            meter: Meter::new(trainer.progress(), now),
            // Text that waits is published as soon as it is learned.
            published_at: now.checked_sub(service.settings.publish_every).unwrap_or(now),
            checkpoint_at: now + service.settings.checkpoint_every,
            checkpoint: (seq > 0).then(|| Checkpoint { seq, time: model.saved_at() }),
            reported_at: now,
            finished_controls: 0,
            fork: None,
            fork_cost: Duration::ZERO,
            fork_end: now,
            is_saving_failing: false,
            runtime: threads::runtime(LEARNER)?,
            service,
            model,
            queue,
        };
        session.report();
        session.report_controls();
        Ok(session)
    }

    /// Learns until the service stops, and saves the model. An error means that it could not be saved.
    pub fn run(mut self) -> Result<()> {
        while !self.service.is_stopping() {
            match self.step() {
                Ok(next) => {
                    self.service.lifecycle.set_problem(Task::Learn, None);
                    if let Next::Wait(until) = next {
                        self.report_if_due();
                        self.wait(until);
                    }
                }
                Err(error) => {
                    self.fail(&error);
                    if is_diverged(&error) {
                        // Learning on is useless, and saving would replace a good model.
                        self.service.requests.close();
                        self.runtime.block_on(self.service.lifecycle.stopping());
                        return Err(error);
                    }
                    self.pause();
                }
            }
        }
        self.service.requests.close();
        self.save().map(|_| ()).inspect_err(|error| {
            tracing::error!(%error, "could not save the model on shutdown; its text stays in the log");
        })
    }

    /// Learns the available text; saves and publishes if due.
    fn step(&mut self) -> Result<Next> {
        let outcome = self.learn();
        // If the log cannot be read, what was learned before is saved anyway. A diverged model is not.
        if !outcome.as_ref().is_err_and(is_diverged) {
            self.serve_requests();
            self.save_if_due()?;
        }
        let outcome = outcome?;
        // All whole batches before the next controls are learned.
        if outcome != StopReason::Paused && self.serve_controls()? {
            return Ok(Next::Continue);
        }
        let next = self.publish_if_due(outcome)?;
        self.report_if_due();
        Ok(next)
    }

    /// Trains whole batches until there are no more or something else is due.
    fn learn(&mut self) -> Result<StopReason> {
        let Session { service, model, queue, meter, .. } = self;
        let Model { trainer, times, .. } = model;
        let publish_at = self.published_at + service.settings.publish_every;
        let checkpoint_at = self.checkpoint_at;
        let mut before = trainer.progress().totals;
        let mut reported_at = self.reported_at;
        let mut observer = |progress: &Progress| {
            let now = Instant::now();
            meter.note(progress, &before, now);
            before = progress.totals;
            if now.duration_since(reported_at) >= STATUS_EVERY {
                reported_at = now;
                let checkpoint = service.status.load().checkpoint;
                service.status.store(Arc::new(Status { checkpoint, ..meter.status(now) }));
            }
            let is_due = now >= publish_at
                || now >= checkpoint_at
                || service.is_stopping()
                || service.requests.is_any();
            if is_due { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let (settings, tokens) = (trainer.settings().clone(), trainer.progress().tokens);
        let mut source = WholeBatches::new(queue, times, settings, tokens, MARKS);
        let outcome = trainer.train_observed(&mut source, &mut observer);
        let (failure, is_marked_full) = (source.failure.take(), source.is_marked_full);
        // The observer saw all batches except the last.
        self.meter.note(&self.model.trainer.progress(), &before, Instant::now());
        self.reported_at = reported_at;
        // Everything that was taken is learned, even after a failure.
        self.model.position = self.queue.start();
        if self.model.times.marks() > MARKS {
            self.model.times.resolve(self.model.trainer.vocabulary());
        }
        match failure {
            Some(error) => Err(error),
            // There may be more text.
            None if is_marked_full => outcome.map(|_| StopReason::Paused).map_err(Error::from),
            None => Ok(outcome?),
        }
    }

    /// Publishes the model if it is new and publication is due.
    fn publish_if_due(&mut self, reason: StopReason) -> Result<Next> {
        let now = Instant::now();
        let is_dry = reason != StopReason::Paused;
        let published = self.service.published();
        let seq = if is_dry { self.queue.end() } else { self.queue.start() }.learned();
        let idle = |session: &Session| {
            if is_dry { Next::Wait(session.checkpoint_at.min(now + STATUS_EVERY)) } else { Next::Continue }
        };
        if seq <= published.seq {
            return Ok(idle(self));
        }
        let is_awaited = is_dry && self.service.requests.is_awaited(published.seq, seq);
        let needs_fork = is_dry && !self.queue.is_empty();
        let mut due_at =
            if is_awaited { now } else { self.published_at + self.service.settings.publish_every };
        if needs_fork {
            // Forks take at most a quarter of the time, or half if a caller waits.
            due_at = due_at.max(self.fork_end + self.fork_cost * if is_awaited { 1 } else { 3 });
        }
        if now < due_at {
            return Ok(match idle(self) {
                Next::Wait(until) => Next::Wait(until.min(due_at)),
                Next::Continue => Next::Continue,
            });
        }
        let publication =
            if needs_fork { self.learn_tail(seq)? } else { self.publish_base(seq, &published)? };
        self.service.publish(publication);
        self.published_at = Instant::now();
        self.report();
        Ok(idle(self))
    }

    /// Publishes the model, whatever is due.
    pub(super) fn publish_now(&mut self) -> Result<()> {
        let Model { trainer, times, position, .. } = &mut self.model;
        times.resolve(trainer.vocabulary());
        let published = publication(trainer, times, position.learned(), self.service.settings.vectors)?;
        self.service.publish(published);
        self.published_at = Instant::now();
        self.report();
        Ok(())
    }

    /// The published version of the trainer.
    fn publish_base(&mut self, seq: Seq, published: &Published) -> Result<Published> {
        let Model { trainer, times, .. } = &mut self.model;
        if trainer.progress().tokens == published.progress.tokens {
            // Lines without words: only the number has changed.
            let Published { embeddings, seen, progress, .. } = published;
            let (embeddings, seen) = (embeddings.clone(), seen.clone());
            let next = Published::new(seq, Timestamp::now(), embeddings, seen, *progress);
            return Ok(Published { phrases: published.phrases.clone(), ..next });
        }
        times.resolve(trainer.vocabulary());
        publication(trainer, times, seq, self.service.settings.vectors)
    }

    /// The published version of a fork that has also learned the rest of the text.
    fn learn_tail(&mut self, seq: Seq) -> Result<Published> {
        let start = Instant::now();
        let trainer = &self.model.trainer;
        let fork = match &mut self.fork {
            Some(fork) => {
                fork.catch_up_with(trainer);
                fork
            }
            empty => empty.insert(trainer.fork()?),
        };
        let before = fork.progress().totals;
        fork.train_source(&mut Tail(self.queue.sentences()))?;
        self.meter.note(&fork.progress(), &before, Instant::now());
        let publication = publication(fork, &self.model.times, seq, self.service.settings.vectors);
        self.fork_end = Instant::now();
        self.fork_cost = self.fork_end - start;
        publication
    }

    fn serve_requests(&mut self) {
        for request in self.service.requests.take() {
            // The caller may have gone away.
            match request {
                LearnerRequest::Checkpoint { answer } => drop(answer.send(self.save())),
                LearnerRequest::Keep { through, .. } if self.queue.end().learned() < through => {
                    self.service.requests.put_back(request);
                }
                LearnerRequest::Keep { name, answer, .. } => drop(answer.send(self.keep(name))),
                LearnerRequest::RollBack { name, answer } => drop(answer.send(self.roll_back(name))),
            }
        }
    }

    /// Saves the model if a checkpoint is due. It is an error if the model has diverged; any other failure is retried later.
    fn save_if_due(&mut self) -> Result<()> {
        // Text that is learned but not saved stays in the log, which must not grow without bound.
        let log_is_long = self.service.log.kept_bytes().saturating_sub(self.service.log.waiting_bytes())
            > self.service.settings.queue_size
            && !self.is_saving_failing;
        if Instant::now() < self.checkpoint_at && !log_is_long {
            return Ok(());
        }
        match self.save() {
            Err(error) if is_diverged(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// Saves the model if it has changed, and lets the log delete the lines that are in it.
    pub(super) fn save(&mut self) -> Result<Checkpoint> {
        let every = self.service.settings.checkpoint_every;
        if self.model.is_saved() {
            self.checkpoint_at = Instant::now() + every;
            let seq = self.model.saved_line();
            let time = self.model.saved_at();
            return Ok(*self.checkpoint.get_or_insert(Checkpoint { seq, time }));
        }
        let saved = self.model.save();
        self.service.log.note_saving(saved.is_ok());
        self.is_saving_failing = saved.is_err();
        let now = Instant::now();
        match saved {
            Ok(seq) => {
                self.service.log.forget_controls(self.finished_controls);
                self.service.log.forget(seq);
                self.service.lifecycle.set_problem(Task::Save, None);
                self.checkpoint_at = now + every;
                let checkpoint = Checkpoint { seq, time: self.model.saved_at() };
                self.checkpoint = Some(checkpoint);
                self.report();
                Ok(checkpoint)
            }
            Err(error) => {
                tracing::error!(%error, "could not save the model; its text stays in the log");
                let problem = format!("could not save the model: {}", error.without_path());
                self.service.lifecycle.set_problem(Task::Save, Some(problem));
                let pause = if is_diverged(&error) { Duration::ZERO } else { every.min(CHECKPOINT_PAUSE) };
                self.checkpoint_at = now + pause;
                self.report();
                Err(error)
            }
        }
    }

    fn report_if_due(&mut self) {
        let now = Instant::now();
        if now.duration_since(self.reported_at) >= STATUS_EVERY {
            self.reported_at = now;
            self.report();
        }
    }

    pub(super) fn report(&self) {
        let status = self.meter.status(Instant::now());
        self.service.status.store(Arc::new(Status { checkpoint: self.checkpoint, ..status }));
    }

    fn fail(&self, error: &Error) {
        tracing::error!(%error, "could not learn text; it stays in the log");
        let problem = if is_diverged(error) {
            // Anyone may read this, and the error names a word.
            DIVERGED.to_owned()
        } else {
            format!("could not learn text: {}", error.without_path())
        };
        self.service.lifecycle.set_problem(Task::Learn, Some(problem));
        self.report();
    }

    /// Waits a moment, even if the log has news, unless the service stops.
    fn pause(&self) {
        let stopping = self.service.lifecycle.stopping();
        let _ = self.runtime.block_on(async { timeout(PAUSE, stopping).await });
    }

    /// Waits until then, or until the log has news or the service stops.
    fn wait(&self, until: Instant) {
        let Service { log, lifecycle, .. } = &*self.service;
        self.runtime.block_on(async {
            tokio::select! {
                () = lifecycle.stopping() => {}
                () = log.news().notified() => {}
                () = sleep_until(until.into()) => {}
            }
        });
        #[cfg(test)]
        lifecycle.die_if_doomed(LEARNER);
    }
}

/// Whether the model has infinite or NaN values: more text does not help.
fn is_diverged(error: &Error) -> bool {
    matches!(error, Error::Engine(skipstream::Error::Diverged { .. } | skipstream::Error::Vectors(_)))
}
