//! A fair queue for the use of a trainer.

use std::collections::VecDeque;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::ending;

/// How often a waiting thread checks for Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(50);

/// A queue of threads, first come, first served.
///
/// A plain mutex would not do: the training thread releases it at each pause and would usually be the first to get it
/// back. Threads wait here without the GIL and notice Ctrl-C, and a thread that already has a turn gets an error instead
/// of a deadlock.
#[derive(Debug)]
pub struct Turns {
    /// The process of these threads.
    process: AtomicU32,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    holder: Option<ThreadId>,
    waiting: VecDeque<u64>,
    next_ticket: u64,
}

/// A turn, until it is dropped.
#[derive(Debug)]
pub struct Turn<'a>(&'a Turns);

impl Default for Turns {
    fn default() -> Turns {
        Turns { process: process::id().into(), state: Mutex::default(), changed: Condvar::new() }
    }
}

impl Turns {
    /// Waits for a turn. `busy` is the error if this thread already has one.
    pub fn wait(&self, py: Python<'_>, busy: &'static str) -> PyResult<Turn<'_>> {
        self.wait_and(py, busy, || py.check_signals())
    }

    /// Waits for a turn without handling signals, to finish what was started.
    pub fn wait_anyway(&self, py: Python<'_>, busy: &'static str) -> PyResult<Turn<'_>> {
        self.wait_and(py, busy, || Ok(()))
    }

    /// Waits for a turn, and calls `listen` now and then.
    fn wait_and(
        &self,
        py: Python<'_>,
        busy: &'static str,
        listen: impl Fn() -> PyResult<()>,
    ) -> PyResult<Turn<'_>> {
        let ticket = match self.take_or_queue(busy)? {
            Ok(turn) => return Ok(turn),
            Err(ticket) => ticket,
        };
        loop {
            if let Some(turn) = py.detach(|| self.wait_for(ticket)) {
                return Ok(turn);
            }
            // A signal handler may ask for a turn in this same thread: it must not queue after the one it interrupts.
            self.leave_queue(ticket);
            ending::check()?;
            listen()?;
            self.return_to_queue(ticket);
        }
    }

    /// Whether a thread is waiting.
    pub fn is_wanted(&self) -> bool {
        !self.state().waiting.is_empty()
    }

    /// A turn, or a ticket in the queue.
    fn take_or_queue(&self, busy: &'static str) -> PyResult<Result<Turn<'_>, u64>> {
        self.take_over()?;
        let this_thread = thread::current().id();
        let mut state = self.state();
        if state.holder == Some(this_thread) {
            return Err(PyRuntimeError::new_err(busy));
        }
        if state.holder.is_none() && state.waiting.is_empty() {
            state.holder = Some(this_thread);
            return Ok(Ok(Turn(self)));
        }
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        state.waiting.push_back(ticket);
        Ok(Err(ticket))
    }

    /// Takes over after a fork, which copies the trainer's memory but not the other threads. A thread that had a turn left
    /// the trainer in the middle of its work, and its turn would never end.
    fn take_over(&self) -> PyResult<()> {
        let here = process::id();
        if self.process.load(Ordering::Acquire) == here {
            return Ok(());
        }
        // A lost thread may have held the lock.
        let Ok(mut state) = self.state.try_lock() else { return Err(forked()) };
        if self.process.load(Ordering::Acquire) != here {
            if state.holder.is_some() {
                return Err(forked());
            }
            state.waiting.clear();
            self.process.store(here, Ordering::Release);
        }
        Ok(())
    }

    fn leave_queue(&self, ticket: u64) {
        self.state().waiting.retain(|&other| other != ticket);
        self.changed.notify_all();
    }

    /// Takes the old place in the queue again.
    fn return_to_queue(&self, ticket: u64) {
        let mut state = self.state();
        let place = state.waiting.partition_point(|&other| other < ticket);
        state.waiting.insert(place, ticket);
    }

    fn wait_for(&self, ticket: u64) -> Option<Turn<'_>> {
        let may_not = |state: &mut State| state.holder.is_some() || state.waiting.front() != Some(&ticket);
        let waited = self.changed.wait_timeout_while(self.state(), PATIENCE, may_not);
        let (mut state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        if timeout.timed_out() {
            return None;
        }
        state.waiting.pop_front();
        state.holder = Some(thread::current().id());
        Some(Turn(self))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn forked() -> PyErr {
    PyRuntimeError::new_err(
        "this process was forked while the trainer was in use, so it cannot be used here; save it and load it in the \
         new process, or use multiprocessing's start method \"spawn\"",
    )
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.state().holder = None;
        self.0.changed.notify_all();
    }
}
