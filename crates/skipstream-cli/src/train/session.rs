//! One run of `train`: a model, the text for it, and what becomes of both.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use skipstream::corpus::Ledger;
use skipstream::{Error, Progress, StopReason, Trainer};

use super::evaluation::Evaluation;
use super::every::Due;
use super::headline::Headline;
use super::job::Job;
use super::log::{Event, Log};
use super::meter::Meter;
use super::model::{self, in_passes};
use super::patience::Patience;
use super::pipe::STDIN;
use super::reading::Reading;
use super::shared::Shared;
use super::stop::Stop;
use super::summary::{Outcome, Summary};
use super::watch::{Chore, Watch};
use crate::lock::ModelLock;
use crate::output::print_json;
use crate::{Ending, is_broken_pipe, with_causes};

/// How long to wait for more text before looking again: text is learned within about that time, and batches do not
/// become tiny.
const PAUSE: Duration = Duration::from_millis(500);

/// A model with the text that it is to learn.
pub struct Session {
    job: Job,
    stop: Stop,
    trainer: Trainer,
    text: Reading,
    log: Log,
    watch: Watch,
    evaluation: Option<Evaluation>,
    began: Instant,
    before: Before,
    /// How far training was when the model was last saved.
    saved: Progress,
    /// Whether scores are still printed: not once nobody reads them.
    prints_scores: bool,
    /// An error that is no reason to learn no more, and is the command's at its end.
    put_off: Option<anyhow::Error>,
    _lock: ModelLock,
}

/// The model as it was when the session began.
struct Before {
    /// Whether there was none.
    is_new: bool,
    progress: Progress,
    ledger: Ledger,
}

impl Session {
    /// Makes or loads the model, and looks at all texts before any of them is read.
    pub fn begin(job: Job, stop: Stop, log: Log) -> Result<Session> {
        let job = Job { model: model::behind_links(job.model), ..job };
        let lock = ModelLock::take(&job.model)?;
        let is_new = !job.model.try_exists().with_context(|| job.model.display().to_string())?;
        let trainer = if is_new { model::make(&job)? } else { model::load(&job)? };
        let text = Reading::plan(&job, &trainer, &stop)?;
        let before = Before { is_new, progress: trainer.progress(), ledger: trainer.ledger().clone() };
        log.tell(&Event::Start(&Headline::new(&job.model, is_new, &trainer)));
        let max_vocabulary = trainer.settings().max_vocabulary;
        let evaluation = match &job.eval[..] {
            [] => None,
            files => Some(Evaluation::new(files, before.progress)?),
        };
        let began = Instant::now();
        let meter = log
            .interval()
            .map(|interval| Meter::new(interval, text.progress(), max_vocabulary, before.progress, began));
        // A corpus that is read in passes cannot be left and taken up again.
        let chores = [(Chore::Checkpoint, Some(job.checkpoint_every)), (Chore::Evaluation, job.eval_every)];
        let due = chores
            .into_iter()
            .filter(|_| !in_passes(&trainer))
            .filter_map(|(chore, every)| Some((chore, Due::new(every?, before.progress.tokens))));
        Ok(Session {
            watch: Watch::new(stop.clone(), log.clone(), meter, due.collect()),
            text,
            log,
            evaluation,
            began,
            job,
            stop,
            trainer,
            saved: before.progress,
            before,
            prints_scores: true,
            put_off: None,
            _lock: lock,
        })
    }

    /// Learns all text, or what there is before an error or a wish to stop, and saves it.
    pub fn learn(mut self) -> (Summary, Result<Ending>) {
        let trained = self.train().and_then(|reason| self.refuse_nothing(reason));
        let settled = self.settle();
        let outcome = match &trained {
            Err(_) => Outcome::Failed,
            Ok(StopReason::Paused) => Outcome::Interrupted,
            Ok(_) if self.has_changed() => Outcome::Complete,
            Ok(_) => Outcome::NothingNew,
        };
        let saved = match outcome {
            _ if in_passes(&self.trainer) && outcome != Outcome::Complete => None,
            Outcome::Complete => Some(self.save()),
            Outcome::NothingNew => None,
            Outcome::Interrupted | Outcome::Failed => {
                (self.has_changed() && !self.is_void()).then(|| self.save())
            }
        };
        let summary = self.summary(outcome, matches!(saved, Some(Ok(()))));
        let evaluated = if outcome == Outcome::Failed { Ok(()) } else { self.evaluate_at_end() };
        let ending = match outcome {
            Outcome::Interrupted => Ending::Interrupted,
            _ => Ending::Done,
        };
        let put_off = self.put_off.take().map_or(Ok(()), Err);
        let result = trained.and(settled).and(saved.unwrap_or(Ok(()))).and(evaluated).and(put_off);
        let result = result.map(|()| ending);
        (summary, result)
    }

