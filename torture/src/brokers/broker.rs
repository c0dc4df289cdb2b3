//! A broker: what attacks need of its kind, and its process.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::PATIENCE;

/// A kind of broker.
pub trait Broker: Sized + Send + Sync {
    /// Whether messages survive when the server is killed.
    const IS_DURABLE: bool;
    /// Prepares a command that starts the server, with its data in the folder.
    fn command(program: &Path, endpoint: &Endpoint) -> Result<Command>;
    /// The port, if the server has chosen it and prints it.
    fn port(_: ChildStdout) -> Result<Option<u16>> {
        Ok(None)
    }
    /// Creates the stream.
    async fn create(endpoint: &Endpoint) -> Result<()>;
    /// The source for the service.
    fn url(endpoint: &Endpoint) -> String;
    /// Where the service sends its events.
    fn sink(endpoint: &Endpoint) -> String;
    /// Connects as a producer, which does not try again.
    async fn connect(endpoint: &Endpoint) -> Result<Self>;
    /// Publishes messages; fails if the broker does not say that it has them all. Nothing is sent twice.
    async fn publish(&self, messages: Vec<String>, random: u64) -> Result<()>;
    /// All messages in the order in which the broker has them, by partition.
    async fn read(&self) -> Result<Vec<Vec<String>>>;
    /// All events, as the broker has them.
    async fn read_events(&self) -> Result<Vec<Vec<u8>>>;
}

/// Where a broker listens, and the folder of its data.
#[derive(Clone)]
pub struct Endpoint {
    pub folder: PathBuf,
    pub port: u16,
}

impl Endpoint {
    /// A folder for a new broker, and a port that is free.
    pub fn new(folder: &Path) -> Result<Endpoint> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        Ok(Endpoint { folder: folder.to_owned(), port })
    }
}

/// A broker, or a program that reads it. It does not outlive the attack.
pub struct Process(pub Child);

impl Process {
    /// Starts a broker, and returns when it listens. It may have chosen another port.
    pub fn start<B: Broker>(program: &Path, endpoint: &Endpoint) -> Result<(Process, Endpoint)> {
        let mut command = B::command(program, endpoint)?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let child = command.spawn().with_context(|| {
            format!("cannot start {}; `cargo xtask torture brokers` installs it", program.display())
        })?;
        let mut process = Process(child);
        let output = process.0.stdout.take().context("its output is not piped")?;
        let port = B::port(output)?.unwrap_or(endpoint.port);
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            ensure!(process.0.try_wait()?.is_none(), "{} ended by itself", program.display());
            ensure!(begin.elapsed() < PATIENCE, "{} does not listen", program.display());
            thread::sleep(Duration::from_millis(10));
        }
        Ok((process, Endpoint { port, ..endpoint.clone() }))
    }

    /// `kill -9`.
    pub fn kill(&mut self) -> Result<()> {
        self.0.kill()?;
        self.0.wait()?;
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}
