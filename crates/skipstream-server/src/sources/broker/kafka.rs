//! A topic of Kafka.
//!
//! Each partition is fetched by a task of its own. Their messages are stored in the order in which they arrive here, and
//! that is the order in which they are learned.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::Duration;

use chrono::DateTime;
use jiff::Timestamp;
use rskafka::client::Client;
use rskafka::client::error::Error as KafkaError;
use rskafka::client::partition::{OffsetAt, PartitionClient, UnknownTopicHandling};
use rskafka::record::RecordAndOffset;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use super::messages::{Message, MessageId};
use super::{BATCH_BYTES, Batch, Failure, Feed};
use crate::broker::kafka;
use crate::broker::url::{SourceUrl, Start};

/// Interval at which new partitions are looked for.
const REFRESH_EVERY: Duration = Duration::from_secs(15);

/// Bytes of all partitions to fetch at a time. The broker returns at least one batch of messages, whatever its size.
const FETCH_BYTES: i32 = 4 << 20;
const MIN_FETCH_BYTES: i32 = 64 << 10;
const MAX_FETCH_BYTES: i32 = 1 << 20;

/// How long the broker may wait for a message before it answers.
const MAX_WAIT_MILLISECONDS: i32 = 1_000;

/// How long to wait for the end of a transaction before the next attempt.
const TRANSACTION_PAUSE: Duration = Duration::from_millis(250);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    partitions: BTreeMap<i32, Place>,
}

/// How far a partition was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    /// The offset of the next message.
    next: i64,
    /// The time of the message before, in milliseconds since 1970: a topic of the same name may be another one.
    last_time: Option<i64>,
}

pub struct Kafka {
    client: Client,
    topic: String,
    position: Position,
    /// How many messages each partition has after its position.
    lags: BTreeMap<i32, u64>,
    fetched: mpsc::Receiver<Result<Fetched, KafkaError>>,
    refresh_at: Instant,
    /// The tasks end when this is dropped.
    _tasks: JoinSet<()>,
}

/// Messages of one partition.
struct Fetched {
    partition: i32,
    records: Vec<RecordAndOffset>,
    /// The place after them.
    place: Place,
    /// The end of the partition.
    end: i64,
}

impl Feed for Kafka {
    type Position = Position;

    async fn open(source: &SourceUrl, position: Option<Position>) -> Result<Kafka, Failure<Position>> {
        let client = kafka::connect(&source.broker).await.map_err(Failure::Away)?;
        let topic = &source.stream;
        let partitions = kafka::partitions(&client, topic).await.map_err(Failure::away)?;
        if partitions.is_empty() {
            return Err(Failure::Away(format!("there is no topic {topic}")));
        }
        // A partition that is not in the position yet is new, and is read from its beginning.
        let start = if position.is_some() { Start::Beginning } else { source.start };
        let mut position = position.unwrap_or_default();
        if let Some(missing) = position.partitions.keys().find(|partition| !partitions.contains(partition)) {
            return Err(Failure::Changed(format!("the topic {topic} has no partition {missing} any more")));
        }
        let mut clients = Vec::new();
        for partition in partitions {
            let client = client.partition_client(topic, partition, UnknownTopicHandling::Error).await;
            let client = client.map_err(Failure::away)?;
            if let Entry::Vacant(place) = position.partitions.entry(partition) {
                place.insert(Place { next: find_start(&client, start).await?, last_time: None });
            }
            clients.push(client);
        }
        check_retention(topic, &clients, &position).await?;
        for client in &clients {
            check_identity(topic, client, position.partitions[&client.partition()]).await?;
        }
        let bytes = FETCH_BYTES / i32::try_from(clients.len()).unwrap_or(i32::MAX);
        let bytes = bytes.clamp(MIN_FETCH_BYTES, MAX_FETCH_BYTES);
        let (sender, fetched) = mpsc::channel(1);
        let mut tasks = JoinSet::new();
        for client in clients {
            let place = position.partitions[&client.partition()];
            tasks.spawn(fetch(client, place, bytes, sender.clone()));
        }
        Ok(Kafka {
            topic: topic.clone(),
            lags: BTreeMap::new(),
            refresh_at: Instant::now() + REFRESH_EVERY,
            client,
            position,
            fetched,
            _tasks: tasks,
        })
    }

    async fn next(&mut self) -> Result<Batch, Failure<Position>> {
        let first = loop {
            tokio::select! {
                biased;
                () = sleep_until(self.refresh_at) => {
                    let partitions = kafka::partitions(&self.client, &self.topic).await.map_err(Failure::away)?;
                    if !partitions.iter().eq(self.position.partitions.keys()) {
                        return Err(Failure::Reopen);
                    }
                    self.refresh_at = Instant::now() + REFRESH_EVERY;
                }
                fetched = self.fetched.recv() => break fetched,
            }
        };
        let mut batch = Batch::default();
        let (mut bytes, mut fetched) = (0, first);
        while let Some(some) = fetched {
            let Fetched { partition, records, place, end } = some.map_err(Failure::away)?;
            for RecordAndOffset { record, offset } in records {
                // A message without a value deletes a key.
                let Some(value) = record.value else { continue };
                bytes += value.len();
                let time = Timestamp::from_millisecond(record.timestamp.timestamp_millis()).ok();
                let id = MessageId { partition: Some(partition), offset: offset as u64, time };
                batch.messages.push(Message { id, payload: value.into() });
            }
            self.position.partitions.insert(partition, place);
            self.lags.insert(partition, end.saturating_sub(place.next).max(0) as u64);
            fetched = if bytes < BATCH_BYTES { self.fetched.try_recv().ok() } else { None };
        }
        batch.lag = Some(self.lags.values().sum());
        Ok(batch)
    }

