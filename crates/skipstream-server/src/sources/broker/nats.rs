//! A stream of NATS JetStream.
//!
//! Read by an ephemeral pull consumer that acknowledges nothing. A new one is created at the position after each problem.

use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_nats::datetime;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, PullConsumer, pull};
use async_nats::jetstream::stream::{Info, Stream};
use async_nats::jetstream::{self, context::GetStreamErrorKind};
use futures_util::StreamExt;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use super::messages::{Message, MessageId};
use super::{BATCH_BYTES, Batch, Failure, Feed};
use crate::broker::nats;
use crate::broker::url::{SourceUrl, Start};

/// A message is passed on after this delay, even if the batch is not full by then.
const PASS_AFTER: Duration = Duration::from_millis(100);

/// With no message for this long, the position of a subject moves on to the end of the stream.
const IDLE: Duration = Duration::from_secs(5);

/// The server reports this often that a waiting request is alive. A request ends after a while in any case.
const HEARTBEAT: Duration = Duration::from_secs(5);
const EXPIRES: Duration = Duration::from_secs(30);

/// Messages and approximate bytes that are requested at a time.
const REQUEST_MESSAGES: usize = 2_000;
const REQUEST_BYTES: usize = 4 << 20;

/// Reading has paused if it has been this long since messages were last awaited.
const PAUSED: Duration = Duration::from_secs(1);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// When the stream was created, in nanoseconds since 1970: a stream of the same name may be another one.
    created: String,
    /// The sequence number of the next message. With `start` a time, unknown until the first message.
    next: Option<u64>,
    /// The last message that was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<Last>,
}

/// A message, and when it was published in nanoseconds since 1970. A server that crashed may have lost messages that it
/// had acknowledged, and give their numbers to others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Last {
    sequence: u64,
    published: String,
}

pub struct Nats {
    stream: Stream,
    consumer: PullConsumer,
    messages: Pin<Box<pull::Stream>>,
    disconnected: Arc<Notify>,
    has_subject: bool,
    position: Position,
    /// Messages of this consumer so far. The server numbers them, so that a gap shows.
    received: u64,
    /// How many messages the server had after the last one.
    pending: Option<u64>,
    /// When messages were last awaited.
    awaited: Instant,
    /// What comes after the messages so far.
    loss: Option<Failure<Position>>,
}

impl Feed for Nats {
    type Position = Position;

    async fn open(source: &SourceUrl, position: Option<Position>) -> Result<Nats, Failure<Position>> {
        let disconnected = Arc::new(Notify::new());
        let client = nats::connect(&source.broker, &disconnected).await.map_err(Failure::Away)?;
        let request_bytes = REQUEST_BYTES.max(2 * client.server_info().max_payload);
        let stream = jetstream::new(client).get_stream(&source.stream).await.map_err(|error| {
            Failure::Away(match error.kind() {
                GetStreamErrorKind::JetStream(error) => format!("stream {}: {error}", source.stream),
                _ => error.to_string(),
            })
        })?;
        let info = stream.cached_info();
        let position = match position {
            Some(position) => {
                check_identity(&stream, info, &position).await?;
                position
            }
            None => first_position(info, source.start)?,
        };
        let first = info.state.first_sequence;
        if let Some(next) = position.next
            && next < first
        {
            return Err(lost(next..first, source.subject.is_some(), &position));
        }
        let deliver_policy = match (position.next, source.start) {
            (Some(start_sequence), _) => DeliverPolicy::ByStartSequence { start_sequence },
            (None, Start::Time(time)) => DeliverPolicy::ByStartTime {
                start_time: datetime::from_nanos(time.as_nanosecond()).map_err(Failure::away)?,
            },
            (None, _) => DeliverPolicy::All,
        };
        let config = pull::Config {
            description: Some("skipstream".to_owned()),
            deliver_policy,
            ack_policy: AckPolicy::None,
            filter_subject: source.subject.clone().unwrap_or_default(),
            inactive_threshold: 2 * EXPIRES,
            memory_storage: true,
            num_replicas: 1,
            ..pull::Config::default()
        };
        let consumer = stream.create_consumer(config).await.map_err(Failure::away)?;
        let messages = consumer
            .stream()
            .max_messages_per_batch(REQUEST_MESSAGES)
            .max_bytes_per_batch(request_bytes)
            .expires(EXPIRES)
            .heartbeat(HEARTBEAT)
            .messages()
            .await
            .map_err(Failure::away)?;
        Ok(Nats {
            has_subject: source.subject.is_some(),
            messages: Box::pin(messages),
            received: 0,
            pending: None,
            awaited: Instant::now(),
            loss: None,
            stream,
            consumer,
            disconnected,
            position,
        })
    }

