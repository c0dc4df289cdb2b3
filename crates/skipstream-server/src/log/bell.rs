//! Wakes threads that wait for something to do.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A bell that counts how often it was rung, so that who was busy meanwhile does not miss it.
#[derive(Debug, Default)]
pub struct Bell {
    rings: Mutex<u64>,
    rung: Condvar,
}

impl Bell {
    /// Wakes whoever waits.
    pub fn ring(&self) {
        *self.lock() += 1;
        self.rung.notify_all();
    }

    /// How often it was rung: to be asked *before* looking whether there is something to do.
    pub fn rings(&self) -> u64 {
        *self.lock()
    }

    /// Waits until it was rung more often than `heard`, or until the time is over.
    pub fn wait(&self, heard: u64, time: Duration) {
        let waited = self.rung.wait_timeout_while(self.lock(), time, |rings| *rings == heard);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        self.rings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
