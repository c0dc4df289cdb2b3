//! A connection to Kafka.

use std::sync::Arc;
use std::time::Duration;

use rskafka::BackoffConfig;
use rskafka::client::error::Result;
use rskafka::client::{Client, ClientBuilder, Credentials, SaslConfig};

use super::tls;
use super::url::{Broker, Sasl};

/// How long the client retries before it reports a failure.
const RETRY_TIME: Duration = Duration::from_secs(3);

pub async fn connect(broker: &Broker) -> std::result::Result<Client, String> {
    let backoff = BackoffConfig { deadline: Some(RETRY_TIME), ..BackoffConfig::default() };
    let mut builder =
        ClientBuilder::new(broker.servers.clone()).client_id("skipstream").backoff_config(backoff);
    if broker.tls {
        let config = tls::config(broker.ca.as_deref())?;
        builder = builder.tls_config(Arc::new(config));
    }
    if let Some(login) = &broker.login {
        let credentials = Credentials::new(login.user.clone(), login.password.clone());
        builder = builder.sasl_config(match broker.sasl {
            Sasl::Plain => SaslConfig::Plain(credentials),
            Sasl::ScramSha256 => SaslConfig::ScramSha256(credentials),
            Sasl::ScramSha512 => SaslConfig::ScramSha512(credentials),
        });
    }
    builder.build().await.map_err(|error| error.to_string())
}

/// The partitions of a topic in order; none if it does not exist.
pub async fn partitions(client: &Client, topic: &str) -> Result<Vec<i32>> {
    let topics = client.list_topics().await?;
    let topic = topics.into_iter().find(|found| found.name == topic);
    Ok(topic.map(|topic| topic.partitions.into_iter().collect()).unwrap_or_default())
}
