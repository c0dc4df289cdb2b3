//! The service under attack, and its clients.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;

use crate::Torture;
use crate::random::Random;
use crate::serving::{Address, Serving};

/// A request that is not answered in this time never will be.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Words in the model.
pub const WORDS: u64 = 20_000;

/// A service in a folder of its own.
pub struct Target {
    pub serving: Serving,
    pub address: SocketAddr,
    /// The folder with the data folder.
    pub folder: TempDir,
}

/// A response.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
    pub took: Duration,
}

impl Target {
    /// Starts a service that has learned nothing, with more arguments.
    pub fn empty(torture: &Torture, arguments: &str) -> Result<Target> {
        Target::within(torture, arguments, tempfile::tempdir()?)
    }

    /// Starts a service in a folder.
    pub fn within(torture: &Torture, arguments: &str, folder: TempDir) -> Result<Target> {
        Target::of(command(torture, arguments, &folder.path().join("data")), folder)
    }

    /// Starts a service by a command.
    pub fn of(command: Command, folder: TempDir) -> Result<Target> {
        let address = Address::default();
        let mut serving = Serving::start(command, &address)?;
        serving.wait_until_it_listens()?;
        let address = address.wait().context("it listens")?.parse()?;
        Ok(Target { serving, address, folder })
    }

    /// Starts a service with a model that is large enough for questions to take a while.
    pub fn start(torture: &Torture, arguments: &str) -> Result<Target> {
        let target = Target::empty(torture, arguments)?;
        let tokens = if torture.short { 2 * WORDS } else { 150_000 };
        let answer = target.post("/v1/text?wait=learned", "text/plain", &text(torture.seed, tokens))?;
        ensure!(answer.status == 200, "{answer:?}");
        Ok(target)
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Connects from one of the addresses of this machine, so that no limit per address applies, with a small buffer for
    /// what nobody reads.
    pub fn connect_from(&self, number: usize) -> Result<TcpStream> {
        use rustix::net::sockopt::set_socket_recv_buffer_size;
        use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
        let source = Ipv4Addr::new(127, 0, 1 + (number / 200) as u8, 1 + (number % 200) as u8);
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None)?;
        set_socket_recv_buffer_size(&socket, 4 << 10)?;
        bind(&socket, &SocketAddrV4::new(source, 0))?;
        connect(&socket, &self.address)?;
        Ok(TcpStream::from(socket))
    }

    pub fn connect(&self) -> Result<TcpStream> {
        let stream = TcpStream::connect_timeout(&self.address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    pub fn get(&self, path: &str) -> Result<Answer> {
        exchange(&mut self.connect()?, &get(path))
    }

    pub fn post(&self, path: &str, kind: &str, body: &str) -> Result<Answer> {
        exchange(&mut self.connect()?, &post(path, kind, body))
    }

    /// Asks whether the service is ready; returns the status and the reason.
    pub fn ready(&self) -> Result<(u16, String)> {
        let answer = self.get("/readyz")?;
        let body: Value = serde_json::from_str(&answer.body).unwrap_or_default();
        Ok((answer.status, body["error"]["message"].as_str().unwrap_or("ready").to_owned()))
    }

    /// A number of the statistics.
    pub fn stat(&self, pointer: &str) -> Result<u64> {
        let stats: Value = serde_json::from_str(&self.get("/v1/stats")?.body)?;
        stats.pointer(pointer).and_then(Value::as_u64).with_context(|| format!("no {pointer} in {stats}"))
    }

    /// Asks for this path on a connection of its own each time, while something else happens; returns the slowest answer
    /// and the number of answers. Every answer must have this status.
    pub fn slowest(&self, path: &str, status: u16, time: Duration) -> Result<(Duration, usize)> {
        let start = Instant::now();
        let (mut slowest, mut n) = (Duration::ZERO, 0);
        while start.elapsed() < time {
            let answer = self.get(path)?;
            ensure!(answer.status == status, "{path}: {answer:?}");
            slowest = slowest.max(answer.took);
            n += 1;
            thread::sleep(Duration::from_millis(20));
        }
        Ok((slowest, n))
    }
}

fn command(torture: &Torture, arguments: &str, data: &Path) -> Command {
    let mut command = torture.program.command("serve --listen 127.0.0.1:0 --data");
    command.arg(data).args(arguments.split_whitespace());
    for (flag, value) in [("--dimensions", "50"), ("--drain-time", "0s")] {
        if !arguments.contains(flag) {
            command.args([flag, value]);
        }
    }
    command
}

/// Lines of words that are as unevenly frequent as real ones, with this many tokens.
pub fn text(seed: u64, tokens: u64) -> String {
    let mut random = Random::new(seed, 1);
    let mut text = String::new();
    for token in 0..tokens {
        // Each word once, so that all are known, and then by Zipf's law.
        let word = if token < WORDS {
            token
        } else {
            (WORDS as f64).powf(random.below(1 << 20) as f64 / (1 << 20) as f64) as u64
        };
        text.push_str(&format!("w{word}"));
        text.push(if token % 12 == 11 { '\n' } else { ' ' });
    }
    text.push('\n');
    text
}

pub fn get(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").into_bytes()
}

pub fn post(path: &str, kind: &str, body: &str) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body.as_bytes()].concat()
}

