//! `train` is killed.

use std::os::unix::process::ExitStatusExt;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use crate::job::{Job, Source};
use crate::random::Random;
use crate::shim::{Action, Plan, Shim};
use crate::{Report, Torture};

const SIGKILL: i32 = 9;

pub fn run(torture: &Torture, random: u64, report: &mut Report) -> Result<()> {
    for source in Source::ALL {
        let folder = TempDir::new()?;
        let job = Job::new(torture, source, folder.path(), "")?;
        let killed = at_every_call(torture, &job);
        report.outcome(&format!("{}, killed at each file call", source.name()), killed, |kills| {
            format!("{kills} kills, and each model was completed byte for byte")
        });
        let killed = at_random(torture, &job, random);
        report.outcome(&format!("{}, killed at random moments", source.name()), killed, |(kills, models)| {
            format!("{kills} kills, and {models} models were completed byte for byte")
        });
    }
    Ok(())
}

/// Kills it before, in the middle of and after each file call in turn; each time, the next command completes the model.
fn at_every_call(torture: &Torture, job: &Job<'_>) -> Result<u64> {
    // To follow takes half a second a run: the short version leaves out calls.
    let step = match (torture.short, job.source) {
        (true, Source::Follow) => 11,
        (true, _) => 3,
        (false, _) => 1,
    };
    let mut kills = 0;
    for action in [Action::KillBefore, Action::KillInside, Action::KillAfter] {
        for call in (1 + kills % step..).step_by(step as usize) {
            let folder = TempDir::new()?;
            let model = folder.path().canonicalize()?.join("m.safetensors");
            let shim = Shim::new(folder.path())?;
            let mut command = job.command(&model)?;
            shim.attach(&mut command, Some(&Plan::at(action, call)))?;
            let output = command.output()?;
            if output.status.success() {
                ensure!(shim.calls()? < call, "call {call} was made, but it killed nothing");
                ensure!(kills > 0, "there were no calls");
                break;
            }
            let told = String::from_utf8_lossy(&output.stderr);
            ensure!(output.status.signal() == Some(SIGKILL), "{action:?} {call}: {}: {told}", output.status);
            kills += 1;
            job.resume(&model).with_context(|| format!("{action:?} {call}"))?;
        }
    }
    Ok(kills)
}

/// Kills one command after the other at random moments, until one has completed the model; then begins a new one.
fn at_random(torture: &Torture, job: &Job<'_>, kills: u64) -> Result<(u64, u64)> {
    let mut random = Random::new(torture.seed, job.source as u64);
    let begin = Instant::now();
    let folder = TempDir::new()?;
    job.complete(&folder.path().join("m.safetensors"))?;
    let usual = begin.elapsed();
    let (mut done, mut models) = (0, 0);
    while done < kills {
        let folder = TempDir::new()?;
        let model = folder.path().join("m.safetensors");
        while done < kills {
            let mut child = job.command(&model)?.stderr(std::process::Stdio::null()).spawn()?;
            thread::sleep(Duration::from_micros(random.below(usual.as_micros() as u64)));
            child.kill()?;
            let status = child.wait()?;
            if status.success() {
                break;
            }
            ensure!(status.signal() == Some(SIGKILL), "{status}");
            done += 1;
        }
        job.resume(&model).with_context(|| format!("after {done} kills"))?;
        models += 1;
    }
    Ok((done, models))
}
