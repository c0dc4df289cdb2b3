//! Sends lines to the service until they are acknowledged.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::random::Random;
use crate::serving::Address;

/// Words of a line that others have too, so that there is something to learn.
pub const COMMON: [&str; 12] =
    ["the", "sun", "moon", "star", "comet", "orbit", "tea", "milk", "cup", "sugar", "pot", "spoon"];

/// Lines that fill the open batch for certain, whatever is in it: see the settings in `serving.rs`.
pub const FILLING_LINES: usize = 100;

/// A request that was acknowledged.
pub struct Sent {
    /// The words by which its lines are known.
    pub lines: Vec<String>,
    pub first: u64,
    pub last: u64,
}

pub struct Client {
    number: u64,
    address: Address,
    random: Random,
    agent: ureq::Agent,
    /// A request that is not acknowledged in this time never will be.
    pub patience: Duration,
}

impl Client {
    pub fn new(number: u64, address: &Address, random: Random) -> Client {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(Duration::from_secs(10)))
            .http_status_as_error(false)
            .build();
        Client {
            number,
            address: address.clone(),
            random,
            agent: config.into(),
            patience: Duration::from_secs(60),
        }
    }

    /// Sends one request after the other until it is over.
    pub fn run(mut self, is_over: &AtomicBool) -> Result<Vec<Sent>> {
        let mut sent = Vec::new();
        while !is_over.load(Ordering::Acquire) {
            // Now and then one that is logged in several parts, so that the service can be killed between them.
            let lines = if self.random.below(60) == 0 { 3_000 } else { 1 + self.random.below(15) };
            sent.push(self.next(sent.len(), lines)?);
            thread::sleep(Duration::from_micros(self.random.below(20_000)));
        }
        Ok(sent)
    }

    /// Sends a request of this number.
    pub fn next(&mut self, request: usize, lines: u64) -> Result<Sent> {
        let markers: Vec<String> =
            (0..lines).map(|line| format!("c{}r{request}l{line}", self.number)).collect();
        let wait = if self.random.below(10) == 0 { "learned" } else { "logged" };
        let key = format!("{}-{request}", self.number);
        let answer = self.send(&markers, &key, wait)?;
        // A client that missed the answer sends the request again, and gets the same answer.
        if self.random.below(10) == 0 {
            let again = self.send(&markers, &key, "logged")?;
            ensure!((again.first, again.last) == (answer.first, answer.last), "{key} was logged twice");
        }
        Ok(answer)
    }

    /// Sends lines that others have sent before, in their order.
    pub fn send_as(&self, markers: &[String]) -> Result<Sent> {
        self.send(markers, &format!("again-{}", markers.first().context("no lines")?), "logged")
    }

    /// Sends lines that fill the open batch.
    pub fn fill(&self) -> Result<Sent> {
        let markers: Vec<String> = (0..FILLING_LINES).map(filler).collect();
        self.send(&markers, "filler", "learned")
    }

    /// Sends one line of these words once, and returns the answer.
    pub fn try_once(&self, words: &str) -> Result<(u16, String)> {
        let address = self.address.wait().context("the service does not listen")?;
        let request = self.agent.post(format!("http://{address}/v1/text")).content_type("text/plain");
        let mut answer = request.send(words)?;
        Ok((answer.status().as_u16(), answer.body_mut().read_to_string()?))
    }

    /// Sends a request without a key until it succeeds, whatever happens to the service. It may have an effect more than once.
    pub fn post_until_done(&self, path: &str, kind: &str, body: &str) -> Result<()> {
        let start = Instant::now();
        while start.elapsed() < self.patience {
            let Some(address) = self.address.wait() else { continue };
            let Ok(mut answered) =
                self.agent.post(format!("http://{address}{path}")).content_type(kind).send(body)
            else {
                thread::sleep(Duration::from_millis(2));
                continue;
            };
            match answered.status().as_u16() {
                200 => return Ok(()),
                429 | 503 | 507 => thread::sleep(Duration::from_millis(20)),
                status => bail!("{path}: {status}: {}", answered.body_mut().read_to_string()?),
            }
        }
        bail!("{path} did not succeed in {} s", self.patience.as_secs())
    }

    /// Sends a request until it is acknowledged, whatever happens to the service.
    fn send(&self, markers: &[String], key: &str, wait: &str) -> Result<Sent> {
        let body: String = markers.iter().map(|marker| line(marker)).collect();
        let start = Instant::now();
        let mut heard = String::new();
        loop {
            ensure!(
                start.elapsed() < self.patience,
                "{key} was never acknowledged; the last answer was: {heard}"
            );
            let Some(address) = self.address.wait() else { continue };
            let answered = self
                .agent
                .post(format!("http://{address}/v1/text?wait={wait}"))
                .header("content-type", "application/x-ndjson")
                .header("idempotency-key", key)
                .send(&body);
            let Ok(mut answered) = answered else {
                // The service was killed.
                thread::sleep(Duration::from_millis(2));
                continue;
            };
            let status = answered.status().as_u16();
            let Ok(text) = answered.body_mut().read_to_string() else { continue };
            heard = format!("{status} {text}");
            match status {
                200 => {
                    let answer: Value = serde_json::from_str(&text)?;
                    ensure!(answer["lines"] == markers.len(), "{answer}");
                    let number =
                        |name: &str| answer[name].as_u64().with_context(|| format!("no {name}: {answer}"));
                    return Ok(Sent {
                        lines: markers.to_vec(),
                        first: number("first")?,
                        last: number("last")?,
                    });
                }
                // The queue is full; the service stops; the connection before this one is not yet known to be dead.
                429 | 503 | 507 => thread::sleep(Duration::from_millis(20)),
                409 if text.contains("is in progress") => thread::sleep(Duration::from_millis(20)),
                _ => bail!("{key}: {status}: {text}"),
            }
        }
    }
}

/// The marker of a line that fills a batch.
pub fn filler(line: usize) -> String {
    format!("filler{line}")
}

/// A line that begins with its marker. All else in it follows from the marker, so that it can be sent again by others.
pub fn line(marker: &str) -> String {
    let mut random =
        Random::new(marker.bytes().fold(7, |hash: u64, byte| hash.wrapping_mul(31) + u64::from(byte)), 0);
    let time = 1_700_000_000 + random.below(1_000_000);
    let words = random.below(20) as usize;
    let mut text = marker.to_owned();
    for _ in 0..words {
        text.push(' ');
        text.push_str(COMMON[random.below(COMMON.len() as u64) as usize]);
    }
    // Some lines are long, so that requests of many lines do not fit into one chunk.
    if random.below(4) == 0 {
        text.push_str(&" ".repeat(500));
    }
    format!("{}\n", json!({ "text": text, "time": time }))
}
