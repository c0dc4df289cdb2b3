//! Controls of words, in their order among the lines.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use skipstream::vocabulary::{Control, Controlled};
use tokio::sync::oneshot;

use crate::error::Result;
use crate::published::Seq;

/// The number of an entry of controls, from 1, in the order of the log.
pub type ControlId = u64;

/// Answers the client that sent controls, once they are in effect.
pub type ControlAnswer = oneshot::Sender<Result<Vec<Controlled>>>;

/// Controls that wait until the lines before them are learned.
#[derive(Debug)]
pub struct LoggedControls {
    pub id: ControlId,
    /// They act after this line, and before the next.
    pub after: Seq,
    pub controls: Vec<Control>,
    /// Nobody waits for controls that were logged before the service started.
    pub answer: Option<ControlAnswer>,
}

impl LoggedControls {
    /// Whether a word must vanish from every file. An entry without controls is what is left of one that forgot a word, until
    /// the log was rewritten.
    pub fn forgets(&self) -> bool {
        self.controls.is_empty()
            || self.controls.iter().any(|control| matches!(control, Control::Forget { .. }))
    }
}

/// The controls that wait, the oldest first.
///
/// The writer adds controls before it announces the lines after them. So a reader that knows of a line also knows of all
/// controls before it.
#[derive(Debug, Default)]
pub(super) struct WaitingControls(Mutex<VecDeque<LoggedControls>>);

impl WaitingControls {
    pub fn new(waiting: Vec<LoggedControls>) -> WaitingControls {
        WaitingControls(Mutex::new(waiting.into()))
    }

    pub fn push(&self, controls: LoggedControls) {
        self.lock().push_back(controls);
    }

    /// The line after which the next controls act.
    pub fn next_after(&self) -> Option<Seq> {
        self.lock().front().map(|controls| controls.after)
    }

    /// The next controls, if they act after a line up to this one.
    pub fn take(&self, through: Seq) -> Option<LoggedControls> {
        let mut waiting = self.lock();
        if waiting.front()?.after > through { None } else { waiting.pop_front() }
    }

    /// Puts controls back that could not be carried out now.
    pub fn put_back(&self, controls: LoggedControls) {
        self.lock().push_front(controls);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<LoggedControls>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
