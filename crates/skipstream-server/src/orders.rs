//! What others want of the thread that learns.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::error::{Error, Result};
use crate::published::Seq;
use crate::status::Checkpoint;

/// What others want of the thread that learns. It looks here between two batches.
#[derive(Debug, Default)]
pub struct Orders {
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    /// How many wait for each line.
    awaited: BTreeMap<Seq, usize>,
    /// Who waits for a checkpoint.
    checkpoints: Vec<oneshot::Sender<Result<Checkpoint>>>,
    /// Nobody learns any more.
    is_closed: bool,
}

impl Orders {
    /// Waits for a line, until the result is dropped.
    pub(crate) fn await_line(&self, seq: Seq) -> Awaiting<'_> {
        *self.lock().awaited.entry(seq).or_default() += 1;
        Awaiting { orders: self, seq }
    }

    /// Whether somebody waits for one of these lines.
    pub(crate) fn is_awaited(&self, behind: Seq, through: Seq) -> bool {
        behind < through && self.lock().awaited.range(behind + 1..=through).next().is_some()
    }

    /// Asks for a checkpoint.
    pub(crate) fn order_checkpoint(&self) -> Result<oneshot::Receiver<Result<Checkpoint>>> {
        let (answer, answered) = oneshot::channel();
        let mut open = self.lock();
        if open.is_closed {
            return Err(Error::Stopping);
        }
        open.checkpoints.push(answer);
        Ok(answered)
    }

    /// Whether somebody waits for a checkpoint.
    pub(crate) fn is_checkpoint_ordered(&self) -> bool {
        !self.lock().checkpoints.is_empty()
    }

    /// Those who wait for a checkpoint, to be answered.
    pub(crate) fn take_checkpoints(&self) -> Vec<oneshot::Sender<Result<Checkpoint>>> {
        std::mem::take(&mut self.lock().checkpoints)
    }

    /// Nobody learns any more: who waits for a checkpoint, or will, hears so.
    pub(crate) fn close(&self) {
        let mut open = self.lock();
        open.is_closed = true;
        open.checkpoints.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody waits for a line.
#[derive(Debug)]
pub(crate) struct Awaiting<'a> {
    orders: &'a Orders,
    seq: Seq,
}

impl Drop for Awaiting<'_> {
    fn drop(&mut self) {
        let mut open = self.orders.lock();
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
    fn a_line_is_awaited_as_long_as_somebody_waits() {
        let orders = Orders::default();
        let (one, other) = (orders.await_line(5), orders.await_line(5));
        assert!(orders.is_awaited(4, 5) && orders.is_awaited(0, 9));
        assert!(!orders.is_awaited(5, 9) && !orders.is_awaited(0, 4) && !orders.is_awaited(7, 3));
        drop(one);
        assert!(orders.is_awaited(4, 5));
        drop(other);
        assert!(!orders.is_awaited(4, 5));
    }

    #[test]
    fn who_orders_a_checkpoint_of_a_service_that_stops_is_told() {
        let orders = Orders::default();
        let mut answered = orders.order_checkpoint().unwrap();
        assert!(orders.is_checkpoint_ordered());
        orders.close();
        assert!(answered.try_recv().is_err());
        assert!(matches!(orders.order_checkpoint(), Err(Error::Stopping)));
    }
}
