//! The loop that reads a broker, with a broker that follows a script. `cargo xtask torture brokers` kills real ones.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use skipstream::corpus::{Ledger, Read, Sentence, Source, TextOptions};
use tempfile::TempDir;

use super::*;
use crate::service::Service;
use crate::settings::ServeSettings;
use crate::source_status::{SourceState, SourceStatus};
use crate::sources::tests::service;

/// A broker with the messages 1 to 9, of which it may have deleted some. Its name says what happens.
struct Scripted {
    next: u64,
    /// How many messages it gives at a time.
    together: u64,
}

static ATTEMPTS: AtomicU64 = AtomicU64::new(0);

impl Feed for Scripted {
    type Position = u64;

    async fn open(source: &SourceUrl, position: Option<u64>) -> Result<Scripted, Failure<u64>> {
        let next = position.unwrap_or(1);
        match source.stream.as_str() {
            "away" if ATTEMPTS.fetch_add(1, Ordering::Relaxed) < 2 => Err(Failure::Away("gone".to_owned())),
            "lossy" if next < 5 => {
                Err(Failure::Lost { n: 5 - next, what: "four are lost".to_owned(), next: 5 })
            }
            "changed" if position.is_some() => Err(Failure::Changed("it is another".to_owned())),
            "several" => Ok(Scripted { next, together: 2 }),
            _ => Ok(Scripted { next, together: 1 }),
        }
    }

    async fn next(&mut self) -> Result<Batch, Failure<u64>> {
        if self.next > 9 {
            std::future::pending::<()>().await;
        }
        let offsets = self.next..(self.next + self.together).min(10);
        self.next = offsets.end;
        let message = |offset| {
            // One is invalid, and others have several lines if they are not JSON.
            let payload = match (offset, self.together) {
                (7, _) => "7".to_owned(),
                (_, 1) => format!(r#"{{"text": "m{offset}"}}"#),
                _ => format!("m{offset}\n\nand\nmore {offset}\n"),
            };
            let time = Timestamp::from_second(offset as i64).ok();
            Message { id: MessageId { partition: None, offset, time }, payload: Bytes::from(payload) }
        };
        Ok(Batch { lag: Some(10 - self.next), messages: offsets.map(message).collect() })
    }

    fn position(&self) -> &u64 {
        &self.next
    }

    fn advance(position: &mut u64, message: &MessageId) {
        *position = message.offset + 1;
    }
}

/// Reads until a condition holds, and returns the lines and the state of the source.
async fn read(
    data: &TempDir,
    url: &str,
    until: impl Fn(&Service, &SourceStatus) -> bool,
) -> (String, SourceStatus) {
    let service = service(ServeSettings { data: data.path().to_owned(), ..ServeSettings::default() });
    let reader = logged::reader(&service, SourceUrl::parse(url).unwrap());
    let reached = async {
        while !until(&service, &service.sources.list()[0]) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        service.stop();
    };
    tokio::join!(reader.run::<Scripted>(), reached);
    let mut lines = Vec::new();
    let mut reader = service.log.reader(1).unwrap();
    while let Some(logged) = reader.read().unwrap() {
        lines.extend(logged.chunk.iter().map(|(line, ..)| String::from_utf8(line.to_vec()).unwrap()));
    }
    (lines.join(" "), service.sources.list().remove(0))
}

fn is_read(service: &Service, status: &SourceStatus) -> bool {
    service.log.last() >= 8 && status.lag == Some(0)
}

#[tokio::test]
async fn messages_are_logged_once_across_restarts() {
    let data = TempDir::new().unwrap();
    let url = "nats://h/plain?field=text";
    let (lines, status) = read(&data, url, |service, _| service.log.last() >= 3).await;
    assert!(lines.starts_with("m1 m2 m3"), "{lines}");
    assert_eq!((status.state, status.problem), (SourceState::Reading, None));
    // Perhaps nothing is left to read, and then the lag stays unknown.
    let (lines, _) = read(&data, url, |service, _| service.log.last() >= 8).await;
    assert_eq!(lines, "m1 m2 m3 m4 m5 m6 m8 m9");
}

#[tokio::test]
async fn a_broker_that_is_away_is_awaited_and_an_invalid_message_is_skipped() {
    let (lines, status) = read(&TempDir::new().unwrap(), "nats://h/away?field=text", is_read).await;
    assert_eq!(lines, "m1 m2 m3 m4 m5 m6 m8 m9");
    assert_eq!((status.state, status.problem), (SourceState::Reading, None));
    assert_eq!((status.messages, status.invalid, status.lost), (8, 1, 0));
}

#[tokio::test]
async fn lost_messages_stop_the_source_until_the_url_says_to_go_on() {
    let data = TempDir::new().unwrap();
    let stopped = |_: &Service, status: &SourceStatus| status.state == SourceState::Stopped;
    let (lines, status) = read(&data, "nats://h/lossy?field=text", stopped).await;
    assert_eq!((lines.as_str(), status.lost), ("", 4));
    let problem = status.problem.unwrap();
    assert!(problem.starts_with("four are lost; restart with `lost=continue`"), "{problem}");
    let go_on = "nats://h/lossy?field=text&lost=continue";
    let (lines, status) = read(&data, go_on, |service, _| service.log.last() >= 4).await;
    assert_eq!((lines.as_str(), status.lost), ("m5 m6 m8 m9", 4));
}

#[tokio::test]
async fn another_stream_of_the_same_name_stops_the_source_and_another_name_reads_it() {
    let data = TempDir::new().unwrap();
    let url = "nats://h/changed?field=text";
    assert_eq!(read(&data, url, is_read).await.0, "m1 m2 m3 m4 m5 m6 m8 m9");
    let stopped = |_: &Service, status: &SourceStatus| status.state == SourceState::Stopped;
    let (lines, status) = read(&data, url, stopped).await;
    assert_eq!(lines.split(' ').count(), 8, "nothing is read again");
    assert!(status.problem.unwrap().starts_with("it is another; to read it from its start"));
    let (lines, _) = read(&data, &format!("{url}&name=new"), |service, _| service.log.last() >= 16).await;
    assert_eq!(lines.split(' ').count(), 16);
}

/// Two partitions of four messages with three lines. After each start, another partition comes first.
struct Paired {
    next: [u64; 2],
    first: usize,
}

static STARTS: AtomicU64 = AtomicU64::new(0);

impl Feed for Paired {
    type Position = [u64; 2];

