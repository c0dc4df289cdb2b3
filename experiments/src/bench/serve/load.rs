//! Queries at a fixed rate.

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};
use skipstream::unstable::Random;
use skipstream::{Embeddings, Vectors};

/// Maximum number of concurrent queries. Further ones wait, and their latency counts from when they were due.
const OPEN: usize = 64;

/// Minimum count of the words to query.
const MIN_COUNT: u64 = 20;

/// Arguments of the load generator.
#[derive(Args)]
pub struct Load {
    /// Host and port of the service
    #[arg(long)]
    address: String,
    /// Model with the words to query, uniformly, except the rarest
    #[arg(long)]
    model: PathBuf,
    /// Queries per second
    #[arg(long)]
    rate: u32,
}

/// Latencies in milliseconds, from when a query was due.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct Answered {
    pub asked: usize,
    pub failed: usize,
    pub p50: f64,
    pub p99: f64,
    pub longest: f64,
}

/// Sends queries until standard input ends, and prints their latencies.
pub fn ask(load: &Load) -> Result<()> {
    // Rarer words may be evicted while the service learns.
    let embeddings = Embeddings::open(&load.model, Vectors::Target)?.with_min_count(MIN_COUNT);
    let (over, next) = (AtomicBool::new(false), AtomicU64::new(0));
    let answered = Mutex::new((Vec::new(), 0));
    let begin = Instant::now();
    thread::scope(|scope| {
        for _ in 0..OPEN {
            scope.spawn(|| {
                let agent = ureq::Agent::new_with_defaults();
                while !over.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let due = begin + Duration::from_secs(1) * number as u32 / load.rate;
                    thread::sleep(due.saturating_duration_since(Instant::now()));
                    let row = Random::new(number).below(embeddings.len());
                    let url = format!(
                        "http://{}/v1/words/{}/neighbors?n=10",
                        load.address,
                        percent_encoded(embeddings.word(row))
                    );
                    let good = agent
                        .get(&url)
                        .call()
                        .is_ok_and(|mut answer| answer.body_mut().read_to_vec().is_ok());
                    let milliseconds = due.elapsed().as_secs_f64() * 1e3;
                    let mut answered = answered.lock().unwrap_or_else(|broken| broken.into_inner());
                    answered.0.push(milliseconds);
                    answered.1 += usize::from(!good);
                }
            });
        }
        let ended = io::stdin().read_to_end(&mut Vec::new());
        over.store(true, Ordering::Relaxed);
        ended
    })
    .context("waiting for the end of standard input")?;
    let (mut times, failed) = answered.into_inner().unwrap_or_else(|broken| broken.into_inner());
    ensure!(!times.is_empty(), "no query was sent");
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() as f64 * share).ceil() as usize).clamp(1, times.len()) - 1];
    let answered =
        Answered { asked: times.len(), failed, p50: at(0.5), p99: at(0.99), longest: times[times.len() - 1] };
    println!("{}", serde_json::to_string(&answered)?);
    Ok(())
}

fn percent_encoded(word: &str) -> String {
    word.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}
