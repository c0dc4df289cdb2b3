//! Many connections ask while text streams in at full speed.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;

use crate::abuse::target::{
    Target, WORDS, Watched, exchange, get, megabytes, milliseconds, raise_file_limit, text,
};
use crate::random::Random;
use crate::{Report, Torture};

#[derive(Args)]
pub struct Options {
    /// Connections that ask
    #[arg(long, default_value_t = 1_000)]
    connections: usize,
    /// Seconds [default: 600; 10 in the short version]
    #[arg(long)]
    seconds: Option<u64>,
    /// Pause of each connection between two questions, in milliseconds
    #[arg(long, default_value_t = 4_000)]
    pause: u64,
}

/// What is asked, by route; `{}` is a word.
const ROUTES: [(&str, &str); 6] = [
    ("/v1/similarity", "/v1/similarity?a={}&b=w1"),
    ("/v1/words/{word}", "/v1/words/{}"),
    ("/v1/words", "/v1/words?prefix={}"),
    ("/v1/words/{word}/neighbors", "/v1/words/{}/neighbors?n=10"),
    ("/v1/analogy", "/v1/analogy?a={}&b=w1&c=w2"),
    ("/healthz", "/healthz"),
];

/// Tokens of an upload, which is logged as a whole or not at all: a chunk has 256 KiB.
const TOKENS: u64 = 30_000;

/// What was seen.
#[derive(Default)]
struct Seen {
    times: Mutex<BTreeMap<&'static str, Vec<Duration>>>,
    errors: AtomicU64,
    first_error: Mutex<Option<String>>,
}

pub fn run(torture: &Torture, options: &Options, report: &mut Report) -> Result<()> {
    raise_file_limit();
    let time = Duration::from_secs(options.seconds.unwrap_or(if torture.short { 10 } else { 600 }));
    let target = Target::start(
        torture,
        "--max-connections-per-address 2000 --max-connections 2000 --queue-size 16Mi",
    )?;
    let watched = Watched::new(target.serving.id());
    let (seen, is_over) = (Seen::default(), AtomicBool::new(false));
    let words_before = target.stat("/snapshot/words")?;
    let start = Instant::now();
    let (sent, last) = thread::scope(|scope| -> Result<_> {
        for number in 0..options.connections {
            let (target, seen, is_over) = (&target, &seen, &is_over);
            let random = Random::new(torture.seed, number as u64);
            let asking = thread::Builder::new().stack_size(256 << 10);
            asking.spawn_scoped(scope, move || ask(target, random, options.pause, seen, is_over))?;
        }
        let sent = upload(&target, torture.seed, time);
        is_over.store(true, Ordering::Relaxed);
        sent
    })?;
    let took = start.elapsed();
    // Everything that was accepted is learned.
    let learned = target.get(&format!("/v1/text/{last}/wait?timeout=600"))?;
    ensure!(learned.status == 200, "{learned:?}");
    let words = target.stat("/snapshot/words")? - words_before;
    report.check(
        "words learned",
        words == sent,
        format_args!(
            "{words} of {sent} sent in {:.0} s, {:.0} words per second",
            took.as_secs_f64(),
            sent as f64 / took.as_secs_f64()
        ),
    );
    let errors = seen.errors.load(Ordering::Relaxed);
    let first = seen.first_error.lock().unwrap_or_else(PoisonError::into_inner).take();
    report.check("errors", errors == 0, format_args!("{errors} {}", first.unwrap_or_default()));
    let mut times = seen.times.lock().unwrap_or_else(PoisonError::into_inner);
    for (route, times) in times.iter_mut() {
        times.sort_unstable();
        let at = |share: usize| times[times.len() * share / 100];
        let (median, p99) = (milliseconds(at(50)), milliseconds(at(99)));
        let slowest = times.last().copied().unwrap_or_default();
        report.check(
            route,
            slowest < Duration::from_secs(30),
            format_args!(
                "{} answers, median {median}, p99 {p99}, slowest {}",
                times.len(),
                milliseconds(slowest)
            ),
        );
    }
    let bound = target.stat("/memory/bound_bytes")?;
    report.check(
        "memory",
        watched.most() <= bound,
        format_args!("{} at most, the bound is {}", megabytes(watched.most()), megabytes(bound)),
    );
    drop(watched);
    target.serving.end()
}

/// Asks one question after the other on one connection.
fn ask(target: &Target, mut random: Random, pause: u64, seen: &Seen, is_over: &AtomicBool) {
    // Not all at once.
    thread::sleep(Duration::from_millis(random.below(pause.max(1))));
    let mut stream = None;
    let mut times: BTreeMap<&'static str, Vec<Duration>> = BTreeMap::new();
    while !is_over.load(Ordering::Relaxed) {
        let (route, path) = ROUTES[random.below(ROUTES.len() as u64) as usize];
        let path = path.replace("{}", &format!("w{}", random.below(WORDS)));
        let answered = match stream.take() {
            Some(stream) => Ok(stream),
            None => target.connect(),
        };
        let answered = answered.and_then(|mut open| {
            let answer = exchange(&mut open, &get(&path))?;
            // A rare word may have left the vocabulary.
            ensure!([200, 404].contains(&answer.status), "{path}: {} {}", answer.status, answer.body);
            stream = Some(open);
            Ok(answer.took)
        });
        match answered {
            Ok(took) => times.entry(route).or_default().push(took),
            Err(error) => {
                seen.errors.fetch_add(1, Ordering::Relaxed);
                let mut first = seen.first_error.lock().unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert_with(|| format!("({error:#})"));
            }
        }
        thread::sleep(Duration::from_millis(pause));
    }
    let mut all = seen.times.lock().unwrap_or_else(PoisonError::into_inner);
    for (route, times) in times {
        all.entry(route).or_default().extend(times);
    }
}

/// Sends text as fast as it is accepted; returns the number of tokens and of the last line.
fn upload(target: &Target, seed: u64, time: Duration) -> Result<(u64, u64)> {
    let start = Instant::now();
    let (mut sent, mut last, mut number) = (0, 0, 0);
    while start.elapsed() < time {
        number += 1;
        let body = text(seed.wrapping_add(number), TOKENS);
        loop {
            let answer = target.post("/v1/text", "text/plain", &body)?;
            match answer.status {
                200 => {
                    let answer: Value = serde_json::from_str(&answer.body)?;
                    last = answer["last"].as_u64().context("no last line")?;
                    break;
                }
                // The queue is full, and nothing of it was accepted.
                429 => thread::sleep(Duration::from_millis(50)),
                _ => anyhow::bail!("{answer:?}"),
            }
        }
        sent += TOKENS;
    }
    Ok((sent, last))
}