    fn train(&mut self) -> Result<StopReason> {
        let reason = match &self.text {
            Reading::ToTheEnd(files) if in_passes(&self.trainer) => self.train_in_passes(files.clone())?,
            Reading::ToTheEnd(_) => self.train_in_one_pass()?,
            Reading::Followed { .. } => self.train_and_follow()?,
        };
        if reason != StopReason::Paused && self.job.finish {
            return self.finish();
        }
        Ok(reason)
    }

    /// A new model of no words would only lead to questions later on.
    fn refuse_nothing(&self, reason: StopReason) -> Result<StopReason> {
        if reason != StopReason::Paused && self.is_void() && !self.job.follow {
            bail!("there are no words in the text, so there is no model to save");
        }
        Ok(reason)
    }

    /// Trains what waits in the replay buffer, with checkpoints like any training.
    fn finish(&mut self) -> Result<StopReason> {
        loop {
            let reason = self.trainer.finish(&mut self.watch);
            if reason != StopReason::Paused || self.stop.is_asked() {
                return Ok(reason);
            }
            self.do_chores()?;
        }
    }

    /// Does what is due, at rest.
    fn do_chores(&mut self) -> Result<()> {
        let words = self.trainer.progress().tokens;
        for chore in self.watch.take_due(words) {
            match chore {
                Chore::Checkpoint => self.checkpoint()?,
                Chore::Evaluation => self.evaluate()?,
            }
        }
        Ok(())
    }

    /// Saves the model, if there is anything new in it.
    fn checkpoint(&mut self) -> Result<()> {
        let now = self.trainer.progress();
        if now.tokens == self.saved.tokens && now.totals == self.saved.totals {
            return Ok(());
        }
        self.saved = now;
        // A file that is gone cannot be written down; the rest is still worth learning.
        if let Err(error) = self.settle() {
            self.put_off(error);
        }
        self.save()?;
        self.log.tell(&Event::Checkpoint { words_in_all: self.trainer.progress().tokens });
        Ok(())
    }

    /// Scores the model once more, and says of which test sets nothing could be asked.
    fn evaluate_at_end(&mut self) -> Result<()> {
        self.evaluate()?;
        for message in self.evaluation.iter().flat_map(Evaluation::warnings) {
            self.log.tell(&Event::Warning { message: &message });
        }
        Ok(())
    }

    /// Scores the model as it is now, and prints the scores.
    fn evaluate(&mut self) -> Result<()> {
        let Some(evaluation) = &mut self.evaluation else { return Ok(()) };
        if let Some(point) = evaluation.point(&self.trainer)? {
            self.log.tell(&Event::Eval(&point));
            let printed = if self.prints_scores { print_json(&point) } else { Ok(()) };
            if let Err(error) = printed {
                self.prints_scores = false;
                if !is_broken_pipe(&error) {
                    self.put_off(error);
                }
            }
        }
        Ok(())
    }

    /// Warns of an error now, and keeps it for the end.
    fn put_off(&mut self, error: anyhow::Error) {
        let message = format!("{}; training goes on", with_causes(&error));
        self.log.tell(&Event::Warning { message: &message });
        self.put_off.get_or_insert(error);
    }

    fn train_in_one_pass(&mut self) -> Result<StopReason> {
        loop {
            let reason = match self.trainer.train(&mut self.text, &mut self.watch) {
                Err(error) if self.is_stopped_pipe(&error) => StopReason::Paused,
                other => other?,
            };
            if reason != StopReason::Paused || self.stop.is_asked() {
                return Ok(reason);
            }
            self.do_chores()?;
        }
    }

