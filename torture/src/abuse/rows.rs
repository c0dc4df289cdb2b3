//! Clients that do nothing, do not read, are slow or ask for too much.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;

use super::target::{Target, WORDS, Watched, exchange, get, is_closed, megabytes, milliseconds, post};
use crate::{Report, Torture};

/// Nobody waits for longer than this for a health check, whatever the others do: today's answers take a millisecond, and
/// the machine may be busy.
const SOON: Duration = Duration::from_secs(5);

/// How long an attack lasts.
fn length(torture: &Torture) -> Duration {
    Duration::from_secs(if torture.short { 2 } else { 15 })
}

/// 1,024 idle sockets from one address, and as many from others.
pub fn idle(torture: &Torture, report: &mut Report) -> Result<()> {
    let target = Target::empty(torture, "")?;
    for (name, connect) in [("one address", 0), ("64 addresses", 1)] {
        let sockets: Result<Vec<TcpStream>> =
            (0..1_024).map(|number| target.connect_from(connect * (number % 64))).collect();
        let (slowest, n) = target.slowest("/healthz", 200, length(torture))?;
        let (stats, _) = target.slowest("/v1/stats", 200, Duration::from_secs(1))?;
        drop(sockets?);
        report.check(
            &format!("1,024 idle sockets from {name}"),
            slowest.max(stats) < SOON,
            format_args!("{n} health checks, the slowest {}", milliseconds(slowest)),
        );
    }
    Ok(())
}

/// 1,024 sockets that send requests and never read.
pub fn pipeline(torture: &Torture, report: &mut Report) -> Result<()> {
    let target = Target::start(torture, "--request-timeout 2s")?;
    // Large answers to cheap questions: few of them fill every buffer.
    let requests = get("/openapi.json").repeat(100);
    let mut sockets = Vec::new();
    for number in 0..1_024 {
        let mut socket = target.connect_from(number % 64)?;
        socket.set_nonblocking(true)?;
        // As many as fit.
        let _ = socket.write(&requests);
        sockets.push(socket);
    }
    let (slowest, n) = target.slowest("/healthz", 200, length(torture))?;
    // Those that do not read are closed, and others are served.
    let start = Instant::now();
    let answer = loop {
        let answer = target.get("/v1/words/w1")?;
        if answer.status == 200 || start.elapsed() > Duration::from_secs(20) {
            break answer;
        }
        thread::sleep(Duration::from_millis(100));
    };
    report.check(
        "1,024 sockets that pipeline and do not read",
        slowest < SOON && answer.status == 200,
        format_args!(
            "{n} health checks, the slowest {}; a question is answered after {:.1} s",
            milliseconds(slowest),
            start.elapsed().as_secs_f64()
        ),
    );
    drop(sockets);
    Ok(())
}

/// Readers of an export at 1 kB/s.
pub fn slow_export(torture: &Torture, report: &mut Report) -> Result<()> {
    let target = Target::start(torture, "--request-timeout 2s")?;
    let is_over = AtomicBool::new(false);
    let (answer, n) = thread::scope(|scope| -> Result<_> {
        for _ in 0..8 {
            let mut slow = target.connect()?;
            slow.write_all(&get("/v1/export"))?;
            let is_over = &is_over;
            scope.spawn(move || {
                let mut piece = [0; 1_000];
                while !is_over.load(Ordering::Relaxed) && slow.read(&mut piece).is_ok_and(|n| n > 0) {
                    thread::sleep(Duration::from_secs(1));
                }
            });
        }
        thread::sleep(Duration::from_millis(500));
        let start = Instant::now();
        // Another reader gets the whole file, if not at once then as soon as a slow one was closed.
        let answer = loop {
            let answer = target.get("/v1/export");
            let is_whole = answer.as_ref().is_ok_and(|answer| answer.status == 200);
            if is_whole || start.elapsed() > Duration::from_secs(20) {
                break answer;
            }
            thread::sleep(Duration::from_millis(100));
        };
        is_over.store(true, Ordering::Relaxed);
        Ok((answer?, start.elapsed()))
    })?;
    report.check(
        "eight readers of an export at 1 kB/s",
        answer.status == 200,
        format_args!("another export: {} bytes after {:.1} s", answer.body.len(), n.as_secs_f64()),
    );
    Ok(())
}

