//! Subjects of NATS that a stream of JetStream stores.

use std::sync::Arc;

use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::jetstream::{self, Context, message::PublishMessage};
use tokio::sync::Notify;

use super::{Connection, Outgoing};
use crate::broker::nats;
use crate::broker::url::SinkUrl;

pub struct Nats {
    context: Context,
    /// The start of each subject.
    prefix: String,
}

impl Connection for Nats {
    async fn open(url: &SinkUrl) -> Result<Nats, String> {
        let client = nats::connect(&url.broker, &Arc::new(Notify::new())).await?;
        Ok(Nats { context: jetstream::new(client), prefix: url.name.clone() })
    }

    async fn send(&self, messages: &[Outgoing]) -> Result<(), String> {
        let mut confirmations = Vec::new();
        for Outgoing { message, .. } in messages {
            // Within its window for duplicates, the server drops a message that it has.
            let publish =
                PublishMessage::build().payload(message.body.clone().into()).message_id(&message.id);
            let subject = format!("{}.{}", self.prefix, message.name);
            let sent = self.context.send_publish(subject, publish).await;
            confirmations.push(sent.map_err(|error| self.explain(&error))?);
        }
        for confirmation in confirmations {
            confirmation.await.map_err(|error| self.explain(&error))?;
        }
        Ok(())
    }
}

impl Nats {
    fn explain(&self, error: &PublishError) -> String {
        let prefix = &self.prefix;
        match error.kind() {
            PublishErrorKind::StreamNotFound => {
                format!("no stream stores these messages: create one with the subjects `{prefix}.>`")
            }
            _ => error.to_string(),
        }
    }
}
