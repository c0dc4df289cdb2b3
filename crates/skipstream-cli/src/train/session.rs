//! One run of `train`.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use skipstream::corpus::Ledger;
use skipstream::train::AnyTrainer;
use skipstream::unstable::Lock;
use skipstream::vocabulary::Controls;
use skipstream::{Error, Progress, StopReason, Trainer};

use super::evaluation::Evaluation;
use super::every::{Due, Every};
use super::headline::Headline;
use super::job::Job;
use super::log::{Event, Log};
use super::meter::Meter;
use super::reading::{Reading, Shared};
use super::stop::Stop;
use super::summary::{Outcome, Summary};
use super::watch::{Chore, Watch};
use crate::lock;
use crate::output::print_json;
use crate::previous;
use crate::{Ending, is_broken_pipe, with_causes};

/// Polling interval of followed files: new text is learned within about this time, and batches do not become tiny.
const PAUSE: Duration = Duration::from_millis(500);

/// A model and the text to learn.
pub struct Session {
    job: Job,
    stop: Stop,
    trainer: AnyTrainer,
    text: Reading,
    log: Log,
    watch: Watch,
    evaluation: Option<Evaluation>,
    began: Instant,
    before: Before,
    saved: Progress,
    previous: Previous,
    /// Whether to say so if the text looks like prose.
    asks_for_prose: bool,
    /// Whether to print scores: false once standard output is closed.
    prints_scores: bool,
    /// An error that does not stop training but fails the command at the end.
    put_off: Option<anyhow::Error>,
    _lock: Lock,
}

/// What is kept of the model as it was before this command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Previous {
    /// Nothing.
    Unwanted,
    /// The model, once the first save is about to replace it.
    Due,
    /// What an interrupted command kept, which this one resumes, or what this one has kept.
    Kept,
}

/// The note in a model that was saved before its command was complete: the number of words learned then. A model that
/// another program has trained since has another number.
const INCOMPLETE: &str = "incomplete_at";

/// The model at the start of the session.
struct Before {
    is_new: bool,
    progress: Progress,
    ledger: Ledger,
    controls: Controls,
    /// Phrases that were given to it then.
    new_phrases: usize,
}

impl Session {
    /// Creates or loads the model, and checks all texts before reading any.
    pub fn begin(job: Job, stop: Stop, log: Log) -> Result<Session> {
        let args = &job.args;
        let lock = lock::take(&args.model)?;
        let is_new = !args.model.try_exists().with_context(|| args.model.display().to_string())?;
        let mut trainer = if is_new { job.create_model()? } else { job.load_model()? };
        let controls = trainer.model().controls().clone();
        trainer.control(job.blocked.clone())?;
        let new_phrases = trainer.add_phrases(job.phrases.clone())?;
        let model = trainer.model();
        let previous = match args.keep_previous || previous::path(&args.model).exists() {
            false => Previous::Unwanted,
            true if is_new || is_incomplete(model) => Previous::Kept,
            true => Previous::Due,
        };
        let text = Reading::plan(&job, model, &stop)?;
        let (progress, ledger) = (model.progress(), model.ledger().clone());
        let before = Before { is_new, progress, ledger, controls, new_phrases };
        log.tell(&Event::Start(&Headline::new(&args.model, is_new, model, job.source_bytes())));
        for file in text.left_out() {
            log.tell(&Event::Warning { message: &format!("left out {file}") });
        }
        let evaluation = match &args.eval[..] {
            [] => None,
            files => Some(Evaluation::new(files, before.progress)?),
        };
        let began = Instant::now();
        let max_vocabulary = model.settings().max_vocabulary();
        let meter = log
            .interval()
            .map(|interval| Meter::new(interval, text.progress(), max_vocabulary, before.progress, began));
        // Training in passes cannot be paused and resumed.
        let asks_for_prose = is_new && !job.settings.choose_text();
        let chores = [
            (Chore::Checkpoint, Some(args.checkpoint_every)),
            (Chore::Evaluation, args.eval_every),
            (Chore::Hint, asks_for_prose.then_some(Every::Words(1))),
        ];
        let due = chores
            .into_iter()
            .filter(|_| matches!(trainer, AnyTrainer::Stream(_)))
            .filter_map(|(chore, every)| Some((chore, Due::new(every?, before.progress.tokens))));
        Ok(Session {
            watch: Watch { stop: stop.clone(), log: log.clone(), meter, due: due.collect() },
            text,
            log,
            evaluation,
            began,
            asks_for_prose,
            job,
            stop,
            trainer,
            saved: before.progress,
            before,
            previous,
            prints_scores: true,
            put_off: None,
            _lock: lock,
        })
    }

