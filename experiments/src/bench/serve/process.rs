//! The processes of the benchmark: the service, and who asks it.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::peers::timed::{high_water_mark, in_own_session};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::Answered;

/// A service that is running.
pub struct Server {
    child: Child,
    address: String,
}

impl Server {
    /// Starts a service on a free port and waits until it answers.
    pub fn start(program: &Path, folder: &Path, settings: &[String]) -> Result<Server> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
        let mut command = Command::new(program);
        command
            .arg("serve")
            .arg("--data")
            .arg(folder.join("data"))
            .args(["--listen", &address])
            .args(settings);
        let log = File::create(folder.join("serve.log"))?;
        let child =
            in_own_session(&command).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()?;
        let server = Server { child, address };
        let begin = Instant::now();
        while ureq::get(server.url("/readyz")).call().is_err() {
            ensure!(begin.elapsed() < Duration::from_secs(30), "the service does not answer");
            thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// Host and port.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Sends a text and waits until it is published.
    pub fn learn(&self, text: &Path) -> Result<()> {
        let file = File::open(text).with_context(|| text.display().to_string())?;
        ureq::post(self.url("/v1/text?wait=learned")).content_type("text/plain").send(file)?;
        Ok(())
    }

    /// What it says of itself.
    pub fn stats(&self) -> Result<Value> {
        Ok(serde_json::from_str(&ureq::get(self.url("/v1/stats")).call()?.body_mut().read_to_string()?)?)
    }

    /// Asks it to stop, and says how much memory it held at the most, in kilobytes.
    pub fn stop(mut self) -> Result<u64> {
        let id = self.child.id();
        let status =
            fs::read_to_string(format!("/proc/{id}/status")).context("this benchmark needs Linux")?;
        let peak = high_water_mark(&status).context("the system does not tell how much memory was used")?;
        ensure!(
            Command::new("kill").arg(id.to_string()).status()?.success(),
            "the service cannot be stopped"
        );
        let ended = self.child.wait()?;
        if !ended.success() {
            bail!("the service ended with {ended}");
        }
        Ok(peak)
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // After an error; one that was stopped is gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks in a process of its own, which no session of ours slows down.
pub struct Questioner(Child);

impl Questioner {
    /// Begins to ask.
    pub fn start(address: &str, model: &Path, rate: u32) -> Result<Questioner> {
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args(["bench", "questions", "--address", address, "--rate", &rate.to_string(), "--model"])
            .arg(model);
        let child = in_own_session(&command).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        Ok(Questioner(child))
    }

    /// Ends it, and says how long the answers took.
    pub fn stop(mut self) -> Result<Answered> {
        drop(self.0.stdin.take());
        let output = self.0.wait_with_output()?;
        ensure!(output.status.success(), "the questions ended with {}", output.status);
        Ok(serde_json::from_slice(&output.stdout)?)
    }
}
