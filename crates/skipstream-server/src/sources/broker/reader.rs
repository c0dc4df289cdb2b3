//! The loop that reads a broker.
//!
//! After any doubt (a lost connection, a gap in the numbers) everything that is not stored is dropped and read again. Nothing is
//! fetched while messages wait to be stored. A broker that cannot be reached is retried, less and less often. Messages that the
//! broker deleted before they were read stop the source, unless the URL says `lost=continue`.

use std::cell::Cell;
use std::convert::Infallible;
use std::time::Duration;

use skipstream::corpus::InvalidUtf8;
use tokio::time::{Instant, timeout};

use super::messages::{Message, MessageId};
use super::{Batch, Failure, Feed};
use crate::broker::url::{OnLoss, SourceUrl};
use crate::broker::{CONNECT_TIMEOUT, FIRST_PAUSE, LONGEST_PAUSE};
use crate::error::{Error, Result};
use crate::log::Chunk;
use crate::settings::ServeSettings;
use crate::source_status::{SourceState, SourceStatus};

/// How often an invalid message is logged, if there are many.
const WARN_EVERY: Duration = Duration::from_secs(10);

/// Where messages go.
pub trait Destination {
    /// The position that was stored last.
    fn position(&self) -> Result<Option<String>>;

    /// Stores lines and the position after them, in one step. Waits for space.
    async fn store<F: Feed>(&self, read: ReadLines<F>) -> Result<()>;

    /// Waits until nothing more is wanted.
    async fn stopping(&self);

    /// Changes the state that is shown.
    fn update(&self, change: impl FnOnce(&mut SourceStatus));

    /// Reports a new problem.
    fn tell(&self, problem: &str);

    /// What makes a message invalid.
    fn limits(&self) -> (InvalidUtf8, &ServeSettings);
}

/// The lines of messages that were read together.
pub struct ReadLines<F: Feed> {
    pub chunk: Chunk,
    /// The messages, and how many lines the chunk has up to the end of each.
    pub messages: Vec<(MessageId, usize)>,
    /// The position before them and after them.
    pub before: F::Position,
    pub after: F::Position,
}

impl<F: Feed> ReadLines<F> {
    /// A position without messages.
    fn none(position: &F::Position) -> ReadLines<F> {
        let [before, after] = [(); 2].map(|()| position.clone());
        ReadLines { chunk: Chunk::default(), messages: Vec::new(), before, after }
    }
}

/// Reads the messages of a broker, and stores them with the position after them.
pub struct Reader<D> {
    destination: D,
    source: SourceUrl,
    /// When an invalid message was last logged.
    warned: Cell<Option<Instant>>,
}

impl<D: Destination> Reader<D> {
    pub fn new(destination: D, source: SourceUrl) -> Reader<D> {
        Reader { destination, source, warned: Cell::default() }
    }

    /// Reads until nothing more is wanted.
    pub async fn run<F: Feed>(self) {
        tokio::select! {
            biased;
            () = self.destination.stopping() => {}
            () = self.retry::<F>() => {}
        }
    }

    async fn retry<F: Feed>(&self) {
        let mut wait = FIRST_PAUSE;
        loop {
            let start = Instant::now();
            let Err(failure) = self.read::<F>().await;
            if start.elapsed() >= LONGEST_PAUSE {
                wait = FIRST_PAUSE;
            }
            match failure {
                Failure::Stopping => return,
                Failure::Reopen => {}
                Failure::Lost { n, what, next } if self.source.on_loss == OnLoss::Continue => {
                    tracing::warn!(source = %self.source, messages = n, "{what}: going on after them, as `lost=continue` says");
                    self.destination.update(|status| status.lost += n);
                    // If that fails, they are found to be lost again.
                    let _ = self.store::<F>(ReadLines::none(&next)).await;
                }
                Failure::Lost { n, what, .. } => {
                    self.destination.update(|status| status.lost += n);
                    let remedy = "restart with `lost=continue` in the URL to go on without them";
                    return self.stop(format!("{what}; {remedy}")).await;
                }
                Failure::Changed(what) => {
                    let remedy = "to read it from its start, restart with `name=` and a new name in the URL";
                    return self.stop(format!("{what}; {remedy}")).await;
                }
                Failure::Away(problem) => {
                    self.report(SourceState::Waiting, problem);
                    tokio::time::sleep(wait).await;
                    wait = (2 * wait).min(LONGEST_PAUSE);
                }
            }
        }
    }

    /// Reads from the stored position until something goes wrong.
    async fn read<F: Feed>(&self) -> Result<Infallible, Failure<F::Position>> {
        let saved = self.destination.position().map_err(Failure::away)?;
        let position = saved
            .as_deref()
            .map(serde_json::from_str)
            .transpose()
            .map_err(|error| Failure::Changed(format!("the saved read position is corrupt: {error}")))?;
        let opened = timeout(CONNECT_TIMEOUT, F::open(&self.source, position)).await;
        let mut feed = opened.map_err(|_| Failure::Away("the broker does not answer".to_owned()))??;
        if saved.is_none() {
            // Where the end was when we first looked.
            self.store::<F>(ReadLines::none(feed.position())).await?;
        }
        self.destination.update(|status| {
            (status.state, status.problem) = (SourceState::Reading, None);
        });
        tracing::info!(source = %self.source, "reading messages");
        loop {
            let before = feed.position().clone();
            let Batch { messages, lag } = feed.next().await?;
            let mut read = ReadLines::<F> { after: feed.position().clone(), ..ReadLines::none(&before) };
            let invalid = self.decode(&messages, &mut read);
            if read.after != before {
                self.store(read).await?;
            }
            self.destination.update(|status| {
                status.messages += messages.len() as u64 - invalid;
                status.invalid += invalid;
                status.lag = lag;
            });
        }
    }

    /// Adds the lines of messages. Returns how many messages were invalid: a producer gets no answer, so these are skipped.
    fn decode<F: Feed>(&self, messages: &[Message], read: &mut ReadLines<F>) -> u64 {
        let (invalid_utf8, settings) = self.destination.limits();
        let mut invalid = 0;
        for message in messages {
            let fields = self.source.fields.as_ref();
            let added = message.add_to(&mut read.chunk, fields, invalid_utf8, settings);
            read.messages.push((message.id, read.chunk.lines()));
            if let Err(problem) = added {
                if self.warned.get().is_none_or(|warned| warned.elapsed() >= WARN_EVERY) {
                    self.warned.set(Some(Instant::now()));
                    tracing::warn!(source = %self.source, place = %message.id, %problem, "skipping an invalid message");
                }
                invalid += 1;
            }
        }
        invalid
    }

    async fn store<F: Feed>(&self, read: ReadLines<F>) -> Result<(), Failure<F::Position>> {
        self.destination.store(read).await.map_err(|error| match error {
            Error::Stopping => Failure::Stopping,
            error => Failure::away(error),
        })
    }

    /// Shows a problem, and reports it if it is new.
    fn report(&self, state: SourceState, problem: String) {
        let mut is_new = false;
        self.destination.update(|status| {
            is_new = status.state != state || status.problem.as_ref() != Some(&problem);
            (status.state, status.problem) = (state, Some(problem.clone()));
        });
        if is_new {
            let source = self.source.to_string();
            tracing::warn!(source, problem, "a source is {}", state.name());
            self.destination.tell(&format!("{source}: {problem}"));
        }
    }

    /// Reads no more.
    async fn stop(&self, problem: String) {
        self.report(SourceState::Stopped, problem);
        std::future::pending().await
    }
}
