//! Files that grow and commands → the log.
//!
//! A file is followed as `tail -F` does it (`follow.rs`): across rotation and truncation, and from before it is there. How
//! far it was read is written into the log together with its lines, in one transaction, so that a crash neither loses a line
//! nor logs one twice. A command's output (`exec.rs`) cannot be asked for again: what it printed while nobody listened is
//! gone, and what was read and not yet logged is gone with a crash. `lines.rs` cuts bytes into chunks of lines for both.
//!
//! Where the queue or the disk is full, sources wait.

mod exec;
mod follow;
mod lines;
mod place;

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::log::{Chunk, SourcePosition};
use crate::service::Service;

/// A source that has nothing to give looks again so much later.
const PAUSE: Duration = Duration::from_millis(100);

/// Where something is wrong, it is tried again so much later.
const LONG_PAUSE: Duration = Duration::from_secs(1);

/// The threads that read sources.
#[derive(Debug)]
pub struct Sources {
    threads: Vec<JoinHandle<()>>,
}

impl Sources {
    /// Begins to read the files and commands of the settings. What cannot be read now is waited for.
    pub fn start(service: &Arc<Service>) -> Result<Sources> {
        let mut sources = Sources { threads: Vec::new() };
        for path in &service.settings.follow {
            let follower = follow::Follower::new(service.clone(), path)?;
            sources.spawn(service, move || follower.run())?;
        }
        for command in &service.settings.exec {
            let (of_thread, command) = (service.clone(), command.clone());
            sources.spawn(service, move || exec::run(&of_thread, &command))?;
        }
        Ok(sources)
    }

    /// Waits for their end, after [`Service::stop`].
    pub fn join(self) {
        for thread in self.threads {
            if thread.join().is_err() {
                tracing::error!("the thread of a source has panicked");
            }
        }
    }

    fn spawn(&mut self, service: &Service, run: impl FnOnce() + Send + 'static) -> Result<()> {
        let thread = thread::Builder::new().name("source".to_owned()).spawn(run);
        let thread = thread.map_err(|error| Error::Data {
            path: service.settings.data.clone(),
            reason: format!("no thread for a source: {error}"),
        })?;
        self.threads.push(thread);
        Ok(())
    }
}

/// Logs lines, and waits for room as long as it takes. Only the end of the service ends it otherwise.
fn append(service: &Service, chunk: &Chunk, position: Option<&SourcePosition>) -> Result<()> {
    let mut is_told = false;
    loop {
        if service.is_stopping() {
            return Err(Error::Stopping);
        }
        match service.log.append_from(chunk.clone(), position.cloned()) {
            Err(Error::QueueFull { .. }) => pause(service, PAUSE),
            Err(Error::Stopping) => return Err(Error::Stopping),
            Err(error) => {
                if !is_told {
                    tracing::warn!(%error, "a source waits");
                    is_told = true;
                }
                pause(service, LONG_PAUSE);
            }
            Ok(()) => return Ok(()),
        }
    }
}

/// Waits, unless the service stops. (To be woken for every line of others would cost more than to look.)
fn pause(service: &Service, time: Duration) {
    let until = Instant::now() + time;
    while !service.is_stopping() && Instant::now() < until {
        thread::sleep(PAUSE.min(until.saturating_duration_since(Instant::now())));
    }
}

#[cfg(test)]
mod tests;
