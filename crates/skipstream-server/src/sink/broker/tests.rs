//! The sink with a broker that follows a script. `cargo xtask torture brokers` kills real ones.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::PoisonError;

use skipstream::{Config, Trainer};
use tempfile::TempDir;

use super::*;
use crate::forgotten::Forgotten;
use crate::learn::Model;
use crate::log::Log;
use crate::settings::ServeSettings;

/// What brokers have, by their name. A name says what happens: `away` fails the first two times that it is sent something.
static RECEIVED: Mutex<Option<HashMap<String, Vec<Outgoing>>>> = Mutex::new(None);
static ATTEMPTS: Mutex<u32> = Mutex::new(0);

struct Scripted(String);

impl Connection for Scripted {
    async fn open(url: &SinkUrl) -> std::result::Result<Scripted, String> {
        match url.name.as_str() {
            "never" => Err("nobody answers".to_owned()),
            name => Ok(Scripted(name.to_owned())),
        }
    }

    async fn send(&self, messages: &[Outgoing]) -> std::result::Result<(), String> {
        let mut attempts = ATTEMPTS.lock().unwrap();
        if self.0 == "away" && *attempts < 2 {
            *attempts += 1;
            return Err("gone".to_owned());
        }
        let mut received = RECEIVED.lock().unwrap_or_else(PoisonError::into_inner);
        let received = received.get_or_insert_default().entry(self.0.clone()).or_default();
        received.extend(messages.iter().cloned());
        Ok(())
    }
}

fn received(name: &str) -> Vec<Outgoing> {
    let received = RECEIVED.lock().unwrap_or_else(PoisonError::into_inner);
    received.as_ref().and_then(|received| received.get(name)).cloned().unwrap_or_default()
}

/// The kinds and data of the events that a broker has, without `published`.
fn events(name: &str) -> Vec<(String, serde_json::Value)> {
    let read = |outgoing: Outgoing| {
        let body: serde_json::Value = serde_json::from_str(&outgoing.message.body).unwrap();
        assert_eq!(body["id"], outgoing.message.id.as_str());
        assert_eq!(body["event"], outgoing.message.name.as_str());
        assert!(body["time"].as_str().unwrap().parse::<Timestamp>().is_ok());
        (outgoing.message.name, body["data"].clone())
    };
    received(name).into_iter().map(read).filter(|(name, _)| name != "published").collect()
}

/// A service that has learned three words and learns no more.
fn service(data: &TempDir, watch: &[&str]) -> Arc<Service> {
    let settings = ServeSettings {
        data: data.path().to_owned(),
        watch: watch.iter().map(|&word| word.to_owned()).collect(),
        ..ServeSettings::default()
    };
    let log = Log::open(&settings.data, settings.queue_size).unwrap();
    let mut trainer = Trainer::new(Config { dimensions: 2, ..Config::default() }).unwrap();
    trainer.train(["tea milk sugar".split(' ').collect::<Vec<_>>()]).unwrap();
    let model = TempDir::new().unwrap();
    let first_log = Log::open(model.path(), 1).unwrap();
    let first = Model::create(model.path(), trainer, &first_log).unwrap();
    let first = first.published(settings.vectors).unwrap();
    Service::new(settings, log, first, Config::default(), 0)
}

/// Runs the sink while something happens, until a condition holds, and stops the service.
async fn run(
    service: Arc<Service>,
    name: &str,
    happens: impl FnOnce(&Service),
    until: impl Fn(&SinkStatus) -> bool,
) -> SinkStatus {
    let url = SinkUrl::parse(&format!("nats://h/{name}")).unwrap();
    let sender = Sender::new(service.clone(), url).unwrap();
    let reached = async {
        happens(&service);
        while !until(&service.sink.status().unwrap()) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        service.stop();
    };
    tokio::join!(sender.run::<Scripted>(), reached);
    service.sink.status().unwrap()
}

fn all_sent(status: &SinkStatus) -> bool {
    status.state == SinkState::Sending && status.waiting == 0
}

