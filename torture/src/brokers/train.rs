//! `train --follow --source` reads a broker, and both are killed at random moments while messages are published. Afterwards the same
//! command learns the rest, and every message that the broker has was learned exactly once and in order.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use super::{Broker, Endpoint, PASSWORD, Process, Victim, check_learned, wait_for, while_producing};
use crate::Torture;
use crate::learned::learned_lines;
use crate::random::Random;
use crate::serving::Serving;

/// Returns the number of messages.
pub fn attack<B: Broker>(torture: &Torture, program: &Path, kills: u64) -> Result<usize> {
    let folder = TempDir::new()?;
    let model = folder.path().join("model.safetensors");
    let (broker, endpoint) = Process::start::<B>(program, &Endpoint::new(folder.path())?)?;
    wait_for(B::create(&endpoint)).context("cannot create the stream")?;
    let (_, _broker) = while_producing::<B, _>(torture, &endpoint, || {
        let mut random = Random::new(torture.seed, 0);
        let mut broker = broker;
        let mut training = Process(command::<B>(torture, &model, &endpoint).spawn()?);
        for _ in 0..kills {
            thread::sleep(Duration::from_micros(random.below(900_000)));
            let victim = Victim::choose::<B>(&mut random);
            ensure!(training.0.try_wait()?.is_none(), "the training ended by itself");
            if victim.is_broker() {
                broker.kill()?;
            }
            if victim.is_program() {
                training.kill()?;
                training = Process(command::<B>(torture, &model, &endpoint).spawn()?);
            }
            if victim.is_broker() {
                thread::sleep(Duration::from_micros(random.below(300_000)));
                (broker, _) = Process::start::<B>(program, &endpoint)?;
            }
        }
        training.kill()?;
        Ok(broker)
    })?;
    let partitions = wait_for(async { B::connect(&endpoint).await?.read().await });
    let partitions = partitions.context("cannot read the messages back")?;
    let messages: usize = partitions.iter().map(Vec::len).sum();
    ensure!(messages as u64 > 10 * kills, "only {messages} messages were published");
    let rest = command::<B>(torture, &model, &endpoint)
        .args(["--idle-exit", "5s"])
        .stderr(Stdio::piped())
        .output()?;
    let told = String::from_utf8_lossy(&rest.stderr);
    ensure!(rest.status.success(), "the training ended with {}: {told}", rest.status);
    let saved = fs::read(&model)?;
    let holds_password = saved.windows(PASSWORD.len()).any(|bytes| bytes == PASSWORD.as_bytes());
    ensure!(!told.contains(PASSWORD) && !holds_password, "the password is shown: {told}");
    check_learned(&learned_lines(folder.path())?, &partitions)?;
    Ok(messages)
}

/// A command that begins or resumes the training, and saves it all the time.
fn command<B: Broker>(torture: &Torture, model: &Path, endpoint: &Endpoint) -> Command {
    let mut command = torture.program.command("train --follow --checkpoint-every 30ms --log-json --model");
    command.arg(model).args(Serving::MODEL.split(' ')).env("SKIPSTREAM_SOURCE", B::url(endpoint));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}
