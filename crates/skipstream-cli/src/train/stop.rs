//! Ctrl-C and SIGTERM.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::log::{Event, Log};
use crate::Ending;

/// How quickly a wait notices a signal.
const STEP: Duration = Duration::from_millis(50);

/// Whether a signal asked training to stop.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Installs the signal handler: the first signal requests a stop, the second exits at once.
    pub fn on_signals(log: Log) -> Result<Stop> {
        let stop = Stop::default();
        let asked = Arc::clone(&stop.0);
        ctrlc::set_handler(move || {
            if asked.swap(true, Ordering::SeqCst) {
                std::process::exit(Ending::Interrupted.code().into());
            }
            log.tell(&Event::Stopping);
        })
        .context("cannot install the Ctrl-C handler")?;
        Ok(stop)
    }

    /// Waits for the given time, or until a stop is requested; returns whether it was.
    pub fn is_asked_within(&self, time: Duration) -> bool {
        let began = Instant::now();
        while !self.is_asked() {
            let Some(left) = time.checked_sub(began.elapsed()) else { return false };
            thread::sleep(left.min(STEP));
        }
        true
    }

    /// Whether a stop was requested.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