    async fn next(&mut self) -> Result<Batch, Failure<Position>> {
        if let Some(loss) = self.loss.take() {
            return Err(loss);
        }
        let has_paused = self.awaited.elapsed() >= PAUSED;
        // Meanwhile the server may have given up on us, which is not a problem.
        let interrupted = |error: String| if has_paused { Failure::Reopen } else { Failure::Away(error) };
        let mut batch = Batch::default();
        let mut bytes = 0;
        let mut first: Option<Instant> = None;
        // How many messages are before the first gap, and the numbers that are missing there.
        let mut gap: Option<(usize, Range<u64>)> = None;
        while bytes < BATCH_BYTES {
            let wait = first.map_or(IDLE, |first| PASS_AFTER.saturating_sub(first.elapsed()));
            let received = tokio::select! {
                biased;
                received = timeout(wait, self.messages.next()) => received,
                () = self.disconnected.notified() => {
                    return Err(Failure::Away("the connection was lost".to_owned()));
                }
            };
            let message = match received {
                Err(_) => break,
                Ok(None) => return Err(interrupted("the server ended the consumer".to_owned())),
                Ok(Some(message)) => message.map_err(|error| interrupted(error.to_string()))?,
            };
            let info = message.info().map_err(Failure::away)?;
            self.received += 1;
            if info.consumer_sequence != self.received {
                return Err(Failure::Away("a message was dropped on the way".to_owned()));
            }
            let sequence = info.stream_sequence;
            let expected = self.position.next.unwrap_or(sequence);
            // A subject has gaps by nature, but has lost nothing if it was read as fast as it came.
            let was_behind = has_paused || self.pending.is_none_or(|pending| pending > 0);
            if sequence > expected && (!self.has_subject || was_behind) {
                gap.get_or_insert((batch.messages.len(), expected..sequence));
            }
            self.pending = Some(info.pending);
            let time = Timestamp::from_nanosecond(info.published.unix_timestamp_nanos()).ok();
            let id = MessageId { partition: None, offset: sequence, time };
            Nats::advance(&mut self.position, &id);
            let payload = message.message.payload;
            bytes += payload.len();
            batch.messages.push(Message { id, payload });
            first.get_or_insert_with(Instant::now);
        }
        self.awaited = Instant::now();
        if let Some((before, missing)) = gap {
            // Messages that were deleted one by one leave gaps too, but they do not move the start of the stream.
            let info = self.stream.get_info().await.map_err(Failure::away)?;
            if info.state.first_sequence > missing.start {
                self.position.next = Some(missing.start);
                // Of a message that was not passed on.
                self.position.last = None;
                self.loss = Some(lost(missing, self.has_subject, &self.position));
                batch.messages.truncate(before);
            }
        }
        if batch.messages.is_empty() {
            if let Some(loss) = self.loss.take() {
                return Err(loss);
            }
            if self.has_subject {
                self.pass_other_subjects().await?;
            }
        }
        batch.lag = self.pending;
        Ok(batch)
    }

    fn position(&self) -> &Position {
        &self.position
    }

    fn advance(position: &mut Position, message: &MessageId) {
        let sequence = message.offset;
        position.next = Some(sequence + 1);
        position.last =
            message.time.map(|time| Last { sequence, published: time.as_nanosecond().to_string() });
    }
}

impl Nats {
    /// If there are no messages of our subject, moves to the end of the stream: otherwise the retention of other messages
    /// would look like a loss of ours.
    async fn pass_other_subjects(&mut self) -> Result<(), Failure<Position>> {
        // In this order: what comes after the first answer does not count.
        let last = self.stream.get_info().await.map_err(Failure::away)?.state.last_sequence;
        let consumer = self.consumer.get_info().await.map_err(Failure::away)?;
        if consumer.num_pending == 0 && consumer.delivered.consumer_sequence == self.received {
            self.position.next = self.position.next.max(Some(last + 1));
            self.pending = Some(0);
        }
        Ok(())
    }
}

fn created(info: &Info) -> String {
    info.created.unix_timestamp_nanos().to_string()
}

fn first_position(info: &Info, start: Start) -> Result<Position, Failure<Position>> {
    let end = info.state.last_sequence + 1;
    let next = match start {
        // An empty stream may have had messages before.
        Start::Beginning => Some(info.state.first_sequence.max(1)),
        Start::End => Some(end),
        Start::Offset(offset) if offset > end => {
            let reason = format!("`start` is {offset}, but the stream ends before message {end}");
            return Err(Failure::Away(reason));
        }
        Start::Offset(offset) => Some(offset.max(1)),
        Start::Time(_) => None,
    };
    Ok(Position { created: created(info), next, last: None })
}

/// Checks that the stream is the one that was read.
async fn check_identity(stream: &Stream, info: &Info, position: &Position) -> Result<(), Failure<Position>> {
    let (name, end) = (&info.config.name, info.state.last_sequence);
    if created(info) != position.created {
        return Err(Failure::Changed(format!("the stream {name} was deleted and created again")));
    }
    if let Some(next) = position.next
        && next > end + 1
    {
        let read = next - 1;
        return Err(Failure::Changed(format!(
            "the stream {name} ends at message {end}, but message {read} was read"
        )));
    }
    // If there is no answer, the message was deleted, or we may not ask for it.
    if let Some(Last { sequence, published }) = &position.last
        && let Ok(message) = stream.get_raw_message(*sequence).await
        && message.time.unix_timestamp_nanos().to_string() != *published
    {
        let reason = format!("message {sequence} of the stream {name} is not the one that was read");
        return Err(Failure::Changed(reason));
    }
    Ok(())
}

/// The failure of messages that the broker has deleted.
fn lost(missing: Range<u64>, has_subject: bool, position: &Position) -> Failure<Position> {
    let Range { start, end } = missing;
    let (up_to, subjects) = if has_subject { ("up to ", " of all subjects") } else { ("", "") };
    let (n, last) = (end - start, end - 1);
    let what =
        format!("the broker deleted {up_to}{n} messages{subjects} before they were read, {start} to {last}");
    Failure::Lost { n, what, next: Position { next: Some(end), ..position.clone() } }
}
