//! Messages that wait until a broker has them.
//!
//! They are stored in the log, so that a crash loses none, and so that a forgotten word is removed from them together with
//! the text.

use tokio::sync::oneshot;

use super::store::Store;
use super::writer::Request;
use super::{LOG, Log};
use crate::error::Result;

/// Limit on waiting messages. With about a kilobyte each, that is 100 MB of disk; then the oldest are dropped.
pub(super) const MAX_MESSAGES: u64 = 100_000;

/// A message for a broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Identifies it: a message may be delivered more than once.
    pub id: String,
    /// The kind of message.
    pub name: String,
    /// JSON.
    pub body: String,
}

/// A change of the messages that wait.
#[derive(Debug)]
pub(super) enum OutboxChange {
    Add(Vec<Message>),
    /// The broker has messages up to this number.
    Delivered(u64),
}

/// The state after a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outbox {
    /// Messages that wait.
    pub waiting: u64,
    /// Messages that were dropped because too many waited.
    pub dropped: u64,
}

/// Reads the messages that wait.
#[derive(Debug)]
pub struct OutboxReader(Store);

impl OutboxReader {
    /// The oldest messages with their numbers, at most `most`.
    pub fn read(&self, most: usize) -> Result<Vec<(u64, Message)>> {
        self.0.messages(most)
    }
}

impl Log {
    /// Reads the messages that wait.
    pub fn outbox(&self) -> Result<OutboxReader> {
        Ok(OutboxReader(Store::connect(&self.files)?))
    }

    /// Stores messages. They are on disk when this returns.
    pub async fn add_messages(&self, messages: Vec<Message>) -> Result<Outbox> {
        self.change_outbox(OutboxChange::Add(messages)).await
    }

    /// Deletes messages up to this number.
    pub async fn delivered(&self, through: u64) -> Result<Outbox> {
        self.change_outbox(OutboxChange::Delivered(through)).await
    }

    async fn change_outbox(&self, change: OutboxChange) -> Result<Outbox> {
        let (answer, answered) = oneshot::channel();
        let sent = self.requests()?.send(Request::Outbox { change, answer }).await;
        sent.map_err(|_| self.lifecycle.gone(LOG))?;
        let done = answered.await.map_err(|_| self.lifecycle.gone(LOG))??;
        let (waiting, dropped) = done.unwrap_or_default();
        Ok(Outbox { waiting, dropped })
    }
}
