//! A `skipstream serve` under attack.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::Torture;

pub const DIMENSIONS: usize = 4;

/// A service that takes longer than this to start, to learn a line or to end hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where the service listens now, if it does.
#[derive(Clone, Default)]
pub struct Address(Arc<(Mutex<Option<String>>, Condvar)>);

impl Address {
    /// Waits until there is one, but not indefinitely: the service may be killed first.
    pub fn wait(&self) -> Option<String> {
        let wait =
            self.0.1.wait_timeout_while(self.lock(), Duration::from_millis(100), |address| address.is_none());
        wait.unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    fn set(&self, new: Option<String>) {
        *self.lock() = new;
        self.0.1.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A service that is starting or running.
pub struct Serving {
    child: Child,
    pub address: Address,
    listener: Option<JoinHandle<String>>,
}

impl Serving {
    /// The settings of its model.
    pub const MODEL: &str = "--max-vocabulary 1000000 --batch-words 400 --replay-words 2000 --threads 2 --max-sentence-words 10 \
                             --dimensions 4";

    /// A command in which something is learned, published or saved all the time: batches have 200 new words.
    pub fn command(torture: &Torture, data: &Path) -> Command {
        Serving::command_saving(torture, data, "30ms")
    }

    /// The same with another interval between checkpoints.
    pub fn command_saving(torture: &Torture, data: &Path, every: &str) -> Command {
        let mut command = torture.program.command("serve --data");
        command.arg(data).args(["--checkpoint-every", every]);
        command.args("--listen 127.0.0.1:0 --publish-every 50ms --drain-time 0s".split(' '));
        command.args(Serving::MODEL.split(' '));
        command
    }

    /// Starts it, and does not wait until it listens.
    pub fn start(mut command: Command, address: &Address) -> Result<Serving> {
        let mut child = command.stderr(Stdio::piped()).spawn()?;
        let errors = BufReader::new(child.stderr.take().context("standard error is piped")?);
        let listening = address.clone();
        let listener = thread::spawn(move || {
            let mut told = String::new();
            for line in errors.lines().map_while(Result::ok) {
                if let Some((_, rest)) = line.split_once("listening on http://") {
                    listening.set(rest.split('/').next().map(str::to_owned));
                }
                told.push_str(&line);
                told.push('\n');
            }
            told
        });
        Ok(Serving { child, address: address.clone(), listener: Some(listener) })
    }

    pub fn wait_until_it_listens(&mut self) -> Result<()> {
        let begin = Instant::now();
        while self.address.wait().is_none() {
            if let Some(status) = self.child.try_wait()? {
                bail!("the service ended by itself with {status}: {}", self.told());
            }
            ensure!(begin.elapsed() < PATIENCE, "the service does not listen");
        }
        Ok(())
    }

    /// `kill -9`. What it said until then must be neither a panic nor an error.
    pub fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.wait()?;
        let told = self.told();
        ensure!(!told.contains("panicked") && !told.contains("ERROR"), "{told}");
        Ok(())
    }

    /// Asks it to end.
    pub fn terminate(&self) -> Result<()> {
        let kill = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        ensure!(kill.success(), "could not send a signal");
        Ok(())
    }

    /// Waits until the process is gone.
    pub fn wait(&mut self) -> Result<ExitStatus> {
        let begin = Instant::now();
        let status = loop {
            match self.child.try_wait()? {
                Some(status) => break status,
                None => thread::sleep(Duration::from_millis(5)),
            }
            ensure!(begin.elapsed() < PATIENCE, "the service does not end");
        };
        self.address.set(None);
        Ok(status)
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether the process has ended by itself.
    pub fn has_ended(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Waits until a line is learned.
    pub fn wait_for(&self, line: u64) -> Result<()> {
        let answer = ureq::get(self.url(&format!("/v1/text/{line}/wait?timeout=60"))?).call()?;
        ensure!(answer.status() == 200, "line {line} was not learned");
        Ok(())
    }

    /// An answer in JSON, whatever its status.
    pub fn get(&self, path: &str) -> Result<(u16, Value)> {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE))
            .build()
            .into();
        let mut answer = agent.get(self.url(path)?).call()?;
        let body = answer.body_mut().read_to_string()?;
        let body = serde_json::from_str(&body).unwrap_or(Value::String(body));
        Ok((answer.status().as_u16(), body))
    }

    /// Vectors of these words as they are published.
    pub fn vectors(&self, words: &[String]) -> Result<Vec<u8>> {
        let body = serde_json::json!({ "words": words }).to_string();
        let request = ureq::post(self.url("/v1/vectors")?).header("accept", "application/octet-stream");
        let mut answer = request.content_type("application/json").send(&body)?;
        let vectors = answer.body_mut().read_to_vec()?;
        ensure!(vectors.len() == words.len() * DIMENSIONS * size_of::<f32>(), "a vector is missing");
        Ok(vectors)
    }

    /// Ends the service as it should be ended.
    pub fn end(mut self) -> Result<()> {
        self.terminate()?;
        let status = self.wait()?;
        let told = self.told();
        ensure!(status.success(), "{status}: {told}");
        ensure!(!told.contains("panicked"), "{told}");
        Ok(())
    }

    pub fn url(&self, path: &str) -> Result<String> {
        let begin = Instant::now();
        loop {
            if let Some(address) = self.address.wait() {
                return Ok(format!("http://{address}{path}"));
            }
            ensure!(begin.elapsed() < PATIENCE, "the service does not listen");
        }
    }

    /// What the process said, once it has ended.
    pub fn told(&mut self) -> String {
        self.listener.take().and_then(|listener| listener.join().ok()).unwrap_or_default()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // After a failure; one that has ended cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.address.set(None);
    }
}
