//! The loop of Algorithm 2, which reads the next batch while this one is trained. It also handles pauses and errors of the
//! source.

use std::convert::Infallible;

use super::cell::Trained;
use super::grid::Grid;
use super::mini_batch::{Batch, Batches, Counted, MiniBatch};
use super::passages;
use super::trainer::Stream;
use super::{Initial, Observer, StopReason};
use crate::config::Settings;
use crate::corpus::{Read, Sentence, Source};
use crate::error::{Error, Result};
use crate::kernel::FloatMode;
use crate::parameters::Parameters;
use crate::vocabulary::Vocabulary;

/// A source that stops once. An error waits until the text before it is learned.
pub(super) struct Text<'a> {
    source: &'a mut dyn Source,
    stopped: Option<Result<StopReason>>,
}

impl<'a> Text<'a> {
    pub fn new(source: &'a mut dyn Source) -> Text<'a> {
        Text { source, stopped: None }
    }

    /// Reads the next sentence. Returns false if there is none.
    pub fn read(&mut self, sentence: &mut Sentence) -> bool {
        if self.stopped.is_none() {
            self.stopped = match self.source.read(sentence) {
                Ok(Read::Sentence) => None,
                Ok(Read::Pending) => Some(Ok(StopReason::Pending)),
                Ok(Read::End) => Some(Ok(StopReason::EndOfText)),
                Err(error) => Some(Err(error)),
            };
        }
        self.stopped.is_none()
    }

    /// Counts passages of the text on several threads until there are enough words. Returns false if there are none.
    pub fn read_passages(
        &mut self,
        vocabulary: &mut Vocabulary,
        threads: usize,
        counted: &mut Counted<'_>,
    ) -> bool {
        if self.stopped.is_some() {
            return false;
        }
        let wanted = counted.wanted;
        passages::read(self.source, vocabulary, wanted, threads, |vocabulary, looked_up| {
            match counted.count_passage(looked_up, vocabulary) {
                Ok(()) => counted.wanted,
                Err(error) => {
                    self.stopped = Some(Err(error));
                    0
                }
            }
        })
    }

    /// Stops with an error of the text.
    pub fn fail(&mut self, error: Error) {
        self.stopped = Some(Err(error));
    }

    /// Why there is no more text; a pause if there may be more.
    pub fn stop(self) -> Result<StopReason> {
        self.stopped.unwrap_or(Ok(StopReason::Paused))
    }
}

/// What has the rows and trains batches: the threads of this process, or the workers of a cluster.
pub(super) trait TrainBatch {
    /// What can go wrong.
    type Error;

    /// Trains a batch, and calls `meanwhile` on this thread, which needs as many helpers.
    fn train_batch(
        &mut self,
        parameters: &mut Parameters,
        initial: Option<&Initial>,
        batch: &Batch,
        helpers: usize,
        meanwhile: impl FnOnce(),
    ) -> Result<Trained, Self::Error>;
}

impl TrainBatch for Grid {
    type Error = Infallible;

    fn train_batch(
        &mut self,
        parameters: &mut Parameters,
        initial: Option<&Initial>,
        batch: &Batch,
        helpers: usize,
        meanwhile: impl FnOnce(),
    ) -> Result<Trained, Infallible> {
        Ok(self.train(parameters, initial, batch, helpers, meanwhile))
    }
}

impl MiniBatch {
    pub fn train(
        &mut self,
        stream: &mut Stream,
        source: &mut dyn Source,
        observer: &mut dyn Observer,
    ) -> Result<StopReason> {
        let (stopped, Ok(())) = self.batches.train(&mut self.grid, stream, source, observer);
        stopped
    }

    /// Trains the old text that still waits, a batch at a time, at a falling rate.
    pub fn finish(
        &mut self,
        settings: &Settings,
        stream: &mut Stream,
        observer: &mut dyn Observer,
    ) -> StopReason {
        let Ok(stopped) = self.batches.finish(&mut self.grid, settings, stream, observer);
        stopped
    }
}

impl Batches {
    /// Trains a text. Besides why it stopped, returns whether a batch could not be trained: then the state is lost.
    pub fn train<T: TrainBatch>(
        &mut self,
        rows: &mut T,
        stream: &mut Stream,
        source: &mut dyn Source,
        observer: &mut dyn Observer,
    ) -> (Result<StopReason>, Result<(), T::Error>) {
        let _mode = FloatMode::standard();
        let mut text = Text::new(source);
        let Batches { intake, current, .. } = self;
        let mut more = intake.take_in(&mut text, &mut stream.vocabulary, stream.initial.as_ref(), current);
        while more {
            // At a pause nothing may have been read that is not trained.
            let pause = observer.progress(&stream.progress()).is_break();
            let Stream { vocabulary, parameters, initial, .. } = &mut *stream;
            let initial = initial.as_ref();
            let helpers = self.intake.helpers();
            let trained = rows.train_batch(parameters, initial, &self.current, helpers, || {
                more = !pause && self.intake.take_in(&mut text, vocabulary, initial, &mut self.next);
            });
            match trained {
                Ok(trained) => self.count(trained, stream),
                Err(error) => return (text.stop(), Err(error)),
            }
            if pause {
                // Text that has ended may have ended with this batch: the next call finds out.
                return (text.stop().map(|_| StopReason::Paused), Ok(()));
            }
            std::mem::swap(&mut self.current, &mut self.next);
        }
        (text.stop(), Ok(()))
    }

