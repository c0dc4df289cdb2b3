//! Sends messages to NATS JetStream (`nats.rs`) or Kafka (`kafka.rs`), each at least once.
//!
//! An event is stored in the log as soon as it happens, and deleted when the broker has confirmed it. So neither a crash nor a
//! broker that is away loses one. Its id lets a reader recognize an event that comes twice.
//!
//! The vectors of watched words are a state, not events. When all events are sent, those of the newest published version
//! follow; if the broker was away, the versions in between are skipped.

mod kafka;
mod nats;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use jiff::Timestamp;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::broker::url::{Protocol, SinkUrl};
use crate::broker::{CONNECT_TIMEOUT, FIRST_PAUSE, LONGEST_PAUSE};
use crate::error::{Error, Result};
use crate::events::{Event, Listener, Received};
use crate::log::{Message, Outbox};
use crate::published::{Published, PublishedInfo, Seq};
use crate::service::Service;
use crate::sink_status::{SinkState, SinkStatus};

/// Messages that are sent together.
const BATCH: usize = 100;

/// How long the broker may take to confirm them.
const SEND_TIMEOUT: Duration = Duration::from_secs(20);

/// Delay before events are stored again, after that has failed.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// A connection to a broker.
trait Connection: Sized {
    async fn open(url: &SinkUrl) -> std::result::Result<Self, String>;

    /// Sends messages in order, and returns when the broker has stored them.
    async fn send(&self, messages: &[Outgoing]) -> std::result::Result<(), String>;
}

/// A message to send.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Outgoing {
    message: Message,
    /// The word of a vector, by which Kafka can keep the newest one only.
    key: Option<String>,
}

/// The vector of a watched word.
#[derive(Serialize)]
struct WatchedVector<'a> {
    word: &'a str,
    /// The last line that the published version has learned.
    seq: Seq,
    count: u64,
    vector: &'a [f32],
}

/// Starts a thread that sends messages until the service stops.
pub fn start(service: &Arc<Service>, url: &str) -> Result<JoinHandle<()>> {
    let sender = Sender::new(service.clone(), SinkUrl::parse(url)?)?;
    service.lifecycle.spawn_async("sink", move || async move {
        match sender.url.broker.protocol {
            Protocol::Nats => sender.run::<nats::Nats>().await,
            Protocol::Kafka => sender.run::<kafka::Kafka>().await,
        }
    })
}

struct Sender {
    service: Arc<Service>,
    url: SinkUrl,
    listener: Listener,
    /// Notified when events were stored.
    stored: Notify,
}

impl Sender {
    /// A reader should know the version that the service starts with, even if nothing is published after it.
    fn new(service: Arc<Service>, url: SinkUrl) -> Result<Sender> {
        let too_many = || Error::Failed("too many clients listen to events".to_owned());
        let listener = service.events.listen(None, Ipv4Addr::UNSPECIFIED.into()).ok_or_else(too_many)?;
        service.sink.add(url.to_string());
        service.events.send("published", &PublishedInfo::from(&*service.published()));
        Ok(Sender { service, url, listener, stored: Notify::new() })
    }

    async fn run<C: Connection>(self) {
        let Sender { service, url, listener, stored } = self;
        let stopping = service.lifecycle.stopping();
        let deliver = async {
            tokio::select! {
                biased;
                () = stopping => {}
                () = deliver_always::<C>(&service, &url, &stored) => {}
            }
        };
        tokio::join!(store(&service, listener, &stored), deliver);
    }
}

/// Stores events until the service stops.
async fn store(service: &Service, mut listener: Listener, stored: &Notify) {
    loop {
        listener.wait().await;
        let is_stopping = service.is_stopping();
        // From here to the disk, so that no word is stored after it was forgotten.
        let reporting = service.reporting.lock().await;
        let position = listener.position();
        let (mut messages, mut missed) = (Vec::new(), 0);
        while let Some(received) = listener.try_next() {
            match received {
                Received::Event(event) => messages.push(message_of(&event)),
                Received::Missed(n) => missed += n.unwrap_or(0),
            }
        }
        let added =
            if messages.is_empty() { Ok(None) } else { service.log.add_messages(messages).await.map(Some) };
        drop(reporting);
        match added {
            Ok(outbox) => {
                service.sink.update(|status| status.dropped += missed);
                if let Some(outbox) = outbox {
                    update_outbox(service, outbox);
                }
                stored.notify_one();
            }
            Err(error) => {
                tracing::warn!(%error, "cannot store events for the broker");
                listener.return_to(position);
                let _ = timeout(RETRY_AFTER, service.lifecycle.stopping()).await;
            }
        }
        if is_stopping {
            return;
        }
    }
}

