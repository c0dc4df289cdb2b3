//! Messages of NATS JetStream (`nats.rs`) and Kafka (`kafka.rs`), into the log.
//!
//! The broker stores nothing about us: no consumer group, no acknowledgement. The position is in the log, in the same
//! transaction as the lines, so each message is logged exactly once, whatever is killed. After any doubt (a lost connection,
//! a gap in the numbers) everything that is not in the log is dropped and read again.
//!
//! Nothing is fetched while lines wait for space in the queue. A broker that cannot be reached is retried, less and less
//! often. Messages that the broker deleted before they were read stop the source, unless the URL says `lost=continue`.

mod kafka;
mod messages;
mod nats;

use std::cell::Cell;
use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::time::{Instant, timeout};

use super::{append, pause};
use crate::broker::url::{OnLoss, Protocol, SourceUrl};
use crate::broker::{CONNECT_TIMEOUT, FIRST_PAUSE, LONGEST_PAUSE};
use crate::error::{Error, Result};
use crate::log::{Chunk, SourcePosition};
use crate::service::Service;
use crate::source_status::{SourceState, SourceStatus};
use messages::Message;

/// How often an invalid message is logged, if there are many.
const WARN_EVERY: Duration = Duration::from_secs(10);

/// Approximate bytes of messages that are logged together.
const BATCH_BYTES: usize = Chunk::BYTES;

/// A connection to a broker, and how far it was read.
trait Feed: Sized {
    type Position: Serialize + DeserializeOwned + Clone + PartialEq;

    /// Connects, and starts at a position, or where the URL says.
    async fn open(
        source: &SourceUrl,
        position: Option<Self::Position>,
    ) -> Result<Self, Failure<Self::Position>>;

    /// The next messages; none if only the position has changed. Not cancel safe: a feed that was cancelled is dropped.
    async fn next(&mut self) -> Result<Batch, Failure<Self::Position>>;

    /// The position after the messages so far.
    fn position(&self) -> &Self::Position;
}

#[derive(Debug, Default)]
struct Batch {
    messages: Vec<Message>,
    /// Messages that the broker has after these.
    lag: Option<u64>,
}

/// Why reading has ended.
#[derive(Debug)]
enum Failure<P> {
    /// The broker cannot be read now.
    Away(String),
    /// Something has changed, such as the number of partitions: connect again.
    Reopen,
    /// The broker has deleted messages that were not read.
    Lost { n: u64, what: String, next: P },
    /// The stream is not the one that was read.
    Changed(String),
    /// The service stops.
    Stopping,
}

impl<P> Failure<P> {
    fn away(error: impl std::fmt::Display) -> Failure<P> {
        Failure::Away(error.to_string())
    }
}

/// Checks that URLs are valid and that no two of them have the same position.
pub fn check(urls: &[String]) -> Result<()> {
    let mut names = HashSet::new();
    for url in urls {
        let source = SourceUrl::parse(url)?;
        if !names.insert(source.position_name()) {
            let remedy = "if these are different streams, give one of them a `name=`";
            return Err(Error::Setting(format!("two --source read {source}; {remedy}")));
        }
    }
    Ok(())
}

/// Starts a thread that reads a broker until the service stops.
pub fn start(service: &Arc<Service>, url: &str, number: usize) -> Result<JoinHandle<()>> {
    let reader = Reader::new(service.clone(), SourceUrl::parse(url)?);
    service.lifecycle.spawn_async(&format!("source-{number}"), move || async move {
        match reader.source.broker.protocol {
            Protocol::Nats => reader.run::<nats::Nats>().await,
            Protocol::Kafka => reader.run::<kafka::Kafka>().await,
        }
    })
}

/// Logs the messages of a broker, each chunk with the position after it.
struct Reader {
    service: Arc<Service>,
    source: SourceUrl,
    /// Its number in the list of sources.
    status: usize,
    /// When an invalid message was last logged.
    warned: Cell<Option<Instant>>,
}

impl Reader {
    fn new(service: Arc<Service>, source: SourceUrl) -> Reader {
        let status = service.sources.add(source.to_string());
        Reader { service, source, status, warned: Cell::default() }
    }