    /// Trains the old text that still waits.
    pub fn finish<T: TrainBatch>(
        &mut self,
        rows: &mut T,
        settings: &Settings,
        stream: &mut Stream,
        observer: &mut dyn Observer,
    ) -> Result<StopReason, T::Error> {
        let _mode = FloatMode::standard();
        loop {
            let words = settings.mini_batch().batch_words;
            if !self.intake.take_old(words, &stream.vocabulary, &mut self.current) {
                return Ok(StopReason::EndOfText);
            }
            let Stream { parameters, initial, .. } = &mut *stream;
            let trained = rows.train_batch(parameters, initial.as_ref(), &self.current, 0, || {})?;
            self.count(trained, stream);
            let pause = observer.progress(&stream.progress()).is_break();
            if pause && self.intake.replay.due() > 0 {
                return Ok(StopReason::Paused);
            }
        }
    }

    /// Adds what training the current batch gave to the totals.
    fn count(&self, trained: Trained, stream: &mut Stream) {
        stream.totals.pairs += trained.pairs;
        stream.totals.loss += trained.loss;
        stream.totals.replayed += self.current.replayed;
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use crate::corpus::{Lines, Read, Sentence, Source};
    use crate::train::testing::learn;
    use crate::{Config, Error, HalfLife, MiniBatchOptions, Progress, Result, StopReason, Strategy, Trainer};

    fn config(replays: u32) -> Config {
        let strategy = Strategy::MiniBatch(MiniBatchOptions { replays, ..Default::default() });
        // Changed replays keep the rate, which would otherwise follow from them.
        Config { dimensions: 4, subsample: 0.0, learning_rate: Some(0.2), strategy, ..Config::default() }
    }

    #[test]
    fn replays_change_between_texts_and_never_for_text_that_waits() {
        let mut trainer = Trainer::new(config(2)).unwrap();
        // A quarter of it waits.
        learn(&mut trainer, &"one two three\n".repeat(10_000));
        let message = trainer.set_replays(4).unwrap_err().to_string();
        assert!(message.contains("from 2 to 4"), "{message}");
        trainer.set_replays(2).unwrap();
        trainer.finish();
        assert_eq!(trainer.progress().totals.replayed, 2 * 30_000);
        trainer.set_replays(4).unwrap();
        learn(&mut trainer, "four five\n");
        trainer.finish();
        assert_eq!(trainer.progress().totals.replayed, 2 * 30_000 + 4 * 2);
        trainer.set_replays(0).unwrap();
        learn(&mut trainer, "six\n");
        trainer.finish();
        assert_eq!(trainer.progress().totals.replayed, 2 * 30_000 + 4 * 2);
        assert_eq!(trainer.settings().mini_batch().replays, 0);
        assert!(trainer.set_replays(101).unwrap_err().to_string().starts_with("replays is 101;"));
    }

    #[test]
    fn changed_replays_give_what_they_would_have_given_from_the_start() {
        let mut changed = Trainer::new(config(0)).unwrap();
        changed.set_replays(3).unwrap();
        let mut same = Trainer::new(config(3)).unwrap();
        for trainer in [&mut changed, &mut same] {
            learn(trainer, &"one two three four\n".repeat(50));
            trainer.finish();
        }
        assert_eq!(changed.progress().totals, same.progress().totals);
    }

    /// One sentence, and then an error.
    struct Broken(bool);

    impl Source for Broken {
        fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
            if std::mem::replace(&mut self.0, true) {
                return Err(Error::setting("source", "broken", "whole"));
            }
            Lines::new(&b"one two"[..], "text", &Default::default())?.read(sentence)
        }
    }

    #[test]
    fn a_half_life_in_time_needs_text_with_times() {
        let options =
            MiniBatchOptions { half_life: Some(HalfLife::Seconds(86_400)), ..MiniBatchOptions::default() };
        let strategy = Strategy::MiniBatch(options);
        let mut trainer = Trainer::new(Config { dimensions: 4, strategy, ..Config::default() }).unwrap();
        let mut lines = Lines::new(&b"one two"[..], "text", &Default::default()).unwrap();
        let error = trainer.train_source(&mut lines).unwrap_err().to_string();
        assert_eq!(error, "half_life is 1d; it must be a number of words, because the text has no times");
        assert_eq!(trainer.progress().tokens, 0);
    }

    #[test]
    fn an_error_after_the_batch_of_a_pause_is_not_kept_for_another_source() {
        let mut trainer = Trainer::new(Config { dimensions: 4, ..Config::default() }).unwrap();
        let mut pause = |_: &Progress| ControlFlow::Break(());
        let error = trainer.train_observed(&mut Broken(false), &mut pause).unwrap_err().to_string();
        assert_eq!((error.as_str(), trainer.progress().tokens), ("source is broken; it must be whole", 2));
        let mut other = Lines::new(&b"three four five"[..], "text", &Default::default()).unwrap();
        assert_eq!(trainer.train_source(&mut other).unwrap(), StopReason::EndOfText);
        assert_eq!(trainer.progress().tokens, 5);
    }
}
