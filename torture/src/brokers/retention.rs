//! A NATS server deletes messages before the service has read them, and then the whole stream.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;

use super::nats::Nats;
use super::{Broker, Endpoint, PATIENCE, Process, start, wait_for, wait_until};
use crate::Torture;
use crate::client::line;
use crate::serving::Serving;

/// What the service says if the messages after the first ten are deleted, up to the fifteenth.
const LOST: &str = "the broker deleted 5 messages before they were read, 11 to 15";
/// What it says about another stream of the same name.
const CHANGED: &str = "the stream LINES was deleted and created again";

pub fn attack(torture: &Torture, program: &Path) -> Result<()> {
    let folder = TempDir::new()?;
    let data = folder.path().join("data");
    let (_broker, endpoint) = Process::start::<Nats>(program, &Endpoint::new(folder.path())?)?;
    let url = Nats::url(&endpoint);
    let publish = async |numbers: std::ops::Range<u64>| -> Result<Nats> {
        let broker = Nats::connect(&endpoint).await?;
        broker.publish(numbers.map(|number| line(&format!("c0r0l{number}"))).collect(), 0).await?;
        Ok(broker)
    };

    // Ten messages are read. Of the next ten, the first five are deleted while the service is down.
    wait_for(async {
        Nats::create(&endpoint).await?;
        publish(0..10).await
    })?;
    let serving = start(torture, &data, Some(&url))?;
    wait_until(&serving, "logged", 10)?;
    serving.end()?;
    wait_for(async { publish(10..20).await?.delete_first(15).await })?;
    let serving = start(torture, &data, Some(&url))?;
    let source = wait_until_stopped(&serving)?;
    let problem = source["problem"].as_str().unwrap_or_default();
    let expected = format!("{}; restart with `lost=continue`", LOST);
    ensure!(source["lost"] == 5 && problem.starts_with(&expected), "{source}");
    ensure!(serving.get("/v1/stats")?.1["logged"] == 10, "messages after a loss were logged");
    serving.end()?;
    let serving = start(torture, &data, Some(&format!("{url}&lost=continue")))?;
    wait_until(&serving, "logged", 15)?;
    serving.end()?;

    // Another stream of the same name is not read, although it has messages of the numbers that come next.
    wait_for(async {
        Nats::create_again(&endpoint).await?;
        publish(100..130).await
    })?;
    let serving = start(torture, &data, Some(&url))?;
    let source = wait_until_stopped(&serving)?;
    let problem = source["problem"].as_str().unwrap_or_default();
    ensure!(problem.starts_with(CHANGED), "{source}");
    serving.end()?;
    let serving = start(torture, &data, Some(&format!("{url}&name=new")))?;
    wait_until(&serving, "logged", 45)?;
    serving.end()
}

/// Waits until the only source has stopped, and returns its state.
fn wait_until_stopped(serving: &Serving) -> Result<Value> {
    let begin = Instant::now();
    loop {
        let (_, mut stats) = serving.get("/v1/stats")?;
        let source = stats["sources"].get_mut(0).context("there is no source")?.take();
        if source["state"] == "stopped" {
            return Ok(source);
        }
        ensure!(begin.elapsed() < PATIENCE, "the source did not stop: {source}");
        thread::sleep(Duration::from_millis(20));
    }
}
