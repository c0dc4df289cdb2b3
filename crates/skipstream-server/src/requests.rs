//! Requests to the learner.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::change::{SnapshotInfo, SnapshotName};
use crate::error::{Error, Result};
use crate::published::Seq;
use crate::status::{Checkpoint, RolledBack};

/// Requests to the learner, which checks them between two batches.
#[derive(Debug, Default)]
pub struct LearnerRequests {
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    /// How many clients wait for each line.
    awaited: BTreeMap<Seq, usize>,
    /// What clients wait for, in the order in which they came.
    requests: Vec<LearnerRequest>,
    /// The learner has stopped.
    is_closed: bool,
}

/// A request to the learner, with the client that waits for the answer.
#[derive(Debug)]
pub(crate) enum LearnerRequest {
    /// Save the model.
    Checkpoint { answer: oneshot::Sender<Result<Checkpoint>> },
    /// Save a snapshot that the service can return to, once all lines up to this one are learned.
    Keep { name: SnapshotName, through: Seq, answer: oneshot::Sender<Result<SnapshotInfo>> },
    /// Return to the state of a snapshot.
    RollBack { name: SnapshotName, answer: oneshot::Sender<Result<RolledBack>> },
}

impl LearnerRequests {
    /// Waits for a line until the result is dropped.
    pub(crate) fn wait_for_line(&self, seq: Seq) -> LineWait<'_> {
        *self.lock().awaited.entry(seq).or_default() += 1;
        LineWait { requests: self, seq }
    }

    /// Whether a client waits for a line after one and up to another.
    pub(crate) fn is_awaited(&self, after: Seq, through: Seq) -> bool {
        after < through && self.lock().awaited.range(after + 1..=through).next().is_some()
    }

    /// Hands a request to the learner, unless it has stopped. The answer fails if it stops before it has answered.
    pub(crate) fn send<T>(
        &self,
        request: impl FnOnce(oneshot::Sender<Result<T>>) -> LearnerRequest,
    ) -> Result<oneshot::Receiver<Result<T>>> {
        let (answer, answered) = oneshot::channel();
        let mut open = self.lock();
        if open.is_closed {
            return Err(Error::Stopping);
        }
        open.requests.push(request(answer));
        Ok(answered)
    }

    pub(crate) fn is_any(&self) -> bool {
        !self.lock().requests.is_empty()
    }

    /// Puts a request back that cannot be answered yet.
    pub(crate) fn put_back(&self, request: LearnerRequest) {
        let mut open = self.lock();
        if !open.is_closed {
            open.requests.push(request);
        }
    }

    /// Takes all requests, to answer them.
    pub(crate) fn take(&self) -> Vec<LearnerRequest> {
        std::mem::take(&mut self.lock().requests)
    }

    /// Fails all current and future requests: the learner has stopped.
    pub(crate) fn close(&self) {
        let mut open = self.lock();
        open.is_closed = true;
        open.requests.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A client that waits for a line.
#[derive(Debug)]
pub(crate) struct LineWait<'a> {
    requests: &'a LearnerRequests,
    seq: Seq,
}

impl Drop for LineWait<'_> {
    fn drop(&mut self) {
        let mut open = self.requests.lock();
        if let Some(waiting) = open.awaited.get_mut(&self.seq) {
            *waiting -= 1;
            if *waiting == 0 {
                open.awaited.remove(&self.seq);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_awaited_while_a_client_waits() {
        let requests = LearnerRequests::default();
        let (one, other) = (requests.wait_for_line(5), requests.wait_for_line(5));
        assert!(requests.is_awaited(4, 5) && requests.is_awaited(0, 9));
        assert!(!requests.is_awaited(5, 9) && !requests.is_awaited(0, 4) && !requests.is_awaited(7, 3));
        drop(one);
        assert!(requests.is_awaited(4, 5));
        drop(other);
        assert!(!requests.is_awaited(4, 5));
    }

    #[test]
    fn requests_fail_when_the_learner_stops() {
        let requests = LearnerRequests::default();
        let checkpoint = || requests.send(|answer| LearnerRequest::Checkpoint { answer });
        let mut answered = checkpoint().unwrap();
        assert!(requests.is_any());
        requests.close();
        assert!(answered.try_recv().is_err());
        assert!(matches!(checkpoint(), Err(Error::Stopping)));
    }
}
