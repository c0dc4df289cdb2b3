//! Algorithm 2 of the paper: take in a batch, then train it, while the next one is read.

use super::cell::Trained;
use super::grid::Grid;
use super::intake::{Batch, Intake};
use super::replay::ReplayBuffer;
use super::trainer::Stream;
use super::{Observer, StopReason};
use crate::config::Settings;
use crate::corpus::{Read, Source};
use crate::error::Result;
use crate::kernel::Kernel;

/// The state of the strategy.
#[derive(Debug)]
pub(crate) struct MiniBatch {
    intake: Intake,
    grid: Grid,
    current: Batch,
    next: Batch,
}

impl MiniBatch {
    pub fn new(settings: &Settings, kernel: Kernel) -> MiniBatch {
        MiniBatch {
            intake: Intake::new(settings),
            grid: Grid::new(settings, kernel),
            current: Batch::default(),
            next: Batch::default(),
        }
    }

    pub fn train(
        &mut self,
        stream: &mut Stream,
        source: &mut dyn Source,
        observer: &mut dyn Observer,
    ) -> Result<StopReason> {
        let mut filled =
            self.intake.fill(source, &mut stream.vocabulary, stream.initial.as_ref(), &mut self.current)?;
        while filled == Read::Sentence {
            // At a pause nothing may have been read that is not trained.
            let pause = observer.progress(&stream.progress()).is_break();
            let mut read = Ok(Read::Sentence);
            let Stream { vocabulary, parameters, initial, .. } = &mut *stream;
            let initial = initial.as_ref();
            let trained = self.grid.train(parameters, initial, &self.current, || {
                if !pause {
                    read = self.intake.fill(source, vocabulary, initial, &mut self.next);
                }
            });
            self.count(trained, stream);
            if pause {
                // The next call may have another source, to which this error does not belong.
                return self.intake.take_failure().map_or(Ok(StopReason::Paused), Err);
            }
            filled = read?;
            std::mem::swap(&mut self.current, &mut self.next);
        }
        Ok(if filled == Read::Pending { StopReason::Pending } else { StopReason::EndOfText })
    }

    /// Trains the old text that still waits, a batch at a time.
    pub fn finish(
        &mut self,
        settings: &Settings,
        stream: &mut Stream,
        observer: &mut dyn Observer,
    ) -> StopReason {
        loop {
            let due = self.intake.replay.due().saturating_sub(settings.mini_batch().batch_words);
            if !self.intake.fill_from_replay(due, &stream.vocabulary, &mut self.current) {
                return StopReason::EndOfText;
            }
            let trained =
                self.grid.train(&mut stream.parameters, stream.initial.as_ref(), &self.current, || {});
            self.count(trained, stream);
            let paused = observer.progress(&stream.progress()).is_break();
            if paused && self.intake.replay.due() > 0 {
                return StopReason::Paused;
            }
        }
    }

    /// Adds what training the current batch gave.
    fn count(&self, trained: Trained, stream: &mut Stream) {
        stream.totals.pairs += trained.pairs;
        stream.totals.loss += trained.loss;
        stream.totals.replayed += self.current.replayed;
    }

    /// How often new text is trained again from now on.
    pub fn set_replays(&mut self, settings: &Settings) {
        self.intake.set_replays(settings);
    }

    pub fn set_threads(&mut self, settings: &Settings) {
        self.grid.set_threads(settings);
    }

    pub fn batches(&self) -> u64 {
        self.intake.batches
    }

    pub fn replay(&self) -> &ReplayBuffer {
        &self.intake.replay
    }

    pub fn restore(&mut self, batches: u64, replay: ReplayBuffer) {
        self.intake.batches = batches;
        self.intake.replay = replay;
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use crate::corpus::{Lines, Read, Sentence, Source};
    use crate::{Config, Error, MiniBatchOptions, Progress, Result, StopReason, Strategy, Trainer};

    fn learn(trainer: &mut Trainer, text: &str) {
        let options = trainer.settings().text().clone();
        trainer.train_source(&mut Lines::new(text.as_bytes(), "text", &options).unwrap()).unwrap();
    }

    fn config(replays: u32) -> Config {
        let strategy = Strategy::MiniBatch(MiniBatchOptions { replays, ..Default::default() });
        Config { dimensions: 4, subsample: 0.0, strategy, ..Config::default() }
    }

    #[test]
    fn replays_change_between_texts_and_never_for_text_that_waits() {
        let mut trainer = Trainer::new(config(2)).unwrap();
        learn(&mut trainer, "one two three\n");
        let message = trainer.set_replays(4).unwrap_err().to_string();
        assert!(message.contains("from 2 to 4"), "{message}");
        trainer.set_replays(2).unwrap();
        trainer.finish();
        assert_eq!(trainer.progress().totals.replayed, 2 * 3);
        trainer.set_replays(4).unwrap();
        learn(&mut trainer, "four five\n");
        trainer.finish();
        assert_eq!(trainer.progress().totals.replayed, 2 * 3 + 4 * 2);
        trainer.set_replays(0).unwrap();
        learn(&mut trainer, "six\n");
        trainer.finish();
        assert_eq!(trainer.progress().totals.replayed, 2 * 3 + 4 * 2);
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
                return Err(Error::Unsupported("broken".to_owned()));
            }
            Lines::new(&b"one two"[..], "text", &Default::default())?.read(sentence)
        }
    }

    #[test]
    fn an_error_behind_the_batch_of_a_rest_is_not_kept_for_another_source() {
        let mut trainer = Trainer::new(Config { dimensions: 4, ..Config::default() }).unwrap();
        let mut pause = |_: &Progress| ControlFlow::Break(());
        let error = trainer.train_observed(&mut Broken(false), &mut pause).unwrap_err().to_string();
        assert_eq!((error.as_str(), trainer.progress().tokens), ("broken", 2));
        let mut other = Lines::new(&b"three four five"[..], "text", &Default::default()).unwrap();
        assert_eq!(trainer.train_source(&mut other).unwrap(), StopReason::EndOfText);
        assert_eq!(trainer.progress().tokens, 5);
    }
}
