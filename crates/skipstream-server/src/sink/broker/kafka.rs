//! A topic of Kafka. All messages go to its first partition, so that they stay in order: there are only a few per second.

use std::collections::BTreeMap;

use chrono::DateTime;
use jiff::Timestamp;
use rskafka::client::partition::{Compression, PartitionClient, UnknownTopicHandling};
use rskafka::record::Record;

use super::{Connection, Outgoing};
use crate::broker::kafka;
use crate::broker::url::SinkUrl;

pub struct Kafka(PartitionClient);

impl Connection for Kafka {
    async fn open(url: &SinkUrl) -> Result<Kafka, String> {
        let client = kafka::connect(&url.broker).await?;
        let topic = &url.name;
        let partitions = kafka::partitions(&client, topic).await.map_err(|error| error.to_string())?;
        let first = *partitions.first().ok_or_else(|| format!("there is no topic {topic}"))?;
        let client = client.partition_client(topic, first, UnknownTopicHandling::Error).await;
        client.map(Kafka).map_err(|error| error.to_string())
    }

    async fn send(&self, messages: &[Outgoing]) -> Result<(), String> {
        let now = DateTime::from_timestamp_millis(Timestamp::now().as_millisecond());
        let timestamp = now.unwrap_or(DateTime::UNIX_EPOCH);
        let record = |Outgoing { message, key }: &Outgoing| Record {
            key: key.clone().map(String::into_bytes),
            value: Some(message.body.clone().into_bytes()),
            headers: BTreeMap::from([("id".to_owned(), message.id.clone().into_bytes())]),
            timestamp,
        };
        let records = messages.iter().map(record).collect();
        let sent = self.0.produce(records, Compression::NoCompression).await;
        sent.map(drop).map_err(|error| error.to_string())
    }
}
