//! Requests to the learner.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::error::{Error, Result};
use crate::published::Seq;
use crate::status::Checkpoint;

/// Requests to the learner, which checks them between two batches.
#[derive(Debug, Default)]
pub struct LearnerRequests {
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    /// How many clients wait for each line.
    awaited: BTreeMap<Seq, usize>,
    /// Clients that wait for a checkpoint.
    checkpoints: Vec<oneshot::Sender<Result<Checkpoint>>>,
    /// The learner has stopped.
    is_closed: bool,
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

    pub(crate) fn request_checkpoint(&self) -> Result<oneshot::Receiver<Result<Checkpoint>>> {
        let (answer, answered) = oneshot::channel();
        let mut open = self.lock();
        if open.is_closed {
            return Err(Error::Stopping);
        }
        open.checkpoints.push(answer);
        Ok(answered)
    }

    pub(crate) fn is_checkpoint_requested(&self) -> bool {
        !self.lock().checkpoints.is_empty()
    }

    /// Takes all checkpoint requests, to answer them.
    pub(crate) fn take_checkpoints(&self) -> Vec<oneshot::Sender<Result<Checkpoint>>> {
        std::mem::take(&mut self.lock().checkpoints)
    }

    /// Fails all current and future checkpoint requests: the learner has stopped.
    pub(crate) fn close(&self) {
        let mut open = self.lock();
        open.is_closed = true;
        open.checkpoints.clear();
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
    fn checkpoint_requests_fail_when_the_service_stops() {
        let requests = LearnerRequests::default();
        let mut answered = requests.request_checkpoint().unwrap();
        assert!(requests.is_checkpoint_requested());
        requests.close();
        assert!(answered.try_recv().is_err());
        assert!(matches!(requests.request_checkpoint(), Err(Error::Stopping)));
    }
}
