//! Messages → the log of the service.

use std::sync::Arc;
use std::thread::JoinHandle;

use serde_json::json;
use skipstream::corpus::InvalidUtf8;

use super::Feed;
use super::reader::{Destination, ReadLines, Reader};
use crate::broker::url::{Protocol, SourceUrl};
use crate::error::{Error, Result};
use crate::log::SourcePosition;
use crate::service::Service;
use crate::settings::ServeSettings;
use crate::source_status::SourceStatus;
use crate::sources::append;

/// Starts a thread that reads a broker until the service stops.
pub fn start(service: &Arc<Service>, url: &str, number: usize) -> Result<JoinHandle<()>> {
    let source = SourceUrl::parse(url)?;
    let protocol = source.broker.protocol;
    let reader = reader(service, source);
    service.lifecycle.spawn_async(&format!("source-{number}"), move || async move {
        match protocol {
            Protocol::Nats => reader.run::<super::nats::Nats>().await,
            Protocol::Kafka => reader.run::<super::kafka::Kafka>().await,
        }
    })
}

pub(super) fn reader(service: &Arc<Service>, source: SourceUrl) -> Reader<Logged> {
    let status = service.sources.add(source.to_string());
    Reader::new(Logged { service: service.clone(), name: source.position_name(), status }, source)
}

/// The log, which stores each chunk with the position after it in one transaction.
pub(super) struct Logged {
    service: Arc<Service>,
    /// The name of the position.
    name: String,
    /// Its number in the list of sources.
    status: usize,
}

impl Destination for Logged {
    fn position(&self) -> Result<Option<String>> {
        self.service.log.source(&self.name)
    }

    async fn store<F: Feed>(&self, read: ReadLines<F>) -> Result<()> {
        let position =
            serde_json::to_string(&read.after).map_err(|error| Error::Failed(error.to_string()))?;
        let position = SourcePosition { name: self.name.clone(), position };
        append(&self.service, &read.chunk, Some(&position)).await
    }

    async fn stopping(&self) {
        self.service.lifecycle.stopping().await;
    }

    fn update(&self, change: impl FnOnce(&mut SourceStatus)) {
        self.service.sources.update(self.status, change);
    }

    fn tell(&self, problem: &str) {
        self.service.events.send("problem", &json!({ "message": problem }));
    }

    fn limits(&self) -> (InvalidUtf8, &ServeSettings) {
        let Service { settings, model, .. } = &*self.service;
        (model.text.invalid_utf8, settings)
    }
}
