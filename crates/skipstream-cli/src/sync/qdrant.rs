//! A collection of Qdrant, by its REST interface.

use std::env;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Error, anyhow};
use serde::Serialize;
use serde_json::{Value, json};
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};
use ureq::{Agent, http};

use super::address::QdrantAddress;
use super::store::{Failure, Outcome, Row, Store};
use super::tls;

/// The longest request. A server that works on one for longer is away.
const PATIENCE: Duration = Duration::from_secs(60);

/// Points of a page. Words are short, so this is a megabyte or less.
const PAGE: usize = 5_000;
const LONGEST_ANSWER: u64 = 64_000_000;

pub struct Qdrant {
    url: String,
    key: Option<String>,
    agent: Agent,
}

/// A point with the word and its digest.
#[derive(Serialize)]
struct Point<'a> {
    id: String,
    vector: &'a [f32],
    payload: Payload<'a>,
}

#[derive(Serialize)]
struct Payload<'a> {
    word: &'a str,
    count: u64,
    digest: String,
}

impl<'a> Point<'a> {
    fn of(row: &'a Row<'_>) -> Point<'a> {
        let payload = Payload { word: row.word, count: row.count, digest: hex(&row.digest) };
        Point { id: id(row.word), vector: &row.vector, payload }
    }
}

impl Qdrant {
    /// A collection that is reached on first use. The key is in QDRANT_API_KEY.
    pub fn new(address: QdrantAddress) -> Qdrant {
        let authorities = tls::authorities();
        let authorities: Vec<Certificate<'_>> =
            authorities.iter().map(|authority| Certificate::from_der(authority).to_owned()).collect();
        let tls = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .unversioned_rustls_crypto_provider(tls::provider())
            .root_certs(RootCerts::Specific(Arc::new(authorities)))
            .build();
        let agent = Agent::config_builder()
            .tls_config(tls)
            .timeout_global(Some(PATIENCE))
            .http_status_as_error(false)
            // A redirected POST would become a GET, and the key would go to another server.
            .max_redirects(0)
            .build()
            .new_agent();
        Qdrant { url: address.url, key: env::var("QDRANT_API_KEY").ok(), agent }
    }

    /// Sends a request, and returns the answer's `result`, or none if there is no such collection.
    fn ask(&self, method: &str, path: &str, body: Option<&impl Serialize>) -> Outcome<Option<Value>> {
        let url = format!("{}{path}", self.url);
        let body = body.map(serde_json::to_vec).transpose().context("writing JSON")?.unwrap_or_default();
        let mut request = http::Request::builder().method(method).uri(&url);
        if !body.is_empty() {
            request = request.header("content-type", "application/json");
        }
        if let Some(key) = &self.key {
            request = request.header("api-key", key);
        }
        let request = request.body(body).with_context(|| url.clone())?;
        let mut answer = self.agent.run(request).map_err(|error| failure(&url, error))?;
        let body = answer.body_mut().with_config().limit(LONGEST_ANSWER).read_to_vec();
        let body = body.map_err(|error| failure(&url, error))?;
        let status = answer.status().as_u16();
        if status == 404 {
            return Ok(None);
        }
        if !(200..300).contains(&status) {
            return Err(refusal(&url, status, &body));
        }
        let mut answer: Value = serde_json::from_slice(&body).map_err(|_| self.stranger())?;
        Ok(Some(answer["result"].take()))
    }

    /// The same for something that is there, and that has a result.
    fn tell(&self, method: &str, path: &str, body: &impl Serialize) -> Outcome<Value> {
        let result = self.ask(method, path, Some(body))?;
        let result = result.with_context(|| {
            format!("{}: the collection was deleted, or this is not the address of Qdrant", self.url)
        })?;
        if result.is_null() {
            return Err(self.stranger());
        }
        Ok(result)
    }

    fn stranger(&self) -> Failure {
        Failure::Permanent(anyhow!(
            "{}: the answer is not that of Qdrant; name the address of its REST interface, usually at port 6333",
            self.url
        ))
    }
}

impl Store for Qdrant {
    fn exists(&mut self, dimensions: usize) -> Outcome<bool> {
        let Some(collection) = self.ask("GET", "", None::<&()>)? else { return Ok(false) };
        let vectors = &collection["config"]["params"]["vectors"];
        let advice = "name another collection, or delete this one";
        match vectors["size"].as_u64() {
            Some(size) if size == dimensions as u64 && vectors["distance"] == "Cosine" => Ok(true),
            Some(size) if size == dimensions as u64 => Err(Failure::Permanent(anyhow!(
                "{}: the collection compares vectors by {} and not by Cosine; {advice}",
                self.url,
                vectors["distance"]
            ))),
            Some(size) => Err(Failure::Permanent(anyhow!(
                "{}: the collection has vectors of {size} dimensions, and the model {dimensions}; {advice}",
                self.url
            ))),
            None => Err(Failure::Permanent(anyhow!(
                "{}: the collection has named vectors, or none, so it is not one of this command; {advice}",
                self.url
            ))),
        }
    }