/// Sends a request and reads its whole response.
pub fn exchange(stream: &mut TcpStream, request: &[u8]) -> Result<Answer> {
    let start = Instant::now();
    // It may be refused before all of it is sent.
    let _ = stream.write_all(request);
    let mut answer = read(stream)?;
    answer.took = start.elapsed();
    Ok(answer)
}

/// Reads a response, with a length or in chunks.
pub fn read(stream: &mut TcpStream) -> Result<Answer> {
    let mut bytes = Vec::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        let n = stream.read(&mut piece).context("no response")?;
        bytes.extend_from_slice(&piece[..n]);
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
            ensure!(n > 0, "closed without a response");
            continue;
        };
        let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
        let body = &bytes[end + 4..];
        let length =
            head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
        let is_whole = match length {
            Some(length) => body.len() >= length,
            None => body.ends_with(b"0\r\n\r\n"),
        };
        if is_whole {
            let status = head.get(9..12).and_then(|status| status.parse().ok()).context("no status")?;
            let body = String::from_utf8_lossy(body).into_owned();
            return Ok(Answer { status, head, body, took: Duration::ZERO });
        }
        ensure!(n > 0, "closed after {} bytes of a response", bytes.len());
    }
}

/// Whether the other side has closed a connection. What it sent before is dropped.
pub fn is_closed(stream: &mut TcpStream) -> bool {
    let _ = stream.set_read_timeout(Some(Duration::from_millis(1)));
    let mut piece = [0; 1 << 16];
    loop {
        match stream.read(&mut piece) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        }
    }
}

/// Resident memory of a process in bytes, at most, while it was watched.
pub struct Watched {
    is_over: Arc<AtomicBool>,
    most: Arc<Mutex<u64>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Watched {
    pub fn new(process: u32) -> Watched {
        let (is_over, most) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(0)));
        let thread = {
            let (is_over, most) = (is_over.clone(), most.clone());
            thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let now = resident(process).unwrap_or(0);
                    let mut most = most.lock().unwrap_or_else(PoisonError::into_inner);
                    *most = now.max(*most);
                    drop(most);
                    thread::sleep(Duration::from_millis(20));
                }
            })
        };
        Watched { is_over, most, thread: Some(thread) }
    }

    pub fn most(&self) -> u64 {
        *self.most.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(thread::JoinHandle::join);
    }
}

/// Resident memory of a process in bytes.
pub fn resident(process: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    Ok(1024 * line.trim().trim_end_matches(" kB").parse::<u64>()?)
}

/// Allows this process as many open files as the system does.
pub fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Nofile).maximum;
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

/// Megabytes, for people.
pub fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes / 1_000_000)
}

pub fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}
