//! The mock cluster of librdkafka. It keeps messages in memory, so it cannot be killed without losing them.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{ChildStdout, Command};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use chrono::DateTime;
use rskafka::BackoffConfig;
use rskafka::client::ClientBuilder;
use rskafka::client::partition::{Compression, PartitionClient, UnknownTopicHandling};
use rskafka::record::Record;

use super::{Broker, Endpoint};

const TOPIC: &str = "lines";
const EVENTS: &str = "events";
/// As many as the mock cluster creates.
const PARTITIONS: i32 = 4;

pub struct Kafka {
    partitions: Vec<PartitionClient>,
    events: PartitionClient,
}

impl Broker for Kafka {
    const IS_DURABLE: bool = false;

    fn command(program: &Path, _: &Endpoint) -> Result<Command> {
        let mut command = Command::new(program);
        command.args(["-c", include_str!("kafka.py"), TOPIC, EVENTS]);
        Ok(command)
    }

    fn port(output: ChildStdout) -> Result<Option<u16>> {
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        Ok(Some(line.trim().parse().context("the mock cluster did not start")?))
    }

    /// The topics were created when the cluster started.
    async fn create(_: &Endpoint) -> Result<()> {
        Ok(())
    }

    fn url(endpoint: &Endpoint) -> String {
        format!("kafka://127.0.0.1:{}/{TOPIC}?field=text&time=time", endpoint.port)
    }

    fn sink(endpoint: &Endpoint) -> String {
        format!("kafka://127.0.0.1:{}/{EVENTS}", endpoint.port)
    }

    /// Connects with a client that gives up at the first failure, so that nothing is published twice.
    async fn connect(endpoint: &Endpoint) -> Result<Kafka> {
        let backoff = BackoffConfig { deadline: Some(Duration::ZERO), ..BackoffConfig::default() };
        let address = format!("127.0.0.1:{}", endpoint.port);
        let client = ClientBuilder::new(vec![address]).backoff_config(backoff).build().await?;
        let mut partitions = Vec::new();
        for partition in 0..PARTITIONS {
            partitions.push(client.partition_client(TOPIC, partition, UnknownTopicHandling::Error).await?);
        }
        let events = client.partition_client(EVENTS, 0, UnknownTopicHandling::Error).await?;
        Ok(Kafka { partitions, events })
    }

    async fn publish(&self, messages: Vec<String>, random: u64) -> Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as i64;
        let timestamp = DateTime::from_timestamp_millis(now).context("the clock is wrong")?;
        let record = |message: String| Record {
            key: None,
            value: Some(message.into_bytes()),
            headers: BTreeMap::new(),
            timestamp,
        };
        let compression = [
            Compression::NoCompression,
            Compression::Gzip,
            Compression::Lz4,
            Compression::Snappy,
            Compression::Zstd,
        ];
        let compression = compression[random as usize % compression.len()];
        let partition = &self.partitions[random as usize / 7 % self.partitions.len()];
        partition.produce(messages.into_iter().map(record).collect(), compression).await?;
        Ok(())
    }

    async fn read(&self) -> Result<Vec<Vec<String>>> {
        let mut partitions = Vec::new();
        for partition in &self.partitions {
            let messages = read(partition).await?;
            partitions.push(messages.iter().map(|message| super::marker(message)).collect::<Result<_>>()?);
        }
        Ok(partitions)
    }

    async fn read_events(&self) -> Result<Vec<Vec<u8>>> {
        read(&self.events).await
    }
}

/// All messages of a partition.
async fn read(partition: &PartitionClient) -> Result<Vec<Vec<u8>>> {
    let (mut messages, mut next) = (Vec::new(), 0);
    loop {
        let (records, end) = partition.fetch_records(next, 1..1 << 20, 1_000).await?;
        for record in records {
            messages.push(record.record.value.context("a message has a value")?);
            next = record.offset + 1;
        }
        if next >= end {
            return Ok(messages);
        }
    }
}
