//! NATS deletes messages before the service has read them, and then the whole stream.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;

use super::nats::Nats;
use super::{Broker, Endpoint, PATIENCE, Server, runtime, start, wait_until};
use crate::Torture;
use crate::client::line;
use crate::serving::Serving;

pub fn attack(torture: &Torture, program: &Path) -> Result<()> {
    let folder = TempDir::new()?;
    let data = folder.path().join("data");
    let endpoint = Endpoint::new(folder.path())?;
    let (_broker, endpoint) = Server::start::<Nats>(program, &endpoint)?;
    let url = Nats::url(&endpoint);
    let runtime = runtime()?;
    let publish = async |nats: &Nats, numbers: std::ops::Range<u64>| {
        nats.publish(numbers.map(|number| line(&format!("c0r0l{number}"))).collect(), 0).await
    };

    // Ten messages are read. Of the next ten, the first five are deleted while the service is down.
    let nats = runtime.block_on(async {
        let nats = Nats::connect(&endpoint).await?;
        nats.create_stream().await?;
        publish(&nats, 0..10).await?;
        anyhow::Ok(nats)
    })?;
    let serving = start(torture, &data, Some(&url))?;
    wait_until(&serving, "logged", 10)?;
    serving.end()?;
    runtime.block_on(async {
        publish(&nats, 10..20).await?;
        nats.delete_before(16).await
    })?;
    let serving = start(torture, &data, Some(&url))?;
    let source = wait_until_stopped(&serving)?;
    let problem = source["problem"].as_str().unwrap_or_default();
    let expected =
        "the broker deleted 5 messages before they were read, 11 to 15; restart with `lost=continue`";
    ensure!(source["lost"] == 5 && problem.starts_with(expected), "{source}");
    ensure!(serving.get("/v1/stats")?.1["logged"] == 10, "messages after a loss were logged");
    serving.end()?;
    let serving = start(torture, &data, Some(&format!("{url}&lost=continue")))?;
    wait_until(&serving, "logged", 15)?;
    serving.end()?;

    // Another stream of the same name is not read, although it has messages of the numbers that come next.
    runtime.block_on(async {
        nats.delete_stream().await?;
        nats.create_stream().await?;
        publish(&nats, 100..130).await
    })?;
    let serving = start(torture, &data, Some(&url))?;
    let source = wait_until_stopped(&serving)?;
    let problem = source["problem"].as_str().unwrap_or_default();
    ensure!(problem.starts_with("the stream LINES was deleted and created again"), "{source}");
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
