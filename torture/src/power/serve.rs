//! `serve` loses power while clients send text and keep snapshots.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::json;
use skipstream::{Embeddings, Vectors};
use tempfile::TempDir;

use super::disk::Disk;
use super::journal::{self, Entry};
use super::train::outcomes_of;
use crate::client::{Client, Sent};
use crate::learned::{check_acknowledged, learned_lines};
use crate::random::Random;
use crate::serving::{Address, Serving};
use crate::shim::Shim;
use crate::{Report, Torture};

/// What the service has acknowledged, each at a number of calls.
struct Acknowledged {
    requests: Vec<(u64, Sent)>,
    snapshots: Vec<(u64, String)>,
}

pub fn run(torture: &Torture, outcomes: u64, report: &mut Report) {
    report.outcome("serve, power lost", attack(torture, outcomes), |(states, calls, lines)| {
        format!("{states} states of the disk of {calls} calls and {lines} lines: everything acknowledged was there, once")
    });
}

fn attack(torture: &Torture, outcomes: u64) -> Result<(u64, usize, usize)> {
    let folder = TempDir::new()?;
    let root = folder.path().canonicalize()?;
    let before = Disk::of(&root)?;
    let shim = Shim::new(&root)?;
    let mut command = command(torture, &root);
    shim.record(&mut command)?;
    let acknowledged = serve(torture, command, &shim)?;
    let entries = journal::read(&shim.journal()?, &root)?;
    let states = each_state(torture, outcomes, before, &entries, &acknowledged)?;
    let lines = acknowledged.requests.iter().map(|(_, sent)| sent.lines.len()).sum();
    Ok((states, entries.len(), lines))
}

/// The data folder does not exist at first.
fn command(torture: &Torture, root: &Path) -> Command {
    let mut command = Serving::command(torture, &root.join("data"));
    command.args(["--snapshot-every", "200ms"]);
    command
}

/// Text, checkpoints, and snapshots with a name, until the service is asked to end.
fn serve(torture: &Torture, command: Command, shim: &Shim) -> Result<Acknowledged> {
    let address = Address::default();
    let mut serving = Serving::start(command, &address)?;
    serving.wait_until_it_listens()?;
    let mut client = Client::new(0, &address, Random::new(torture.seed, 1));
    let mut random = Random::new(torture.seed, 2);
    let mut acknowledged = Acknowledged { requests: Vec::new(), snapshots: Vec::new() };
    for request in 0..if torture.short { 20 } else { 60 } {
        let lines = if request == 10 { 1_000 } else { 1 + random.below(30) };
        let sent = client.next(request, lines)?;
        acknowledged.requests.push((shim.calls()?, sent));
        if request % 10 == 5 {
            let name = format!("kept{request}");
            let body = json!({ "name": name }).to_string();
            ureq::post(serving.url("/v1/snapshots")?).content_type("application/json").send(&body)?;
            acknowledged.snapshots.push((shim.calls()?, name));
        }
        thread::sleep(Duration::from_millis(random.below(40)));
    }
    serving.end()?;
    Ok(acknowledged)
}

fn each_state(
    torture: &Torture,
    outcomes: u64,
    mut disk: Disk,
    entries: &[Entry],
    acknowledged: &Acknowledged,
) -> Result<u64> {
    let mut random = Random::new(torture.seed, 12);
    // Starting and ending a service takes a while: the moments are drawn, more of them in the long version.
    let moments = if torture.short { 12 } else { 150 };
    let mut states = 0;
    for (moment, entry) in (1..).zip(entries) {
        disk.follow(entry)?;
        if random.below(entries.len() as u64) >= moments && moment < entries.len() {
            continue;
        }
        // What was acknowledged when a later call had begun may depend on that call.
        let calls = if moment == entries.len() { u64::MAX } else { entry.call };
        let regular = outcomes_of(&disk, outcomes, torture.short);
        // One regular outcome is enough for a moment; the next moment has another.
        let survives = [regular[moment % regular.len()], *regular.last().context("no outcome")?];
        for survives in survives {
            let folder = TempDir::new()?;
            let state = folder.path().canonicalize()?;
            disk.lose_power(survives, &mut random, &state)?;
            check(torture, &state, calls, acknowledged)
                .with_context(|| format!("after {moment} of {} calls, with {survives:?}", entries.len()))?;
            states += 1;
        }
    }
    Ok(states)
}

/// Starts the service on a state of the disk. It must have everything that was acknowledged by then.
fn check(torture: &Torture, state: &Path, calls: u64, acknowledged: &Acknowledged) -> Result<()> {
    let address = Address::default();
    let mut serving = Serving::start(command(torture, state), &address)?;
    serving.wait_until_it_listens()?;
    let (status, listed) = serving.get("/v1/snapshots")?;
    ensure!(status == 200, "{listed}");
    for (_, name) in acknowledged.snapshots.iter().filter(|(at, _)| *at <= calls) {
        let snapshots = listed["snapshots"].as_array().context("no list of snapshots")?;
        ensure!(
            snapshots.iter().any(|one| one["name"] == **name),
            "the snapshot `{name}` was acknowledged and lost"
        );
        let vectors = state.join(format!("data/snapshots/{name}.safetensors"));
        Embeddings::load(vectors, Vectors::default())?;
    }
    let filling = Client::new(9, &address, Random::new(torture.seed, 9));
    serving.wait_for(filling.fill()?.last)?;
    serving.end()?;
    let lines = learned_lines(&state.join("data"))?;
    let promised = acknowledged.requests.iter().filter(|(at, _)| *at <= calls);
    check_acknowledged(promised.map(|(_, sent)| sent), &lines)?;
    Ok(())
}
