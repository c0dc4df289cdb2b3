//! The processes of the benchmark: the service and the load generator.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::peers::timed::{high_water_mark, in_own_session};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::{Answered, Pace};

/// A running service.
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
            ensure!(begin.elapsed() < Duration::from_secs(30), "the service does not respond");
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

    pub fn stats(&self) -> Result<Value> {
        Ok(serde_json::from_str(&ureq::get(self.url("/v1/stats")).call()?.body_mut().read_to_string()?)?)
    }

    /// Stops it and returns its peak memory in kilobytes.
    pub fn stop(mut self) -> Result<u64> {
        let id = self.child.id();
        let status =
            fs::read_to_string(format!("/proc/{id}/status")).context("this benchmark needs Linux")?;
        let peak = high_water_mark(&status).context("the system does not report peak memory")?;
        ensure!(Command::new("kill").arg(id.to_string()).status()?.success(), "could not stop the service");
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
        // Only has an effect after an error; a stopped service is gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A load generator in a session of its own, which ours does not slow down.
pub struct Questioner(Child);

impl Questioner {
    pub fn start(address: &str, model: &Path, pace: Pace) -> Result<Questioner> {
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args(["bench", "questions", "--address", address, "--model"])
            .arg(model)
            .args(pace.rate.map(|rate| format!("--rate={rate}")))
            .args(pace.clients.map(|clients| format!("--clients={clients}")));
        let child = in_own_session(&command).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        Ok(Questioner(child))
    }

    pub fn stop(mut self) -> Result<Answered> {
        drop(self.0.stdin.take());
        let output = self.0.wait_with_output()?;
        ensure!(output.status.success(), "the load generator ended with {}", output.status);
        Ok(serde_json::from_slice(&output.stdout)?)
    }
}