    async fn open(_: &SourceUrl, position: Option<[u64; 2]>) -> Result<Paired, Failure<[u64; 2]>> {
        let first = STARTS.fetch_add(1, Ordering::Relaxed) as usize % 2;
        Ok(Paired { next: position.unwrap_or_default(), first })
    }

    async fn next(&mut self) -> Result<Batch, Failure<[u64; 2]>> {
        let partitions = [self.first, 1 - self.first];
        let Some(partition) = partitions.into_iter().find(|&partition| self.next[partition] < 4) else {
            return std::future::pending().await;
        };
        let offset = self.next[partition];
        self.next[partition] += 1;
        let id = MessageId { partition: Some(partition as i32), offset, time: None };
        let payload = ["a", "b", "c"].map(|line| format!("p{partition}o{offset}{line}\n")).concat();
        Ok(Batch { messages: vec![Message { id, payload: Bytes::from(payload) }], lag: None })
    }

    fn position(&self) -> &[u64; 2] {
        &self.next
    }

    fn advance(position: &mut [u64; 2], message: &MessageId) {
        position[message.partition.unwrap() as usize] = message.offset + 1;
    }
}

#[test]
fn a_trainer_resumes_in_the_middle_of_messages_of_several_partitions() {
    let learn = |ledger: &mut Ledger, most| learn_from::<Paired>("kafka://h/pair", ledger, most).0;
    let mut all = learn(&mut Ledger::default(), 24);
    all.sort_unstable();
    for cut in 0..12 {
        for part in 1..6 {
            let mut ledger = Ledger::default();
            let mut learned = learn(&mut ledger, cut);
            while learned.len() < 24 {
                let most = part.min(24 - learned.len());
                learned.extend(learn(&mut ledger, most));
            }
            learned.sort_unstable();
            assert_eq!(learned, all, "{cut}, {part}");
        }
    }
}

/// Reads at most this many sentences, or until the source stops, and records the position.
fn learn(url: &str, ledger: &mut Ledger, most: usize) -> (Vec<String>, Option<String>) {
    learn_from::<Scripted>(url, ledger, most)
}

fn learn_from<F: Feed>(url: &str, ledger: &mut Ledger, most: usize) -> (Vec<String>, Option<String>) {
    let source = SourceUrl::parse(url).unwrap();
    let mut messages = Messages::start_as::<F>(source, ledger, &TextOptions::default()).unwrap();
    let (mut learned, mut sentence, mut error) = (Vec::new(), Sentence::default(), None);
    while learned.len() < most && error.is_none() {
        match messages.read(&mut sentence) {
            Ok(Read::Sentence) => {
                let words = sentence.tokens().collect::<Vec<_>>().join(" ");
                if let Some(Ok(offset)) = words.strip_prefix('m').map(str::parse::<i64>) {
                    assert_eq!(sentence.time(), Some(1_000_000 * offset), "the time of the message");
                }
                learned.push(words);
            }
            Ok(_) => std::thread::sleep(Duration::from_millis(1)),
            Err(stopped) => error = Some(stopped.to_string()),
        }
    }
    messages.record_position(ledger);
    (learned, error)
}

#[test]
fn a_trainer_resumes_in_the_middle_of_messages_that_were_read_together() {
    let url = "nats://h/several";
    let (all, _) = learn(url, &mut Ledger::default(), 25);
    assert_eq!(all[..4], ["m1", "and", "more 1", "m2"]);
    assert_eq!(all[18..20], ["7", "m8"]);
    for cut in 0..25 {
        let mut ledger = Ledger::default();
        let (mut learned, _) = learn(url, &mut ledger, cut);
        // Saved again before there is anything new.
        learn(url, &mut ledger, 0);
        learned.extend(learn(url, &mut ledger, 1).0);
        learned.extend(learn(url, &mut ledger, 25 - learned.len()).0);
        assert_eq!(learned, all, "{cut}");
        let words = all.iter().map(|sentence| sentence.split(' ').count() as u64).sum::<u64>();
        assert_eq!(ledger.streams["nats:several"].words, words);
    }
}

#[test]
fn lost_messages_are_an_error_for_a_trainer_until_the_url_says_to_go_on() {
    let mut ledger = Ledger::default();
    let (learned, error) = learn("nats://h/lossy?field=text", &mut ledger, 9);
    assert_eq!((learned.len(), ledger.streams.len()), (0, 0));
    let error = error.unwrap();
    assert!(error.starts_with("nats://h:4222/lossy: four are lost; restart with `lost=continue`"), "{error}");
    let (learned, _) = learn("nats://h/lossy?field=text&lost=continue", &mut ledger, 4);
    assert_eq!(learned, ["m5", "m6", "m8", "m9"]);
}

#[test]
fn a_corrupt_position_in_a_model_is_refused() {
    let mut ledger = Ledger::default();
    let source = || SourceUrl::parse("nats://h/plain").unwrap();
    ledger.record_stream("nats:plain", "{".to_owned(), 0);
    let started = Messages::start_as::<Scripted>(source(), &ledger, &TextOptions::default());
    let error = started.err().unwrap().to_string();
    assert!(error.starts_with("nats://h:4222/plain: the position in the model is corrupt"), "{error}");
    ledger.record_stream("nats:plain", r#"{"position": "x"}"#.to_owned(), 0);
    let error = learn("nats://h/plain", &mut ledger, 1).1.unwrap();
    assert!(error.contains("the saved read position is corrupt"), "{error}");
}

#[test]
fn two_sources_with_one_position_are_refused() {
    let checked = |urls: [&str; 2]| check(&urls.map(str::to_owned));
    let error = checked(["nats://a/S", "nats://me:secret@b/S?field=x"]).unwrap_err().to_string();
    assert!(
        error.starts_with("two --source read nats://b:4222/S; if these are different streams"),
        "{error}"
    );
    for other in ["nats://a/S?name=other", "nats://a/S?subject=x", "kafka://a/S"] {
        checked(["nats://a/S", other]).unwrap();
    }
}
