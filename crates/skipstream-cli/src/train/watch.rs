//! The observer: logs progress and asks training to pause.

use std::ops::ControlFlow;
use std::time::Instant;

use skipstream::{Observer, Progress};

use super::every::Due;
use super::log::{Event, Log};
use super::meter::Meter;
use super::stop::Stop;

/// Asks training to pause on a signal or when a task is due.
pub struct Watch {
    pub stop: Stop,
    pub log: Log,
    pub meter: Option<Meter>,
    pub due: Vec<(Chore, Due)>,
}

/// A task to run while training is paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chore {
    /// Save the model.
    Checkpoint,
    /// Score the model.
    Evaluation,
    /// Look once at what kind of text it is.
    Hint,
}

impl Watch {
    /// The tasks that are due; restarts their intervals.
    pub fn take_due(&mut self, words: u64) -> Vec<Chore> {
        let due = self.due.iter_mut().filter(|(_, due)| due.is_due(words));
        due.map(|(chore, due)| {
            due.restart(words);
            *chore
        })
        .collect()
    }
}

impl Observer for Watch {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        if let Some(figures) = self.meter.as_mut().and_then(|meter| meter.read(progress, Instant::now())) {
            self.log.tell(&Event::Progress(&figures));
        }
        let due = self.due.iter().any(|(_, due)| due.is_due(progress.tokens));
        if due || self.stop.is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