    /// Learns the text until its end, an error or a signal, and saves the model.
    pub fn learn(mut self) -> (Summary, Result<Ending>) {
        let trained = self.train().and_then(|reason| self.refuse_empty(reason));
        self.ask_for_prose();
        let recorded = self.record_positions();
        let outcome = match &trained {
            Err(_) => Outcome::Failed,
            Ok(StopReason::Paused) => Outcome::Interrupted,
            Ok(_) if self.has_changed() => Outcome::Complete,
            Ok(_) => Outcome::NothingNew,
        };
        // A signal is the usual end of a command that follows files.
        let complete = match outcome {
            Outcome::Complete | Outcome::NothingNew => true,
            Outcome::Interrupted => self.job.args.follow,
            Outcome::Failed => false,
        };
        let saved = match outcome {
            _ if self.in_passes() && outcome != Outcome::Complete => None,
            Outcome::Complete => Some(self.save(complete)),
            Outcome::NothingNew => is_incomplete(self.trainer.model()).then(|| self.save(complete)),
            Outcome::Interrupted | Outcome::Failed => {
                (self.has_changed() && !self.is_void()).then(|| self.save(complete))
            }
        };
        let outcome = if matches!(saved, Some(Err(_))) { Outcome::Failed } else { outcome };
        let summary = self.summary(outcome, matches!(saved, Some(Ok(()))));
        let evaluated = if outcome == Outcome::Failed { Ok(()) } else { self.evaluate_at_end() };
        let ending = match outcome {
            Outcome::Interrupted => Ending::Interrupted,
            _ => Ending::Done,
        };
        let put_off = self.put_off.take().map_or(Ok(()), Err);
        let result = trained.and(recorded).and(saved.unwrap_or(Ok(()))).and(evaluated).and(put_off);
        let result = result.map(|()| ending);
        (summary, result)
    }

    fn train(&mut self) -> Result<StopReason> {
        let reason = match &self.text {
            Reading::ToTheEnd(files) if self.in_passes() => self.train_in_passes(files.clone())?,
            Reading::ToTheEnd(_) => self.train_with_chores(Session::train_in_one_pass)?,
            Reading::Followed(_) => self.train_and_follow()?,
        };
        if reason != StopReason::Paused && self.job.args.finish {
            return self.train_with_chores(Session::finish);
        }
        Ok(reason)
    }

    /// Fails if a new model would be empty.
    fn refuse_empty(&self, reason: StopReason) -> Result<StopReason> {
        if reason != StopReason::Paused && self.is_void() && !self.job.args.follow {
            bail!("the text has no words, so there is no model to save");
        }
        Ok(reason)
    }

    /// Trains until the end or a signal, and runs the tasks that are due whenever training pauses for them.
    fn train_with_chores(&mut self, train: fn(&mut Session) -> Result<StopReason>) -> Result<StopReason> {
        loop {
            let reason = train(self)?;
            if reason != StopReason::Paused || self.stop.is_asked() {
                return Ok(reason);
            }
            self.do_chores()?;
        }
    }

    /// Empties the replay buffer.
    fn finish(&mut self) -> Result<StopReason> {
        Ok(match &mut self.trainer {
            AnyTrainer::Stream(trainer) => trainer.finish_observed(&mut self.watch),
            AnyTrainer::Passes(_) => StopReason::EndOfText,
        })
    }

