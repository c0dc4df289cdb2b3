//! A Kafka broker that keeps its messages on disk (`torture/kafka`), and the mock cluster of librdkafka, which keeps them in memory:
//! it cannot be killed without losing them.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use async_nats::rustls::pki_types::CertificateDer;
use async_nats::rustls::pki_types::pem::PemObject;
use async_nats::rustls::{ClientConfig, RootCertStore};
use chrono::DateTime;
use rskafka::BackoffConfig;
use rskafka::client::partition::{Compression, PartitionClient, UnknownTopicHandling};
use rskafka::client::{Client, ClientBuilder, Credentials, SaslConfig};
use rskafka::record::Record;

use super::retention::Deletes;
use super::{Broker, Endpoint, LOGIN, PASSWORD, USER};

const TOPIC: &str = "lines";
const EVENTS: &str = "events";
/// As many as the mock cluster creates.
const PARTITIONS: i32 = 4;
/// How long the broker may take for a change.
const MILLISECONDS: i32 = 10_000;

pub struct Kafka<C> {
    partitions: Vec<PartitionClient>,
    events: PartitionClient,
    cluster: PhantomData<C>,
}

/// What differs between the two.
pub trait Cluster: Send + Sync {
    const IS_DURABLE: bool;
    fn command(program: &Path, endpoint: &Endpoint) -> Command;
    fn port(output: ChildStdout) -> Result<Option<u16>>;
    async fn create(endpoint: &Endpoint) -> Result<()>;
    /// The URL of a topic, with this mechanism for the login, if there is one, and these options.
    fn url(endpoint: &Endpoint, topic: &str, sasl: &str, options: &str) -> String;
    /// Adds what is needed to log in.
    fn secure(builder: ClientBuilder, endpoint: &Endpoint) -> Result<ClientBuilder>;
}

/// Reached by TLS, with a login.
pub struct Durable;

impl Durable {
    fn certificate(endpoint: &Endpoint) -> PathBuf {
        endpoint.folder.join("kafka/certificate.pem")
    }
}

impl Cluster for Durable {
    const IS_DURABLE: bool = true;

    fn command(program: &Path, endpoint: &Endpoint) -> Command {
        let mut command = Command::new(program);
        command.arg(endpoint.port.to_string()).arg(endpoint.folder.join("kafka")).args([USER, PASSWORD]);
        command
    }

    fn port(_: ChildStdout) -> Result<Option<u16>> {
        Ok(None)
    }

    async fn create(endpoint: &Endpoint) -> Result<()> {
        let controller = client::<Durable>(endpoint).await?.controller_client()?;
        controller.create_topic(TOPIC, PARTITIONS, 1, MILLISECONDS).await?;
        controller.create_topic(EVENTS, 1, 1, MILLISECONDS).await?;
        Ok(())
    }

    fn url(endpoint: &Endpoint, topic: &str, sasl: &str, options: &str) -> String {
        let (port, certificate) = (endpoint.port, Durable::certificate(endpoint));
        format!(
            "kafka+tls://{LOGIN}@127.0.0.1:{port}/{topic}?ca={}&sasl={sasl}{options}",
            certificate.display()
        )
    }

    fn secure(builder: ClientBuilder, endpoint: &Endpoint) -> Result<ClientBuilder> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(Durable::certificate(endpoint))?)?;
        let tls = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        let login = Credentials::new(USER.to_owned(), PASSWORD.to_owned());
        Ok(builder.tls_config(Arc::new(tls)).sasl_config(SaslConfig::ScramSha256(login)))
    }
}

/// In memory, and open to all.
pub struct Mock;

impl Cluster for Mock {
    const IS_DURABLE: bool = false;

    fn command(program: &Path, _: &Endpoint) -> Command {
        let mut command = Command::new(program);
        command.args(["-c", include_str!("kafka.py"), TOPIC, EVENTS]);
        command
    }

    fn port(output: ChildStdout) -> Result<Option<u16>> {
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        Ok(Some(line.trim().parse().context("the mock cluster did not start")?))
    }

    /// It was created when the cluster started.
    async fn create(_: &Endpoint) -> Result<()> {
        Ok(())
    }

    fn url(endpoint: &Endpoint, topic: &str, _: &str, options: &str) -> String {
        format!("kafka://127.0.0.1:{}/{topic}?{}", endpoint.port, options.trim_start_matches('&'))
    }

    fn secure(builder: ClientBuilder, _: &Endpoint) -> Result<ClientBuilder> {
        Ok(builder)
    }
}

impl<C: Cluster> Broker for Kafka<C> {
    const IS_DURABLE: bool = C::IS_DURABLE;

    fn command(program: &Path, endpoint: &Endpoint) -> Result<Command> {
        Ok(C::command(program, endpoint))
    }

    fn port(output: ChildStdout) -> Result<Option<u16>> {
        C::port(output)
    }

    async fn create(endpoint: &Endpoint) -> Result<()> {
        C::create(endpoint).await
    }

    fn url(endpoint: &Endpoint) -> String {
        C::url(endpoint, TOPIC, "scram-sha-512", "&field=text&time=time")
    }

    fn sink(endpoint: &Endpoint) -> String {
        C::url(endpoint, EVENTS, "plain", "")
    }

    async fn connect(endpoint: &Endpoint) -> Result<Kafka<C>> {
        let client = client::<C>(endpoint).await?;
        let mut partitions = Vec::new();
        for partition in 0..PARTITIONS {
            partitions.push(client.partition_client(TOPIC, partition, UnknownTopicHandling::Error).await?);
        }
        let events = client.partition_client(EVENTS, 0, UnknownTopicHandling::Error).await?;
        Ok(Kafka { partitions, events, cluster: PhantomData })
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

impl Deletes for Kafka<Durable> {
    const LOST: &str = "the broker deleted 5 messages before they were read, offsets 10 to 14 of partition 0";
    const CHANGED: &str = "the message at offset 19 of partition 0 of lines is not the one that was read";

    async fn delete_first(&self, messages: u64) -> Result<()> {
        Ok(self.partitions[0].delete_records(messages as i64, MILLISECONDS).await?)
    }

    async fn create_again(endpoint: &Endpoint) -> Result<()> {
        let controller = client::<Durable>(endpoint).await?.controller_client()?;
        controller.delete_topic(TOPIC, MILLISECONDS).await?;
        Ok(controller.create_topic(TOPIC, PARTITIONS, 1, MILLISECONDS).await?)
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
async fn client<C: Cluster>(endpoint: &Endpoint) -> Result<Client> {
    let backoff = BackoffConfig { deadline: Some(Duration::ZERO), ..BackoffConfig::default() };
    let builder = ClientBuilder::new(vec![format!("127.0.0.1:{}", endpoint.port)]).backoff_config(backoff);
    Ok(C::secure(builder, endpoint)?.build().await?)
}
