//! Uploads of text.

use std::convert::Infallible;
use std::io::Write;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, Method, Request, header};
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::{StreamExt, stream};
use jiff::Timestamp;
use serde_json::{Value, json};
use skipstream::{Embeddings, Progress, Totals};
use skipstream_server::{Published, Seen};
use tokio::time::{sleep, timeout};

use crate::client::{Answer, Client, WRITE, request};

const PLAIN: &str = "text/plain";
const NDJSON: &str = "application/x-ndjson";

fn text(body: impl Into<Body>, content_type: &str) -> Request<Body> {
    with(request(Method::POST, "/v1/text", body.into()), header::CONTENT_TYPE, content_type)
}

fn with(mut request: Request<Body>, name: HeaderName, value: &str) -> Request<Body> {
    request.headers_mut().insert(name, value.parse().unwrap());
    request
}

fn keyed(body: &'static str, key: &str) -> Request<Body> {
    with(text(body, PLAIN), HeaderName::from_static("idempotency-key"), key)
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

impl Client {
    /// All lines of the log.
    fn logged(&self) -> Vec<String> {
        self.logged_with_times().into_iter().map(|(line, _)| line).collect()
    }

    fn logged_with_times(&self) -> Vec<(String, Option<Timestamp>)> {
        let mut reader = self.service.log.reader(1).unwrap();
        let mut lines = Vec::new();
        while let Some(logged) = reader.read().unwrap() {
            let text = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
            lines.extend(logged.chunk.iter().map(|(line, time, _)| (text(line), time)));
        }
        lines
    }

    async fn send_text(&self, body: impl Into<Body>) -> Answer {
        self.send(text(body, PLAIN)).await
    }

    /// Publishes a version that contains all lines up to this one.
    fn learn(&self, seq: u64) {
        let now = Timestamp::now();
        let embeddings = Embeddings::new(1, [("tea", 1)], vec![1.0]).unwrap();
        let progress = Progress { tokens: 1, totals: Totals::default(), vocabulary: 1, evictions: 0 };
        let seen = vec![Seen { first: now, last: now }];
        self.service.publish(Published::new(seq, now, embeddings, seen, progress));
    }
}

fn accepted(first: u64, last: u64, lines: u64) -> Value {
    json!({"first": first, "last": last, "lines": lines})
}

#[tokio::test]
async fn prose_that_is_split_at_white_space_is_pointed_out() {
    let prose = "The Dog, however, barked; my dog didn't. So it goes!\n";
    let client = Client::new();
    let answer = client.send_text("the dog however barked\n".repeat(5)).await.good();
    assert_eq!(answer.get("warning"), None);
    assert_eq!(client.get("/v1/stats").await.good()["warning"], Value::Null);
    let answer = client.send_text(prose.repeat(20)).await.good();
    let warning = answer["warning"].as_str().unwrap();
    assert!(warning.contains("looks like prose") && warning.contains("--text prose"), "{warning}");
    assert_eq!(client.get("/v1/stats").await.good()["warning"], warning);
    let records: String = (0..20).map(|_| json!({"text": prose.trim()}).to_string() + "\n").collect();
    assert!(Client::new().send(text(records, NDJSON)).await.good()["warning"].is_string());

    let chosen = Client::with(|settings| settings.text_is_chosen = true);
    assert_eq!(chosen.send_text(prose.repeat(20)).await.good().get("warning"), None);
}

#[tokio::test]
async fn put_works_like_post() {
    let client = Client::new();
    let answer = client.send(request(Method::PUT, "/v1/text", "one two\nthree\n".into())).await;
    assert_eq!(answer.good()["last"], 2);
    assert_eq!(client.logged(), ["one two", "three"]);
}

#[tokio::test]
async fn lines_are_numbered_and_logged_as_they_are() {
    let client = Client::new();
    let answer = client.send_text("tea with milk\r\n\ncof\0fee").await.good();
    assert_eq!(answer, json!({"first": 1, "last": 3, "seq": 3, "lines": 3, "learned": true}));
    let answer = client.send_text("\u{feff}four\n").await.good();
    assert_eq!((&answer["first"], &answer["last"]), (&json!(4), &json!(4)));
    assert_eq!(client.logged(), ["tea with milk", "", "cof\0fee", "four"]);
}

#[tokio::test]
async fn an_empty_body_is_no_line() {
    let client = Client::new();
    client.send_text("one\n").await.good();
    let answer = client.send_text("").await.good();
    assert_eq!(answer, json!({"first": null, "last": null, "seq": 1, "lines": 0, "learned": true}));
}

#[tokio::test]
async fn the_default_content_types_of_curl_mean_plain_text() {
    let client = Client::new();
    for content_type in
        ["application/x-www-form-urlencoded", "application/octet-stream", "text/plain; charset=utf-8"]
    {
        client.send(text("a=b&c\n", content_type)).await.good();
    }
    client.send(request(Method::POST, "/v1/text", Body::from("no type"))).await.good();
    assert_eq!(client.logged(), ["a=b&c", "a=b&c", "a=b&c", "no type"]);
    let answer = client.send(text("{}", "application/json")).await;
    answer.assert_refused(415, "unsupported-type", "text/plain");
    let answer = client.send(with(text("x", PLAIN), header::CONTENT_ENCODING, "br")).await;
    answer.assert_refused(415, "unsupported-encoding", "gzip");
}

#[tokio::test]
async fn ndjson_has_texts_and_times() {
    let client = Client::new();
    let body = "{\"text\": \"tea\", \"time\": \"2026-11-15T20:00:00Z\", \"more\": {}}\n\n{\"text\": \"a\\nb\"}\n{\"time\": 7.5, \"text\": \"c\"}";
    let answer = client.send(text(body, NDJSON)).await.good();
    assert_eq!(answer["lines"], 4);
    let lines = client.logged_with_times();
    assert_eq!(lines.iter().map(|line| line.0.as_str()).collect::<Vec<_>>(), ["tea", "", "a b", "c"]);
    assert_eq!(lines[0].1, Some("2026-11-15T20:00:00Z".parse().unwrap()));
    assert_eq!(lines[3].1, Some("1970-01-01T00:00:07.5Z".parse().unwrap()));
}

#[tokio::test]
async fn an_error_names_the_line_and_the_accepted_lines() {
    let client = Client::new();
    let answer = client.send(text("{\"text\": \"a\"}\n{\"txt\": \"b\"}\n", NDJSON)).await;
    answer.assert_refused(400, "bad-record", "line 2: missing field `text`");
    assert_eq!(answer.json()["error"]["accepted"], Value::Null);
    assert!(client.logged().is_empty());

    // Chunks that were full are logged by then.
    let mut body = "{\"text\": \"word word word\"}\n".repeat(30_000);
    body.push_str("oops\n");
    let pieces: Vec<_> = body.into_bytes().chunks(50_000).map(Bytes::copy_from_slice).collect();
    let body = Body::from_stream(stream::iter(pieces).map(Ok::<_, Infallible>));
    let answer = client.send(text(body, NDJSON)).await;
    answer.assert_refused(400, "bad-record", "line 30001: expected");
    let lines = client.logged().len() as u64;
    assert!((1..30_000).contains(&lines), "{lines}");
    assert_eq!(answer.json()["error"]["accepted"], accepted(1, lines, lines));
}

#[tokio::test]
async fn compressed_text_is_decompressed_and_a_damaged_one_refused() {
    let client = Client::new();
    let zipped = gzip(&b"tea with milk\n".repeat(1000));
    let send = |bytes: Vec<u8>| client.send(with(text(bytes, PLAIN), header::CONTENT_ENCODING, "gzip"));
    assert_eq!(send(zipped.clone()).await.good()["lines"], 1000);
    let cut = send(zipped[..zipped.len() - 5].to_vec()).await;
    cut.assert_refused(400, "bad-gzip", "the gzip data is corrupt");
    send(b"plain".to_vec()).await.assert_refused(400, "bad-gzip", "line 1: the gzip data is corrupt");
    assert_eq!(client.logged().len(), 1000);
}

#[tokio::test]
async fn a_body_that_is_not_text_is_refused() {
    let client = Client::new();
    let program = [b"\x7FELF\x02\x01\x01", &[0; 100][..]].concat();
    client.send_text(program.clone()).await.assert_refused(
        415,
        "binary",
        "the body is an ELF program or library",
    );
    let model = client.service.settings.data.join("vectors.safetensors");
    client.service.published().embeddings.save(&model).unwrap();
    client.send_text(std::fs::read(&model).unwrap()).await.assert_refused(415, "binary", "a model");
    let zipped = gzip(b"tea with milk\n");
    client.send_text(zipped.clone()).await.assert_refused(415, "binary", "needs the header Content-Encoding");
    let twice = client.send(with(text(gzip(&zipped), PLAIN), header::CONTENT_ENCODING, "gzip")).await;
    twice.assert_refused(415, "binary", "gzip data");
    assert!(client.logged().is_empty());
    let forced = request(Method::POST, "/v1/text?force_text=true", Body::from(program));
    assert_eq!(client.send(forced).await.good()["lines"], 1);
    let wrong = request(Method::POST, "/v1/text?force_text=yes", Body::from("tea"));
    client.send(wrong).await.assert_refused(400, "bad-query", "force_text");
}

#[tokio::test]
async fn limits_apply_after_decompression() {
    let client = Client::with(|settings| {
        settings.max_body_size = 1_000;
        settings.max_line_size = 10;
    });
    client.send_text("1234567890\n").await.good();
    client.send_text("a\n12345678901\n").await.assert_refused(
        413,
        "line-too-long",
        "line 2 is longer than 10 bytes",
    );
    let answer = client.send_text("123456789\n".repeat(101)).await;
    answer.assert_refused(413, "too-large", "larger than 1000 bytes");
    let bomb = gzip(&vec![b'\n'; 50_000_000]);
    let answer = client.send(with(text(bomb, PLAIN), header::CONTENT_ENCODING, "gzip")).await;
    answer.assert_refused(413, "too-large", "larger than 1000 bytes");
    assert_eq!(client.logged(), ["1234567890"]);
}

#[tokio::test]
async fn a_retry_is_logged_once() {
    let client = Client::new();
    let first = client.send(keyed("one\ntwo\n", "monday")).await.good();
    client.send_text("between\n").await.good();
    let second = client.send(keyed("one\ntwo\n", "monday")).await.good();
    assert_eq!(first, second);
    client.send(keyed("one\nthree\n", "monday")).await.assert_refused(409, "key-conflict", "monday");
    client.send(keyed("one\n", "monday")).await.assert_refused(409, "key-conflict", "monday");
    for wrong in ["", "a b", &"x".repeat(256)] {
        client.send(keyed("one\n", wrong)).await.assert_refused(
            400,
            "bad-request",
            "Idempotency-Key must be",
        );
    }
    assert_eq!(client.logged(), ["one", "two", "between"]);
}

#[tokio::test]
async fn a_full_queue_sends_text_away() {
    let client = Client::with(|settings| settings.queue_size = 100);
    client.send_text("x".repeat(80)).await.good();
    let answer = client.send_text("y".repeat(80)).await;
    answer.assert_refused(429, "queue-full", "the queue is full");
    assert!(answer.headers[header::RETRY_AFTER].to_str().unwrap().parse::<u64>().unwrap() >= 1);
    assert_eq!(answer.json()["error"]["accepted"], Value::Null);
    assert_eq!(client.logged().len(), 1);
}

#[tokio::test]
async fn lines_can_be_waited_for() {
    let client = Client::new();
    for number in 1..=8 {
        client.send_text(format!("line {number}\n")).await.good();
    }
    // Up to 7 is learned.
    assert_eq!(client.get("/v1/text/7/wait").await.good()["learned"], true);
    let answer = client.get("/v1/text/8/wait?timeout=0").await;
    assert_eq!((answer.status.as_u16(), &answer.json()["learned"]), (202, &json!(false)));
    for never in ["/v1/text/9/wait", "/v1/text/0/wait"] {
        client.get(never).await.assert_refused(404, "unknown-line", "the last line is 8");
    }
    client.get("/v1/text/many/wait").await.assert_refused(400, "bad-path", "is not a whole number");
    client.get("/v1/text/-1/wait").await.assert_refused(400, "bad-path", "is not a whole number");
    client.get("/v1/text/1/wait?timeout=3601").await.assert_refused(400, "bad-query", "from 0 to 3600");

    let (answer, ()) = tokio::join!(client.get("/v1/text/8/wait"), async { client.learn(8) });
    assert_eq!(answer.good()["snapshot"]["seq"], 8);
    let waiting =
        with(request(Method::POST, "/v1/text?wait=learned", Body::from("nine")), header::CONTENT_TYPE, PLAIN);
    let learning = async {
        while client.service.log.last() < 9 {
            tokio::task::yield_now().await;
        }
        client.learn(9);
    };
    let (answer, ()) = tokio::join!(client.send(waiting), learning);
    assert_eq!(answer.good()["learned"], true);
}

#[tokio::test]
async fn a_broken_or_stalled_upload_reports_the_accepted_lines() {
    let client = Client::with(|settings| settings.request_timeout = Duration::from_millis(5));
    let broken = stream::iter([Ok(Bytes::from("one\ntwo\n")), Err(std::io::Error::other("reset"))]);
    let answer = client.send_text(Body::from_stream(broken)).await;
    answer.assert_refused(400, "broken-body", "line 3: the connection broke");
    assert_eq!(answer.json()["error"]["accepted"], Value::Null);

    // What came is logged before the patience is at its end.
    let stalled = stream::iter([Ok::<_, Infallible>(Bytes::from("one\ntwo\nthr"))]).chain(stream::pending());
    let answer = client.send_text(Body::from_stream(stalled)).await;
    answer.assert_refused(408, "stalled", "line 3: no data for");
    assert_eq!(answer.json()["error"]["accepted"], accepted(1, 2, 2));
    assert_eq!(client.logged(), ["one", "two"]);
}

#[tokio::test]
async fn a_service_that_stops_takes_no_text() {
    let client = Client::new();
    client.service.stop();
    client.send_text("one\n").await.assert_refused(503, "stopping", "the service is stopping");
}

#[tokio::test]
async fn an_upload_that_never_pauses_is_logged_while_it_arrives_and_when_the_service_stops() {
    let client = Client::new();
    let lines = stream::unfold(1, |number| async move {
        sleep(Duration::from_millis(20)).await;
        Some((Ok::<_, Infallible>(Bytes::from(format!("line {number}\n"))), number + 1))
    });
    let stop = async {
        while client.service.log.last() == 0 {
            sleep(Duration::from_millis(5)).await;
        }
        client.service.stop();
    };
    let both = async { tokio::join!(client.send_text(Body::from_stream(lines)), stop) };
    let (answer, ()) = timeout(Duration::from_secs(60), both).await.expect("no chunk is full after a minute");
    answer.assert_refused(503, "stopping", "the service is stopping");
    let logged = client.logged();
    assert_eq!(logged[0], "line 1");
    assert_eq!(answer.json()["error"]["accepted"], accepted(1, logged.len() as u64, logged.len() as u64));
}

#[tokio::test]
async fn an_upload_ends_when_its_token_is_revoked() {
    let client = Client::with_tokens();
    let begun = stream::iter([Ok::<_, Infallible>(Bytes::from("one\ntwo\n"))]);
    let body = Body::from_stream(begun.chain(stream::pending()));
    let upload = with(text(body, PLAIN), header::AUTHORIZATION, &format!("Bearer {WRITE}"));
    let revoke = async {
        while client.service.log.last() < 2 {
            sleep(Duration::from_millis(5)).await;
        }
        std::fs::write(client.service.settings.data.join("tokens"), "# nobody\n").unwrap();
    };
    let (answer, ()) = tokio::join!(client.send(upload), revoke);
    answer.assert_refused(401, "unauthorized", "revoked");
    assert_eq!(answer.json()["error"]["accepted"], accepted(1, 2, 2));
}
