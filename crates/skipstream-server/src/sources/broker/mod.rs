//! Messages of NATS JetStream (`nats.rs`) and Kafka (`kafka.rs`), to be learned exactly once.
//!
//! The broker stores nothing about us: no consumer group, no acknowledgement. The position is stored together with what was
//! read, in one step, so each message is learned exactly once, whatever is killed. `reader.rs` is the loop that reads. The
//! service (`logged.rs`) writes lines and position to its log in one transaction. For a trainer without a service, [`Messages`]
//! is a source of sentences, and the position is in the ledger of the model.

mod kafka;
mod logged;
mod messages;
mod nats;
mod reader;
mod stream;

use std::collections::HashSet;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::broker::url::SourceUrl;
use crate::error::{Error, Result};
use crate::log::Chunk;
pub use logged::start;
use messages::{Message, MessageId};
pub use stream::Messages;

/// Approximate bytes of messages that are passed on together.
const BATCH_BYTES: usize = Chunk::BYTES;

/// A connection to a broker, and how far it was read.
trait Feed: Sized {
    type Position: Serialize + DeserializeOwned + Clone + PartialEq + Send + 'static;

    /// Connects, and starts at a position, or where the URL says.
    async fn open(
        source: &SourceUrl,
        position: Option<Self::Position>,
    ) -> Result<Self, Failure<Self::Position>>;

    /// The next messages; none if only the position has changed. Not cancel safe: a feed that was cancelled is dropped.
    async fn next(&mut self) -> Result<Batch, Failure<Self::Position>>;

    /// The position after the messages so far.
    fn position(&self) -> &Self::Position;

    /// Moves a position to after a message, which is the next one there.
    fn advance(position: &mut Self::Position, message: &MessageId);
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
    /// Nobody wants messages any more.
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

#[cfg(test)]
mod tests;
