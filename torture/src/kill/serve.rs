//! `serve` is killed while clients send text, at file calls and at random moments. Afterwards every line that was acknowledged is
//! learned exactly once, and the model is byte for byte that of a service which was never killed and got the lines in the same
//! order.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Result, anyhow, ensure};
use tempfile::TempDir;

use crate::client::{COMMON, Client, FILLING_LINES, Sent, filler};
use crate::learned::{check_acknowledged, learned_lines};
use crate::random::Random;
use crate::serving::{Address, Serving};
use crate::shim::{Action, Plan, Shim};
use crate::{Report, Torture};

const CLIENTS: u64 = 4;

/// A service is killed at one of its first calls: it makes a few when it starts, and some thirty for a checkpoint.
const CALLS: u64 = 150;

pub fn run(torture: &Torture, kills: u64, report: &mut Report) {
    let outcome = attack(torture, kills);
    report.outcome("serve, killed at file calls and random moments", outcome, |(kills, requests, lines)| {
        format!("{kills} kills, {requests} requests, and each of {lines} acknowledged lines was learned exactly once")
    });
}

fn attack(torture: &Torture, kills: u64) -> Result<(u64, usize, usize)> {
    let folder = TempDir::new()?;
    let Killed { data: killed, mut sent, serving, .. } =
        kill_often(torture, kills, folder.path(), CLIENTS, |_, _| Ok(()))?;
    let vectors = end(torture, serving)?;
    sent.sort_by_key(|request| request.first);
    let lines = learned_lines(&killed)?;
    let acknowledged = check_acknowledged(&sent, &lines)?;
    ensure!(acknowledged == lines.len(), "everything that was sent was acknowledged in the end");

    // The same lines in the same order, and nothing happens.
    let undisturbed = folder.path().join("undisturbed");
    let address = Address::default();
    let serving = Serving::start(Serving::command(torture, &undisturbed), &address)?;
    let client = Client::new(CLIENTS + 1, &address, Random::new(torture.seed, 0));
    for part in lines.chunks(5_000) {
        client.send_as(part)?;
    }
    ensure!(end(torture, serving)? == vectors, "the published vectors differ");
    let models = [&undisturbed, &killed].map(|data| fs::read(data.join("model.safetensors")));
    let [one, other] = models;
    ensure!(one? == other?, "the models differ");
    Ok((kills, sent.len(), lines.len()))
}

/// Fills the last batch with text that no client sent, so that all lines are in the model on disk, and ends the service.
/// Returns the vectors of the words that are in every run.
fn end(torture: &Torture, serving: Serving) -> Result<Vec<u8>> {
    let filling = Client::new(CLIENTS, &serving.address, Random::new(torture.seed, CLIENTS + 1));
    serving.wait_for(filling.fill()?.last)?;
    let common = COMMON.iter().map(|word| (*word).to_owned());
    let words: Vec<String> = common.chain((0..FILLING_LINES).map(filler)).collect();
    let vectors = serving.vectors(&words)?;
    serving.end()?;
    Ok(vectors)
}

/// What is left of a service that was killed often.
pub struct Killed<T> {
    /// The folder of its data.
    pub data: PathBuf,
    /// Every request of the clients. All of them were acknowledged in the end.
    pub sent: Vec<Sent>,
    /// What was done meanwhile.
    pub done: T,
    /// It runs on the data of those that were killed.
    pub serving: Serving,
}

/// Kills a service with its data below a folder again and again while clients send text. `meanwhile` runs beside them, and
/// ends when it is over.
pub fn kill_often<T: Send>(
    torture: &Torture,
    kills: u64,
    folder: &Path,
    clients: u64,
    meanwhile: impl FnOnce(&Address, &AtomicBool) -> Result<T> + Send,
) -> Result<Killed<T>> {
    let data = folder.canonicalize()?.join("killed");
    let shim = Shim::new(folder)?;
    let (address, is_over) = (Address::default(), AtomicBool::new(false));
    thread::scope(|scope| {
        let (address, is_over) = (&address, &is_over);
        let clients: Vec<_> = (0..clients)
            .map(|number| {
                let client = Client::new(number, address, Random::new(torture.seed, number + 1));
                scope.spawn(move || client.run(is_over))
            })
            .collect();
        let meanwhile = scope.spawn(move || meanwhile(address, is_over));
        let attacked = (|| {
            let mut random = Random::new(torture.seed, 0);
            for _ in 0..kills {
                kill_once(torture, &shim, &data, address, &mut random)?;
            }
            // The clients finish their current requests, and check that those are accepted.
            Serving::start(Serving::command(torture, &data), address)
        })();
        is_over.store(true, Ordering::Release);
        let serving = attacked?;
        let mut sent = Vec::new();
        for client in clients {
            sent.extend(client.join().map_err(|_| anyhow!("a client panicked"))??);
        }
        let done = meanwhile.join().map_err(|_| anyhow!("what runs beside the clients panicked"))??;
        Ok((sent, done, serving))
    })
    .map(|(sent, done, serving)| Killed { data, sent, done, serving })
}

/// Some services are killed at a file call, some before they listen, some while they end.
fn kill_once(
    torture: &Torture,
    shim: &Shim,
    data: &Path,
    address: &Address,
    random: &mut Random,
) -> Result<()> {
    let mut command = Serving::command(torture, data);
    let at_call = random.below(2) == 0;
    let action = [Action::KillBefore, Action::KillInside, Action::KillAfter][random.below(3) as usize];
    let plan = at_call.then(|| Plan::at(action, 1 + random.below(CALLS)));
    shim.attach(&mut command, plan.as_ref())?;
    let mut serving = Serving::start(command, address)?;
    if at_call {
        // It ends when it makes the call; if text is slow to come, after a while.
        for _ in 0..400 {
            if serving.has_ended()? {
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
        return serving.kill();
    }
    match random.below(8) {
        0 | 1 => thread::sleep(Duration::from_micros(random.below(40_000))),
        2 => {
            serving.wait_until_it_listens()?;
            thread::sleep(Duration::from_micros(random.below(200_000)));
            serving.terminate()?;
            thread::sleep(Duration::from_micros(random.below(20_000)));
        }
        _ => {
            serving.wait_until_it_listens()?;
            thread::sleep(Duration::from_micros(random.below(600_000)));
        }
    }
    serving.kill()
}