    /// Suggests the setting for prose once, as soon as training pauses.
    fn ask_for_prose(&mut self) {
        if self.asks_for_prose && self.text.report().looks_like_prose() {
            self.asks_for_prose = false;
            let message = "the text looks like prose, and `Dog`, `dog` and `dog,` are different words now; \
                           start a new model with `--text prose` to learn them as one";
            self.log.tell(&Event::Warning { message });
        }
    }

    /// Runs the tasks that are due, while training is paused.
    fn do_chores(&mut self) -> Result<()> {
        self.ask_for_prose();
        let words = self.trainer.model().progress().tokens;
        for chore in self.watch.take_due(words) {
            match chore {
                Chore::Checkpoint => self.checkpoint()?,
                Chore::Evaluation => self.evaluate()?,
                Chore::Hint => self.watch.due.retain(|(chore, _)| *chore != Chore::Hint),
            }
        }
        Ok(())
    }

    /// Saves the model if it has changed.
    fn checkpoint(&mut self) -> Result<()> {
        let now = self.trainer.model().progress();
        if now.tokens == self.saved.tokens && now.totals == self.saved.totals {
            return Ok(());
        }
        self.saved = now;
        // If a file is gone, its position cannot be recorded, but the rest is still worth learning.
        if let Err(error) = self.record_positions() {
            self.put_off(error);
        }
        self.save(false)?;
        self.log.tell(&Event::Checkpoint { words_in_all: self.trainer.model().progress().tokens });
        Ok(())
    }

    /// Scores the model a last time, and warns about test sets without a usable question.
    fn evaluate_at_end(&mut self) -> Result<()> {
        self.evaluate()?;
        for message in self.evaluation.iter().flat_map(Evaluation::warnings) {
            self.log.tell(&Event::Warning { message: &message });
        }
        Ok(())
    }

