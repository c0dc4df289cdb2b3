//! Followed files, the output of commands and the messages of brokers, into the log.
//!
//! `follow.rs` logs what the engine's [`Tail`](skipstream::corpus::Tail) reads. The position is written to the log together
//! with the lines, in one transaction, so a crash neither loses a line nor logs one twice. The output of a command
//! (`exec.rs`) cannot be read again: what was read but not yet logged is lost in a crash. `lines.rs` splits bytes into
//! chunks of lines for both. `broker/` reads NATS and Kafka, and commits its position like that of a file.
//!
//! Sources wait while the queue or the disk is full.

#[cfg(feature = "brokers")]
mod broker;
mod exec;
mod follow;
mod lines;

#[cfg(feature = "brokers")]
pub use broker::Messages;

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::log::{Chunk, SourcePosition};
use crate::service::Service;
use crate::settings::ServeSettings;

/// How long a source without new text waits before it looks again.
const PAUSE: Duration = Duration::from_millis(100);

/// How long a source waits after an error before it tries again.
const LONG_PAUSE: Duration = Duration::from_secs(1);

/// Checks the URLs of brokers before anything is opened.
pub fn check(settings: &ServeSettings) -> Result<()> {
    #[cfg(feature = "brokers")]
    return broker::check(&settings.source);
    #[cfg(not(feature = "brokers"))]
    if settings.source.is_empty() {
        Ok(())
    } else {
        let reason = "--source needs a program that was built with the cargo feature `brokers`";
        Err(Error::Setting(reason.to_owned()))
    }
}

/// Starts a thread for each file, command and broker of the settings. They end when the service stops. A file or broker that
/// cannot be read now is retried.
pub fn start(service: &Arc<Service>) -> Result<Vec<JoinHandle<()>>> {
    let lifecycle = &service.lifecycle;
    let files = service.settings.follow.iter().zip(1..).map(|(path, number)| {
        let follower = follow::Follower::new(service.clone(), path)?;
        lifecycle.spawn_async(&format!("follow-{number}"), || follower.run())
    });
    let commands = service.settings.exec.iter().zip(1..).map(|(command, number)| {
        let (service, command) = (service.clone(), command.clone());
        let run = || async move { exec::run(&service, &command).await };
        lifecycle.spawn_async(&format!("exec-{number}"), run)
    });
    let threads = files.chain(commands);
    #[cfg(feature = "brokers")]
    let threads = {
        let brokers = service.settings.source.iter().zip(1..);
        threads.chain(brokers.map(|(url, number)| broker::start(service, url, number)))
    };
    threads.collect()
}

/// Logs lines. Waits as long as it takes until they can be stored and learned, unless the service stops.
async fn append(service: &Service, chunk: &Chunk, position: Option<&SourcePosition>) -> Result<()> {
    service.prose.examine(&chunk.text);
    let mut has_warned = false;
    loop {
        if service.is_stopping() {
            return Err(Error::Stopping);
        }
        let appended = match service.lifecycle.check_learning() {
            Ok(()) => service.log.append_from(chunk.clone(), position.cloned()).await,
            Err(error) => Err(error),
        };
        match appended {
            Err(Error::QueueFull { .. }) => pause(service, PAUSE).await,
            Err(Error::Stopping) => return Err(Error::Stopping),
            Err(error) => {
                if !has_warned {
                    tracing::warn!(%error, "a source waits until lines can be logged");
                    has_warned = true;
                }
                pause(service, LONG_PAUSE).await;
            }
            Ok(()) => return Ok(()),
        }
    }
}

/// Waits, unless the service stops.
async fn pause(service: &Service, time: Duration) {
    let _ = tokio::time::timeout(time, service.lifecycle.stopping()).await;
}

#[cfg(test)]
mod tests;
