//! Queries at a fixed rate, or by clients that wait for each answer.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};
use skipstream::embeddings::Query;
use skipstream::unstable::Random;
use skipstream::{Embeddings, Vectors};

/// Maximum number of concurrent queries at a fixed rate. Further ones wait, and their latency counts from when they were due.
const OPEN: usize = 64;

/// Minimum count of the words to query.
const MIN_COUNT: u64 = 20;

/// Passes that are timed.
const PASSES: u64 = 500;

/// Arguments of the load generator.
#[derive(Args)]
pub struct Load {
    /// Host and port of the service
    #[arg(long)]
    address: String,
    /// Model with the words to query, uniformly, except the rarest
    #[arg(long)]
    model: PathBuf,
    #[command(flatten)]
    pace: Pace,
}

/// When a query is sent.
#[derive(Args, Clone, Copy)]
#[group(required = true, multiple = false)]
pub struct Pace {
    /// Queries per second, sent on schedule
    #[arg(long)]
    pub rate: Option<u32>,
    /// Clients that send a query when the one before was answered
    #[arg(long)]
    pub clients: Option<usize>,
}

/// Latencies in milliseconds, from when a query was due.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct Answered {
    pub asked: usize,
    pub failed: usize,
    pub seconds: f64,
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
        for _ in 0..load.pace.clients.unwrap_or(OPEN) {
            scope.spawn(|| {
                let agent = ureq::Agent::new_with_defaults();
                while !over.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let due = match load.pace.rate {
                        Some(rate) => begin + Duration::from_secs(1) * number as u32 / rate,
                        None => Instant::now(),
                    };
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
    let (asked, seconds) = (times.len(), begin.elapsed().as_secs_f64());
    times.sort_by(f64::total_cmp);
    let (p50, p99) = (quantile(&times, 0.5), quantile(&times, 0.99));
    let answered = Answered { asked, failed, seconds, p50, p99, longest: times[asked - 1] };
    println!("{}", serde_json::to_string(&answered)?);
    Ok(())
}

/// The median time of a pass with one query over the vectors that a service publishes, in milliseconds.
pub fn pass(model: &Path) -> Result<f64> {
    let embeddings = Embeddings::load(model, Vectors::default())?;
    let candidates = embeddings.candidates(None, None);
    let mut times = Vec::new();
    for number in 0..PASSES {
        let row = Random::new(number).below(candidates.len());
        let query = Query::neighbors(row, 10).among(candidates.clone());
        let begin = Instant::now();
        embeddings.search_many(&[query], Some(1))?;
        times.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    Ok(quantile(&times, 0.5))
}

/// The value below which a share of the sorted values lies.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted[((sorted.len() as f64 * share).ceil() as usize).clamp(1, sorted.len()) - 1]
}

fn percent_encoded(word: &str) -> String {
    word.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}