/// An export that takes longer than the request timeout.
pub fn long_export(torture: &Torture, report: &mut Report) -> Result<()> {
    let target = Target::start(torture, "--request-timeout 300ms")?;
    let mut reader = target.connect()?;
    reader.write_all(&get("/v1/export"))?;
    let (mut received, mut piece) = (0, vec![0; 256 << 10]);
    let start = Instant::now();
    let mut first = Vec::new();
    // Steadily, but for longer than the timeout.
    while start.elapsed() < Duration::from_secs(20) {
        let n = reader.read(&mut piece)?;
        if n == 0 {
            break;
        }
        first.extend_from_slice(&piece[..n.min(200usize.saturating_sub(first.len()))]);
        received += n;
        if piece[..n].ends_with(b"0\r\n\r\n") || is_complete(&first, received) {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    let head = String::from_utf8_lossy(&first).into_owned();
    let is_whole = head.contains("200 OK") && received > 5_000_000;
    report.check(
        "an export that takes longer than the request timeout",
        is_whole,
        format_args!(
            "{} in {:.1} s, timeout 0.3 s",
            megabytes(received as u64),
            start.elapsed().as_secs_f64()
        ),
    );
    Ok(())
}

/// Whether a response that begins with `first` is complete once `received` bytes have arrived.
fn is_complete(first: &[u8], received: usize) -> bool {
    let head = String::from_utf8_lossy(first).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
    length.is_some_and(|length| received >= length)
}

/// 204 large answers that nobody reads.
pub fn unread(torture: &Torture, report: &mut Report) -> Result<()> {
    let target = Target::start(torture, "--request-timeout 20s")?;
    let bound = target.stat("/memory/bound_bytes")?;
    let watched = Watched::new(target.serving.id());
    let words: Vec<String> = (0..1_000).map(|word| format!("w{word}")).collect();
    let body = json!({ "words": words, "n": 100, "min_count": 0 }).to_string();
    let request = post("/v1/neighbors", "application/json", &body);
    let answer = exchange(&mut target.connect()?, &request)?;
    ensure!(answer.status == 200 && answer.body.len() > 5_000_000, "{} {}", answer.status, answer.body.len());
    let before = watched.most();
    let mut sockets = Vec::new();
    for number in 0..204 {
        let mut socket = target.connect_from(number % 64)?;
        socket.write_all(&request)?;
        sockets.push(socket);
    }
    let (slowest, n) = target.slowest("/healthz", 200, 2 * length(torture))?;
    report.check(
        "204 answers of 1,000 × 100 neighbors that nobody reads",
        watched.most() <= bound && slowest < SOON,
        format_args!(
            "{} before, {} at most, the bound is {}; {n} health checks, the slowest {}",
            megabytes(before),
            megabytes(watched.most()),
            megabytes(bound),
            milliseconds(slowest)
        ),
    );
    drop(sockets);
    Ok(())
}

/// Large JSON bodies that arrive byte by byte.
pub fn trickle(torture: &Torture, report: &mut Report) -> Result<()> {
    let target = Target::start(torture, "")?;
    let mut slow = Vec::new();
    for _ in 0..16 {
        let mut socket = target.connect()?;
        let head = "POST /v1/neighbors HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Transfer-Encoding: chunked\r\n\r\n";
        socket.write_all(head.as_bytes())?;
        // Enough to count as a long body, and then almost nothing.
        let piece = format!("{{\"words\": [\"{}", " ".repeat(200 << 10));
        socket.write_all(format!("{:x}\r\n{piece}\r\n", piece.len()).as_bytes())?;
        slow.push(socket);
    }
    let words: Vec<String> = (0..1_000).map(|word| format!("w{word}{}", " ".repeat(100))).collect();
    let body = json!({ "words": words, "n": 1 }).to_string();
    let request = post("/v1/neighbors", "application/json", &body);
    let (start, mut slowest) = (Instant::now(), Duration::ZERO);
    let mut n = 0;
    while start.elapsed() < length(torture) {
        for socket in &mut slow {
            // One that gave way is closed.
            let _ = socket.write_all(b"1\r\n \r\n");
        }
        let answer = exchange(&mut target.connect()?, &request)?;
        ensure!([200, 404].contains(&answer.status), "{answer:?}");
        slowest = slowest.max(answer.took);
        n += 1;
    }
    report.check(
        "16 trickled JSON bodies",
        slowest < 2 * SOON,
        format_args!("{n} other large bodies, the slowest {}", milliseconds(slowest)),
    );
    Ok(())
}

/// Uploads that stall.
pub fn stalled(torture: &Torture, report: &mut Report) -> Result<()> {
    let target = Target::empty(torture, "--request-timeout 1s")?;
    let mut sockets = Vec::new();
    for number in 0..128 {
        let mut socket = target.connect_from(number % 64)?;
        socket.write_all(b"POST /v1/text HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999\r\n\r\none\n")?;
        sockets.push(socket);
    }
    let start = Instant::now();
    let answer = loop {
        let answer = target.post("/v1/text", "text/plain", "two\n")?;
        if answer.status == 200 || start.elapsed() > Duration::from_secs(20) {
            break answer;
        }
        thread::sleep(Duration::from_millis(50));
    };
    report.check(
        "128 stalled uploads",
        answer.status == 200,
        format_args!("other text is accepted after {:.1} s", start.elapsed().as_secs_f64()),
    );
    let open = sockets.iter_mut().map(is_closed).filter(|is_closed| !is_closed).count();
    ensure!(open > 0, "all uploads were dropped");
    Ok(())
}

/// A batch of analogies that looks at every word for each.
fn analogies(number: usize) -> Vec<u8> {
    let word = |n: usize| format!("w{}", n % (WORDS as usize / 10));
    let question = |n: usize| json!({ "a": word(n * 37 + number), "b": word(n * 101), "c": word(n * 211) });
    let questions: Vec<_> = (0..1_000).map(question).collect();
    let body = json!({ "questions": questions, "n": 10, "rule": "multiply", "min_count": 0 }).to_string();
    post("/v1/analogy", "application/json", &body)
}

/// A map that is not in the cache.
fn map(number: usize) -> Vec<u8> {
    get(&format!("/v1/map?method=tsne&n=500&around=w{}&min_count=0", number % WORDS as usize))
}

fn export(_: usize) -> Vec<u8> {
    get("/v1/export")
}

/// Heavy questions next to cheap ones.
pub fn heavy(torture: &Torture, report: &mut Report) -> Result<()> {
    let target = Target::start(torture, "")?;
    let alone = cheap(&target, length(torture) / 2)?;
    // In the full version the promise; in CI, on a machine of any speed, a third of what it was when all waited in one line.
    let most = if torture.short { Duration::from_secs(2) } else { Duration::from_millis(50) };
    type Request = fn(usize) -> Vec<u8>;
    let kinds: [(&str, Request, usize); 3] =
        [("batches of 1,000 analogies", analogies, 8), ("t-SNE maps", map, 20), ("exports", export, 8)];
    for (name, request, clients) in kinds {
        let is_over = AtomicBool::new(false);
        let (sent, answered, refused) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(String::new()));
        let times = thread::scope(|scope| {
            for _ in 0..clients {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        let request = request(sent.fetch_add(1, Ordering::Relaxed));
                        match target.connect().and_then(|mut stream| exchange(&mut stream, &request)) {
                            Ok(answer) if answer.status == 200 => {
                                answered.fetch_add(1, Ordering::Relaxed);
                            }
                            // More than the service can do at a time.
                            Ok(answer) if [408, 503].contains(&answer.status) => {
                                thread::sleep(Duration::from_millis(100));
                            }
                            other => {
                                *refused.lock().unwrap_or_else(PoisonError::into_inner) = format!("{other:?}")
                            }
                        }
                    }
                });
            }
            thread::sleep(Duration::from_millis(300));
            let times = cheap(&target, length(torture));
            is_over.store(true, Ordering::Relaxed);
            times
        })?;
        let refused = refused.into_inner().unwrap_or_else(PoisonError::into_inner);
        ensure!(refused.is_empty(), "{name}: {}", refused.chars().take(500).collect::<String>());
        report.check(
            &format!("{clients} clients with {name}"),
            times.p99 < most,
            format_args!(
                "{} cheap questions: p99 {}, median {}, alone {}; {} heavy ones answered",
                times.n,
                milliseconds(times.p99),
                milliseconds(times.median),
                milliseconds(alone.p99),
                answered.load(Ordering::Relaxed)
            ),
        );
    }
    // Clients that go away leave no work behind.
    for number in 0..50 {
        target.connect()?.write_all(&analogies(number))?;
    }
    let answer = target.get("/v1/words/w1/neighbors")?;
    report.check(
        "50 batches whose clients have disconnected",
        answer.status == 200 && answer.took < Duration::from_secs(20),
        format_args!("a search is answered after {}", milliseconds(answer.took)),
    );
    Ok(())
}

/// Times of cheap questions.
struct Times {
    n: usize,
    median: Duration,
    p99: Duration,
}

/// Asks cheap questions for a while, on one connection.
fn cheap(target: &Target, time: Duration) -> Result<Times> {
    let paths = ["/v1/similarity?a=w1&b=w2", "/v1/words/w7", "/v1/words?prefix=w1", "/healthz"];
    let mut stream = target.connect()?;
    let (start, mut times) = (Instant::now(), Vec::new());
    while start.elapsed() < time {
        for path in paths {
            let answer = exchange(&mut stream, &get(path))?;
            ensure!(answer.status == 200, "{path}: {answer:?}");
            times.push(answer.took);
        }
        thread::sleep(Duration::from_millis(2));
    }
    times.sort_unstable();
    Ok(Times { n: times.len(), median: times[times.len() / 2], p99: times[times.len() * 99 / 100] })
}
