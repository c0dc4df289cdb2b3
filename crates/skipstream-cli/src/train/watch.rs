//! Follows the training: tells how it goes, and says when to rest.

use skipstream::{Observer, Progress, Wish};

use super::every::Due;
use super::log::{Event, Log};
use super::meter::Meter;
use super::stop::Stop;

/// The observer of a training.
pub struct Watch {
    stop: Stop,
    log: Log,
    meter: Option<Meter>,
    checkpoint: Option<Due>,
}

impl Watch {
    /// Wishes a rest when it is asked to stop, and where a checkpoint is due.
    pub fn new(stop: Stop, log: Log, meter: Option<Meter>, checkpoint: Option<Due>) -> Watch {
        Watch { stop, log, meter, checkpoint }
    }

    /// Tells that the model was saved just now, with so many words.
    pub fn saved(&mut self, words: u64) {
        if let Some(checkpoint) = &mut self.checkpoint {
            checkpoint.done(words);
        }
        self.log.tell(&Event::Checkpoint { words_in_all: words });
    }
}

impl Observer for Watch {
    fn progress(&mut self, progress: &Progress) -> Wish {
        if let Some(figures) = self.meter.as_mut().and_then(|meter| meter.read(progress)) {
            self.log.tell(&Event::Progress(&figures));
        }
        let due = self.checkpoint.is_some_and(|checkpoint| checkpoint.is_due(progress.tokens));
        if due || self.stop.is_asked() { Wish::Rest } else { Wish::GoOn }
    }
}