#[tokio::test]
async fn events_and_watched_vectors_are_sent() {
    let data = TempDir::new().unwrap();
    let service = service(&data, &["tea", "coffee"]);
    let happens = |service: &Service| service.events.send("arrived", &["ink"]);
    let sent = |status: &SinkStatus| all_sent(status) && events("both").len() == 2;
    let status = run(service.clone(), "both", happens, sent).await;
    assert_eq!((status.messages, status.dropped, status.problem), (3, 0, None));
    let events: HashMap<String, serde_json::Value> = events("both").into_iter().collect();
    assert_eq!(events["arrived"], json!(["ink"]));
    let vector = &events["vector"];
    assert_eq!((&vector["word"], &vector["count"]), (&json!("tea"), &json!(1)));
    let numbers: Vec<f32> = serde_json::from_value(vector["vector"].clone()).unwrap();
    assert_eq!(numbers, *service.published().embeddings.vector("tea").unwrap());
    let keys = received("both").into_iter().map(|sent| (sent.message.name, sent.key));
    let keys: HashMap<String, Option<String>> = keys.collect();
    assert_eq!((&keys["vector"], &keys["arrived"]), (&Some("tea".to_owned()), &None));
    assert_eq!(keys["published"], None, "what the service starts with");
}

#[tokio::test]
async fn a_broker_that_is_away_gets_everything_later_and_once() {
    let data = TempDir::new().unwrap();
    let happens = |service: &Service| (0..250).for_each(|number| service.events.send("arrived", &number));
    let sent = |status: &SinkStatus| all_sent(status) && events("away").len() >= 251;
    run(service(&data, &[]), "away", happens, sent).await;
    let arrived: Vec<_> = events("away").into_iter().filter(|(name, _)| name == "arrived").collect();
    assert!(arrived.iter().map(|(_, data)| data.as_u64().unwrap()).eq(0..250));
    assert!(events("away").iter().any(|(name, _)| name == "problem"));
}

#[tokio::test]
async fn events_outlive_the_process() {
    let data = TempDir::new().unwrap();
    let happens = |service: &Service| (0..3).for_each(|number| service.events.send("arrived", &number));
    let stored = |status: &SinkStatus| status.waiting >= 4 && status.state == SinkState::Waiting;
    let status = run(service(&data, &[]), "never", happens, stored).await;
    assert_eq!(status.problem.as_deref(), Some("nobody answers"));
    let sent = |status: &SinkStatus| all_sent(status) && events("restarted").len() >= 3;
    run(service(&data, &[]), "restarted", |_| {}, sent).await;
    let arrived = events("restarted").into_iter().filter(|(name, _)| name == "arrived");
    assert!(arrived.map(|(_, data)| data.as_u64().unwrap()).eq(0..3));
    let mut ids: Vec<String> = received("restarted").into_iter().map(|sent| sent.message.id).collect();
    let n = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), n, "ids of two starts differ");
}

#[tokio::test]
async fn a_forgotten_word_is_not_sent_and_not_on_disk() {
    let data = TempDir::new().unwrap();
    let service = service(&data, &[]);
    let happens = |service: &Service| {
        service.events.send("arrived", &["secretname", "ink"]);
        service.events.send("arrived", &["secretnames"]);
    };
    run(service.clone(), "never", happens, |status| status.waiting >= 3).await;
    let log = service.clone();
    let forgotten = Forgotten { words: vec!["secretname".to_owned()], in_phrases: false };
    let purged = tokio::task::spawn_blocking(move || log.log.purge(0, 0, forgotten));
    purged.await.unwrap().unwrap();
    let waiting = service.log.outbox().unwrap().read(100).unwrap();
    let bodies: Vec<&str> = waiting.iter().map(|(_, message)| message.body.as_str()).collect();
    assert!(bodies.iter().any(|body| body.contains("secretnames")));
    drop(service);
    for file in data.path().read_dir().unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(memchr::memmem::find(&bytes, b"\"secretname\"").is_none());
    }
}
