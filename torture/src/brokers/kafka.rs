//! The mock cluster of librdkafka, which has Kafka's protocol and keeps its messages in memory: it cannot be killed without losing
//! them.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{ChildStdout, Command};
use std::time::Duration;

use anyhow::{Context, Result};
use chrono::DateTime;
use rskafka::BackoffConfig;
use rskafka::client::partition::{Compression, PartitionClient, UnknownTopicHandling};
use rskafka::client::{Client, ClientBuilder};
use rskafka::record::Record;

use super::Broker;

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

    fn command(program: &Path, _: &Path, _: u16) -> Result<Command> {
        let mut command = Command::new(program);
        command.args(["-c", include_str!("kafka.py"), TOPIC, EVENTS]);
        Ok(command)
    }

    fn port(output: ChildStdout) -> Result<Option<u16>> {
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        Ok(Some(line.trim().parse().context("the mock cluster did not start")?))
    }

    /// It was created when the cluster started.
    async fn create(_: u16) -> Result<()> {
        Ok(())
    }

    fn url(port: u16) -> String {
        format!("kafka://127.0.0.1:{port}/{TOPIC}?field=text&time=time")
    }

    fn sink(port: u16) -> String {
        format!("kafka://127.0.0.1:{port}/{EVENTS}")
    }

    async fn connect(port: u16) -> Result<Kafka> {
        let client = client(port).await?;
        let mut partitions = Vec::new();
        for partition in 0..PARTITIONS {
            partitions.push(client.partition_client(TOPIC, partition, UnknownTopicHandling::Error).await?);
        }
        let events = client.partition_client(EVENTS, 0, UnknownTopicHandling::Error).await?;
        Ok(Kafka { partitions, events })
    }

    async fn publish(&self, messages: Vec<String>, random: u64) -> Result<()> {
        let record = |message: String| Record {
            key: None,
            value: Some(message.into_bytes()),
            headers: BTreeMap::new(),
            timestamp: DateTime::UNIX_EPOCH,
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

/// A client that gives up at the first failure, so that nothing is published twice.
async fn client(port: u16) -> Result<Client> {
    let backoff = BackoffConfig { deadline: Some(Duration::ZERO), ..BackoffConfig::default() };
    Ok(ClientBuilder::new(vec![format!("127.0.0.1:{port}")]).backoff_config(backoff).build().await?)
}