    fn position(&self) -> &Position {
        &self.position
    }

    fn advance(position: &mut Position, message: &MessageId) {
        let Some(partition) = message.partition else { return };
        let last_time = message.time.map(Timestamp::as_millisecond);
        position.partitions.insert(partition, Place { next: message.offset as i64 + 1, last_time });
    }
}

/// The offset at which to start.
async fn find_start(client: &PartitionClient, start: Start) -> Result<i64, Failure<Position>> {
    let at = match start {
        Start::Beginning => OffsetAt::Earliest,
        Start::End => OffsetAt::Latest,
        Start::Offset(offset) => {
            let offset = i64::try_from(offset).unwrap_or(i64::MAX);
            let end = client.get_offset(OffsetAt::Latest).await.map_err(Failure::away)?;
            if offset > end {
                let partition = client.partition();
                let reason =
                    format!("`start` is {offset}, but partition {partition} ends before offset {end}");
                return Err(Failure::Away(reason));
            }
            return Ok(offset);
        }
        Start::Time(time) => {
            let time = DateTime::from_timestamp_millis(time.as_millisecond());
            OffsetAt::Timestamp(time.ok_or_else(|| Failure::Away("invalid time in `start`".to_owned()))?)
        }
    };
    let offset = client.get_offset(at).await.map_err(Failure::away)?;
    if offset >= 0 {
        return Ok(offset);
    }
    // No message is that new.
    client.get_offset(OffsetAt::Latest).await.map_err(Failure::away)
}

/// Checks that the next message of each partition is still there, or not there yet.
async fn check_retention(
    topic: &str,
    clients: &[PartitionClient],
    position: &Position,
) -> Result<(), Failure<Position>> {
    let (mut n, mut whats, mut next) = (0, Vec::new(), position.clone());
    for client in clients {
        let partition = client.partition();
        let offset = position.partitions[&partition].next;
        let first = client.get_offset(OffsetAt::Earliest).await.map_err(Failure::away)?;
        let end = client.get_offset(OffsetAt::Latest).await.map_err(Failure::away)?;
        if offset > end {
            return Err(Failure::Changed(format!(
                "partition {partition} of {topic} ends before offset {end}, but the next offset to read is {offset}: \
                 it was truncated, or the topic was deleted and created again"
            )));
        }
        if offset < first {
            n += (first - offset) as u64;
            whats.push(format!("offsets {offset} to {} of partition {partition}", first - 1));
            next.partitions.insert(partition, Place { next: first, last_time: None });
        }
    }
    if n == 0 {
        return Ok(());
    }
    let what = format!("the broker deleted {n} messages before they were read, {}", whats.join(", "));
    Err(Failure::Lost { n, what, next })
}

/// Checks that the last message that was read is still the same. It may have been deleted, so it need not be there.
async fn check_identity(
    topic: &str,
    client: &PartitionClient,
    place: Place,
) -> Result<(), Failure<Position>> {
    let Some(time) = place.last_time else { return Ok(()) };
    let last = place.next - 1;
    if client.get_offset(OffsetAt::Earliest).await.map_err(Failure::away)? > last {
        return Ok(());
    }
    let (records, _) = client.fetch_records(last, 1..MIN_FETCH_BYTES, 0).await.map_err(Failure::away)?;
    let found = records.iter().find(|record| record.offset == last);
    if found.is_some_and(|found| found.record.timestamp.timestamp_millis() != time) {
        let partition = client.partition();
        return Err(Failure::Changed(format!(
            "the message at offset {last} of partition {partition} of {topic} is not the one that was read: the topic was \
             deleted and created again"
        )));
    }
    Ok(())
}

/// Fetches the messages of a partition until there is an error, or nobody wants them any more.
async fn fetch(
    client: PartitionClient,
    mut place: Place,
    bytes: i32,
    sender: mpsc::Sender<Result<Fetched, KafkaError>>,
) {
    loop {
        let fetched = fetch_once(&client, place, bytes).await;
        let sent = match fetched {
            Ok(fetched) if fetched.place == place => continue,
            Ok(fetched) => {
                place = fetched.place;
                sender.send(Ok(fetched)).await
            }
            Err(error) => {
                // The end of this task: the feed is dropped when it sees the error.
                let _ = sender.send(Err(error)).await;
                return;
            }
        };
        if sent.is_err() {
            return;
        }
    }
}

async fn fetch_once(client: &PartitionClient, place: Place, bytes: i32) -> Result<Fetched, KafkaError> {
    let (records, end) = client.fetch_records(place.next, 1..bytes, MAX_WAIT_MILLISECONDS).await?;
    if records.is_empty() && end > place.next {
        // A transaction is still open, or the partition ends with the mark of one, which has an offset and is not a message. Both
        // look the same here, so the offset must not be skipped.
        sleep(TRANSACTION_PAUSE).await;
    }
    let place = records.last().map_or(place, |RecordAndOffset { record, offset }| Place {
        next: offset + 1,
        last_time: Some(record.timestamp.timestamp_millis()),
    });
    Ok(Fetched { partition: client.partition(), records, place, end })
}