    /// Scores the model and prints the scores.
    fn evaluate(&mut self) -> Result<()> {
        let Some(evaluation) = &mut self.evaluation else { return Ok(()) };
        if let Some(point) = evaluation.point(self.trainer.model())? {
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

    /// Warns about an error now and reports it at the end.
    fn put_off(&mut self, error: anyhow::Error) {
        let message = format!("{}; training continues", with_causes(&error));
        self.log.tell(&Event::Warning { message: &message });
        self.put_off.get_or_insert(error);
    }

    fn train_in_one_pass(&mut self) -> Result<StopReason> {
        let AnyTrainer::Stream(trainer) = &mut self.trainer else {
            unreachable!("a corpus is learned in passes");
        };
        match trainer.train_observed(&mut self.text, &mut self.watch) {
            Err(error) if self.is_stopped_pipe(&error) => Ok(StopReason::Paused),
            other => Ok(other?),
        }
    }

    /// Learns the available text, then waits for more.
    ///
    /// Available text is learned even if it does not fill a batch, so batch boundaries depend on when text arrives.
    fn train_and_follow(&mut self) -> Result<StopReason> {
        let mut last = None;
        let mut since = Instant::now();
        loop {
            let reason = self.train_with_chores(Session::train_in_one_pass)?;
            for note in self.text.take_notes() {
                self.log.tell(&Event::Rotation(&note));
            }
            for message in self.text.take_problems() {
                self.log.tell(&Event::Warning { message: &message });
            }
            if reason != StopReason::Pending {
                return Ok(reason);
            }
            let words = self.trainer.model().progress().tokens;
            if last.replace(words) != Some(words) {
                since = Instant::now();
            }
            if self.job.args.idle_exit.is_some_and(|most| since.elapsed() >= most) {
                return Ok(StopReason::EndOfText);
            }
            self.do_chores()?;
            if self.stop.is_asked_within(PAUSE) {
                return Ok(StopReason::Paused);
            }
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
        let AnyTrainer::Passes(passes) = &mut self.trainer else {
            unreachable!("a stream is learned in one pass")
        };
        Ok(passes.train(&mut open, &mut self.watch)?)
    }

    /// Whether the error only says that a silent pipe was abandoned after a signal.
    fn is_stopped_pipe(&self, error: &Error) -> bool {
        let (Error::Io { path, .. } | Error::Text { path, .. }) = error else {
            return false;
        };
        self.stop.is_asked() && self.job.is_pipe(path)
    }

    /// Records the read positions; while training is paused, everything read is learned.
    fn record_positions(&mut self) -> Result<()> {
        Ok(self.text.record_positions(self.trainer.ledger_mut())?)
    }

    fn save(&mut self, complete: bool) -> Result<()> {
        if self.previous == Previous::Due {
            previous::keep(&self.job.args.model)?;
            self.previous = Previous::Kept;
        }
        if let AnyTrainer::Stream(trainer) = &mut self.trainer {
            if self.previous == Previous::Kept && !complete {
                let words = trainer.progress().tokens;
                trainer.notes_mut().insert(INCOMPLETE.to_owned(), words.to_string());
            } else {
                trainer.notes_mut().remove(INCOMPLETE);
            }
        }
        let saved = self.trainer.model().save(&self.job.args.model);
        saved.context("cannot save the model")
    }

    fn in_passes(&self) -> bool {
        matches!(self.trainer, AnyTrainer::Passes(_))
    }

    /// Whether the model is new and empty.
    fn is_void(&self) -> bool {
        self.before.is_new && self.trainer.model().progress().tokens == 0
    }

    fn has_changed(&self) -> bool {
        let (now, before) = (self.trainer.model().progress(), &self.before);
        now.tokens > before.progress.tokens
            || now.totals != before.progress.totals
            || *self.trainer.model().ledger() != before.ledger
            || *self.trainer.model().controls() != before.controls
            || before.new_phrases > 0
    }

    fn summary(&self, outcome: Outcome, saved: bool) -> Summary {
        let (now, before) = (self.trainer.model().progress(), &self.before.progress);
        let settings = self.trainer.model().settings();
        let trained = now.totals.since(&before.totals);
        let words = now.tokens - before.tokens;
        let passes = settings.strategy().passes().unwrap_or(1);
        let seconds = self.began.elapsed().as_secs_f64();
        Summary {
            model: self.job.args.model.clone(),
            outcome,
            saved,
            words,
            words_in_all: now.tokens,
            replayed: trained.replayed,
            waiting: self.trainer.model().waiting(),
            seconds,
            words_per_second: words as f64 * f64::from(passes) / seconds,
            loss: trained.mean_loss(),
            vocabulary: now.vocabulary,
            max_vocabulary: settings.max_vocabulary(),
            evictions: now.evictions - before.evictions,
            text: self.text.report(),
            skipped_files: self.text.skipped(),
            files_without_words: self.text.without_words(),
            invalid_messages: self.text.invalid_messages(),
            previous: Some(previous::path(&self.job.args.model))
                .filter(|path| self.previous == Previous::Kept && path.exists()),
            resume: self.how_to_resume(),
        }
    }

    fn how_to_resume(&self) -> &'static str {
        if self.in_passes() {
            "start again: this strategy cannot resume"
        } else if self.job.reads_stdin() && self.job.args.follow || self.job.reads_named_pipe() {
            "run the same command, with the text that follows"
        } else if self.job.reads_stdin() && self.job.args.again {
            "feed the same text from the beginning, with --skip-learned instead of --again"
        } else if self.job.reads_stdin() {
            "feed the same text from the beginning, with --skip-learned"
        } else if self.job.args.again {
            "run the same command without --again"
        } else {
            "run the same command"
        }
    }
}

/// Whether a model was saved before its command was complete.
fn is_incomplete(model: &Trainer) -> bool {
    model.notes().get(INCOMPLETE).is_some_and(|words| *words == model.progress().tokens.to_string())
}