    fn create(&mut self, dimensions: usize) -> Outcome<()> {
        // It is there if the index failed before.
        if self.ask("GET", "", None::<&()>)?.is_none() {
            self.tell("PUT", "", &json!({ "vectors": { "size": dimensions, "distance": "Cosine" } }))?;
        }
        // To find a word without knowing its point.
        self.tell("PUT", "/index?wait=true", &json!({ "field_name": "word", "field_schema": "keyword" }))?;
        Ok(())
    }

    fn can_hold(&self, _: &str) -> bool {
        true
    }

    fn read(&mut self, see: &mut dyn FnMut(String, &[u8])) -> Outcome<()> {
        let mut offset = Value::Null;
        loop {
            let request = json!({ "limit": PAGE, "offset": offset, "with_payload": ["word", "digest"] });
            let mut page = self.tell("POST", "/points/scroll", &request)?;
            for point in page["points"].as_array().ok_or_else(|| self.stranger())? {
                let (Some(word), Some(digest)) =
                    (point["payload"]["word"].as_str(), point["payload"]["digest"].as_str())
                else {
                    return Err(Failure::Permanent(anyhow!(
                        "{}: point {} is not one of this command; name another collection",
                        self.url,
                        point["id"]
                    )));
                };
                see(word.to_owned(), &from_hex(digest));
            }
            let next = page["next_page_offset"].take();
            if next.is_null() {
                return Ok(());
            }
            if next == offset {
                return Err(self.stranger());
            }
            offset = next;
        }
    }

    fn write(&mut self, rows: &[Row<'_>]) -> Outcome<()> {
        let points: Vec<Point<'_>> = rows.iter().map(Point::of).collect();
        self.tell("PUT", "/points?wait=true", &json!({ "points": points }))?;
        Ok(())
    }

    fn delete(&mut self, words: &[String]) -> Outcome<()> {
        let ids: Vec<String> = words.iter().map(|word| id(word)).collect();
        self.tell("POST", "/points/delete?wait=true", &json!({ "points": ids }))?;
        Ok(())
    }
}

/// The point of a word: a UUID (of version 8) from its hash.
fn id(word: &str) -> String {
    let hash = blake3::hash(word.as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.as_bytes()[..16]);
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let id = hex(&bytes);
    [&id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..]].join("-")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes, or fewer if these are not hexadecimal digits: then they differ from every digest.
fn from_hex(text: &str) -> Vec<u8> {
    let pairs = text.as_bytes().chunks(2).map_while(|pair| std::str::from_utf8(pair).ok());
    pairs.map_while(|pair| u8::from_str_radix(pair, 16).ok()).collect()
}

/// No answer: the server is away, unless the request cannot be sent at all.
fn failure(url: &str, error: ureq::Error) -> Failure {
    match error {
        ureq::Error::Io(cause) => Failure::of_connection(format!("{url}: {cause}"), &cause, ""),
        ureq::Error::Timeout(_)
        | ureq::Error::HostNotFound
        | ureq::Error::ConnectionFailed
        | ureq::Error::Protocol(_) => Failure::Temporary(anyhow!("{url}: {error}")),
        error => Failure::Permanent(anyhow!("{url}: {error}")),
    }
}

/// An answer that is an error.
fn refusal(url: &str, status: u16, body: &[u8]) -> Failure {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let message = body["status"]["error"]
        .as_str()
        .map(|message| format!(": {}", message.escape_debug()))
        .unwrap_or_default();
    let error: Error = anyhow!("{url}: the server answers {status}{message}");
    match status {
        300..=399 => {
            Failure::Permanent(anyhow!("{error}, a redirect; name the address that it redirects to"))
        }
        401 | 403 => Failure::Permanent(anyhow!("{error}; set QDRANT_API_KEY to a key that may write")),
        408 | 429 | 500.. => Failure::Temporary(error),
        _ => Failure::Permanent(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_one_point() {
        assert_eq!(id("berlin"), id("berlin"));
        assert_ne!(id("berlin"), id("Berlin"));
        let parts: Vec<usize> = id("berlin").split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12]);
    }

    #[test]
    fn a_digest_survives_its_text() {
        assert_eq!(from_hex(&hex(&[0, 1, 0xab, 0xff])), [0, 1, 0xab, 0xff]);
        assert_eq!(from_hex("0bxy"), [0x0b]);
        assert_eq!(from_hex("0bä"), [0x0b]);
    }

    #[test]
    fn a_busy_server_is_asked_again() {
        let is_temporary =
            |status| matches!(refusal("http://h/collections/a", status, b"{}"), Failure::Temporary(_));
        assert!([429, 500, 502, 503].into_iter().all(is_temporary));
        assert!(![301, 400, 401, 403, 422].into_iter().any(is_temporary));
    }

    #[test]
    fn a_refusal_says_what_the_server_says() {
        let body = br#"{"status": {"error": "Wrong input: vector dimension error"}, "time": 0}"#;
        let Failure::Permanent(error) = refusal("http://h/collections/a", 400, body) else { panic!() };
        assert_eq!(
            error.to_string(),
            "http://h/collections/a: the server answers 400: Wrong input: vector dimension error"
        );
    }
}