/// Sends what is stored, and waits for a broker that is away.
async fn deliver_always<C: Connection>(service: &Service, url: &SinkUrl, stored: &Notify) {
    let mut wait = FIRST_PAUSE;
    loop {
        let start = Instant::now();
        let Err(problem) = deliver::<C>(service, url, stored).await;
        if start.elapsed() >= LONGEST_PAUSE {
            wait = FIRST_PAUSE;
        }
        report(service, url, problem);
        tokio::time::sleep(wait).await;
        wait = (2 * wait).min(LONGEST_PAUSE);
    }
}

/// Sends until something goes wrong.
async fn deliver<C: Connection>(
    service: &Service,
    url: &SinkUrl,
    stored: &Notify,
) -> std::result::Result<Infallible, String> {
    let opened = timeout(CONNECT_TIMEOUT, C::open(url)).await;
    let connection = opened.map_err(|_| "the broker does not answer".to_owned())??;
    let outbox = service.log.outbox().map_err(|error| error.without_path())?;
    let mut publications = service.publications();
    publications.mark_changed();
    loop {
        let waiting = outbox.read(BATCH).map_err(|error| error.without_path())?;
        if let Some((last, _)) = waiting.last() {
            let last = *last;
            let messages = waiting.into_iter().map(|(_, message)| Outgoing { message, key: None }).collect();
            send(service, &connection, messages).await?;
            let outbox = service.log.delivered(last).await.map_err(|error| error.without_path())?;
            update_outbox(service, outbox);
            continue;
        }
        if publications.has_changed().unwrap_or(false) {
            let published = publications.borrow_and_update().clone();
            let words = service.watch.words();
            for words in words.chunks(BATCH) {
                send(service, &connection, vectors(words, &published)).await?;
            }
        }
        note_sending(service, url);
        tokio::select! {
            () = stored.notified() => {}
            _ = publications.changed() => publications.mark_changed(),
        }
    }
}

async fn send<C: Connection>(
    service: &Service,
    connection: &C,
    messages: Vec<Outgoing>,
) -> std::result::Result<(), String> {
    let sent = timeout(SEND_TIMEOUT, connection.send(&messages)).await;
    sent.map_err(|_| "the broker does not confirm messages".to_owned())??;
    service.sink.update(|status| status.messages += messages.len() as u64);
    Ok(())
}

/// Everything was sent.
fn note_sending(service: &Service, url: &SinkUrl) {
    service.sink.update(|status| {
        if status.state != SinkState::Sending {
            tracing::info!(sink = %url, "sending events");
        }
        (status.state, status.problem) = (SinkState::Sending, None);
    });
}

fn message_of(Event { id, name, time, data }: &Event) -> Message {
    Message {
        id: id.to_string(),
        name: (*name).to_owned(),
        body: envelope(&id.to_string(), name, *time, data),
    }
}

/// The messages of the words that have a vector.
fn vectors(words: &[String], published: &Published) -> Vec<Outgoing> {
    let Published { seq, time, embeddings, .. } = published;
    let outgoing = |word: &String| {
        let row = embeddings.index_of(word)?;
        let vector = embeddings.vector_at(row);
        let data = WatchedVector { word, seq: *seq, count: embeddings.count(row), vector: &vector };
        let data = serde_json::to_string(&data).ok()?;
        // Headers of NATS have no special characters.
        let id = format!("{time}-{}", utf8_percent_encode(word, NON_ALPHANUMERIC));
        let body = envelope(&id, "vector", *time, &data);
        Some(Outgoing { message: Message { id, name: "vector".to_owned(), body }, key: Some(word.clone()) })
    };
    words.iter().filter_map(outgoing).collect()
}

/// The JSON of a message. No part but the data needs an escape.
fn envelope(id: &str, name: &str, time: Timestamp, data: &str) -> String {
    format!(r#"{{"id":"{id}","event":"{name}","time":"{time}","data":{data}}}"#)
}

fn update_outbox(service: &Service, outbox: Outbox) {
    if outbox.dropped > 0 {
        tracing::warn!(events = outbox.dropped, "too many events wait for the broker: dropping the oldest");
    }
    service.sink.update(|status| {
        status.waiting = outbox.waiting;
        status.dropped += outbox.dropped;
    });
}

/// Shows a problem, and reports it if it is new.
fn report(service: &Service, url: &SinkUrl, problem: String) {
    let mut is_new = false;
    service.sink.update(|status: &mut SinkStatus| {
        is_new = status.problem.as_ref() != Some(&problem);
        (status.state, status.problem) = (SinkState::Waiting, Some(problem.clone()));
    });
    if is_new {
        tracing::warn!(sink = %url, problem, "the sink is waiting");
        service.events.send("problem", &json!({ "message": format!("{url}: {problem}") }));
    }
}