    async fn run<F: Feed>(self) {
        let mut wait = FIRST_PAUSE;
        while !self.service.is_stopping() {
            let start = Instant::now();
            let ended = tokio::select! {
                biased;
                () = self.service.lifecycle.stopping() => return,
                ended = self.read::<F>() => ended,
            };
            let Err(failure) = ended;
            if start.elapsed() >= LONGEST_PAUSE {
                wait = FIRST_PAUSE;
            }
            match failure {
                Failure::Stopping => return,
                Failure::Reopen => {}
                Failure::Lost { n, what, next } if self.source.on_loss == OnLoss::Continue => {
                    tracing::warn!(source = %self.source, messages = n, "{what}: going on after them, as `lost=continue` says");
                    self.update(|status| status.lost += n);
                    // If that fails, they are found to be lost again.
                    let _ = self.log(&Chunk::default(), &next).await;
                }
                Failure::Lost { n, what, .. } => {
                    self.update(|status| status.lost += n);
                    let remedy = "restart with `lost=continue` in the URL to go on without them";
                    return self.stop(format!("{what}; {remedy}")).await;
                }
                Failure::Changed(what) => {
                    let remedy = "to read it from its start, restart with `name=` and a new name in the URL";
                    return self.stop(format!("{what}; {remedy}")).await;
                }
                Failure::Away(problem) => {
                    self.report(SourceState::Waiting, problem);
                    pause(&self.service, wait).await;
                    wait = (2 * wait).min(LONGEST_PAUSE);
                }
            }
        }
    }

    /// Reads from the position in the log until something goes wrong.
    async fn read<F: Feed>(&self) -> Result<Infallible, Failure<F::Position>> {
        let saved = self.service.log.source(&self.source.position_name()).map_err(Failure::away)?;
        let position = saved
            .as_deref()
            .map(serde_json::from_str)
            .transpose()
            .map_err(|error| Failure::Changed(format!("the saved read position is corrupt: {error}")))?;
        let opened = timeout(CONNECT_TIMEOUT, F::open(&self.source, position)).await;
        let mut feed = opened.map_err(|_| Failure::Away("the broker does not answer".to_owned()))??;
        if saved.is_none() {
            // Where the end was when we first looked.
            self.log(&Chunk::default(), feed.position()).await?;
        }
        self.update(|status| {
            (status.state, status.problem) = (SourceState::Reading, None);
        });
        tracing::info!(source = %self.source, "reading messages");
        loop {
            let before = feed.position().clone();
            let Batch { messages, lag } = feed.next().await?;
            let (chunk, invalid) = self.decode(&messages);
            if *feed.position() != before {
                self.log(&chunk, feed.position()).await?;
            }
            self.update(|status| {
                status.messages += messages.len() as u64 - invalid;
                status.invalid += invalid;
                status.lag = lag;
            });
        }
    }

    /// The lines of messages, and how many messages were invalid. A producer gets no answer, so these are skipped.
    fn decode(&self, messages: &[Message]) -> (Chunk, u64) {
        let (mut chunk, mut invalid) = (Chunk::default(), 0);
        let Service { settings, model, .. } = &*self.service;
        for message in messages {
            let added =
                message.add_to(&mut chunk, self.source.fields.as_ref(), model.text.invalid_utf8, settings);
            if let Err(problem) = added {
                if self.warned.get().is_none_or(|warned| warned.elapsed() >= WARN_EVERY) {
                    self.warned.set(Some(Instant::now()));
                    let place = message.place();
                    tracing::warn!(source = %self.source, place, %problem, "skipping an invalid message");
                }
                invalid += 1;
            }
        }
        (chunk, invalid)
    }

    async fn log<P: Serialize>(&self, chunk: &Chunk, position: &P) -> Result<(), Failure<P>> {
        let position = serde_json::to_string(position).map_err(Failure::away)?;
        let position = SourcePosition { name: self.source.position_name(), position };
        append(&self.service, chunk, Some(&position)).await.map_err(|error| match error {
            Error::Stopping => Failure::Stopping,
            error => Failure::away(error),
        })
    }

    /// Shows a problem, and reports it if it is new.
    fn report(&self, state: SourceState, problem: String) {
        let mut is_new = false;
        self.update(|status| {
            is_new = status.state != state || status.problem.as_ref() != Some(&problem);
            (status.state, status.problem) = (state, Some(problem.clone()));
        });
        if is_new {
            let source = self.source.to_string();
            tracing::warn!(source, problem, "a source is {}", state.name());
            self.service.events.send("problem", &json!({ "message": format!("{source}: {problem}") }));
        }
    }

    /// Reads no more until the service stops.
    async fn stop(&self, problem: String) {
        self.report(SourceState::Stopped, problem);
        self.service.lifecycle.stopping().await;
    }

    fn update(&self, change: impl FnOnce(&mut SourceStatus)) {
        self.service.sources.update(self.status, change);
    }
}

#[cfg(test)]
mod tests;