    /// Learns what there is, waits for more, and so on.
    ///
    /// What has come is learned though it may not fill a batch, so where batches end depends on when text comes.
    fn train_and_follow(&mut self) -> Result<StopReason> {
        let mut patience = Patience::new(self.job.idle_exit);
        loop {
            let reason = self.train_in_one_pass()?;
            self.tell_notes();
            if reason == StopReason::Paused {
                return Ok(reason);
            }
            if self.text.is_over()? || patience.is_over(self.trainer.progress().tokens) {
                return Ok(StopReason::EndOfText);
            }
            self.do_chores()?;
            if !self.stop.is_asked_within(PAUSE) {
                continue;
            }
            return Ok(StopReason::Paused);
        }
    }

    /// Tells what happened to the files that are followed.
    fn tell_notes(&mut self) {
        for note in self.text.take_notes() {
            self.log.tell(&Event::Rotation(&note));
        }
    }

    fn train_in_passes(&mut self, text: Shared) -> Result<StopReason> {
        if text.files().is_empty() {
            return Ok(StopReason::EndOfText);
        }
        let mut open = || {
            text.files().rewind()?;
            Ok(Box::new(text.clone()) as _)
        };
        Ok(self.trainer.train_passes(&mut open, &mut self.watch)?)
    }

    /// Whether this is how a [`Pipe`] lets go of a silent standard input.
    fn is_stopped_pipe(&self, error: &Error) -> bool {
        let (Error::Io { path, .. } | Error::Text { path, .. } | Error::Malformed { path, .. }) = error
        else {
            return false;
        };
        self.stop.is_asked() && path == Path::new(STDIN)
    }

    /// Writes down what was read: at rest all of it is learned.
    fn settle(&mut self) -> Result<()> {
        Ok(self.text.settle(self.trainer.ledger_mut())?)
    }

    fn save(&self) -> Result<()> {
        let saved = self.trainer.save(&self.job.model);
        saved.context("the model could not be saved")
    }

    /// Whether the model is new and has met no word.
    fn is_void(&self) -> bool {
        self.before.is_new && self.trainer.progress().tokens == 0
    }

    fn has_changed(&self) -> bool {
        let (now, before) = (self.trainer.progress(), &self.before);
        now.tokens > before.progress.tokens
            || now.totals != before.progress.totals
            || *self.trainer.ledger() != before.ledger
    }

    fn summary(&self, outcome: Outcome, saved: bool) -> Summary {
        let (now, before) = (self.trainer.progress(), &self.before.progress);
        let settings = self.trainer.settings();
        let trained = now.totals.since(&before.totals);
        let words = now.tokens - before.tokens;
        let passes = if in_passes(&self.trainer) { settings.passes } else { 1 };
        let seconds = self.began.elapsed().as_secs_f64();
        Summary {
            model: self.job.model.clone(),
            outcome,
            saved,
            words,
            words_in_all: now.tokens,
            replayed: trained.replayed,
            waiting: self.trainer.waiting(),
            seconds,
            words_per_second: words as f64 * f64::from(passes) / seconds,
            loss: trained.mean_loss(),
            vocabulary: now.vocabulary,
            max_vocabulary: settings.max_vocabulary,
            evictions: now.evictions - before.evictions,
            text: self.text.report(),
            skipped_files: self.text.skipped(),
            files_without_words: self.text.without_words(),
            go_on: self.how_to_go_on(),
        }
    }

    fn how_to_go_on(&self) -> &'static str {
        if in_passes(&self.trainer) {
            "from the start: this strategy learns all its text at once"
        } else if self.job.reads_stdin() && self.job.follow {
            "the same command, with what comes next"
        } else if self.job.reads_stdin() && self.job.again {
            "feed the text again from its beginning, with --skip-learned instead of --again"
        } else if self.job.reads_stdin() {
            "feed the text again from its beginning, with --skip-learned"
        } else if self.job.again {
            "the same command without --again"
        } else {
            "the same command"
        }
    }
}
