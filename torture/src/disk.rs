//! Broken disks: every file call fails in turn, in every way that disks fail.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use skipstream::Trainer;
use tempfile::TempDir;

use crate::client::Client;
use crate::job::{Job, Source};
use crate::learned::{check_acknowledged, learned_lines};
use crate::random::Random;
use crate::serving::{Address, Serving};
use crate::shim::{Action, Kind, Plan, Shim};
use crate::{Report, Torture};

#[derive(Args)]
pub struct Options {}

/// A way in which a disk fails.
#[derive(Clone, Copy)]
struct Fault {
    name: &'static str,
    action: Action,
    argument: u64,
    /// What the message must say; nothing if the program must succeed.
    message: Option<&'static str>,
}

const fn failing(name: &'static str, error: i32, message: &'static str) -> Fault {
    Fault { name, action: Action::Fail, argument: error as u64, message: Some(message) }
}

const ENOSPC: i32 = 28;
const EIO: i32 = 5;
const EROFS: i32 = 30;

const ERRORS: [Fault; 3] = [
    failing("full disk (ENOSPC)", ENOSPC, "No space left on device"),
    failing("disk error (EIO)", EIO, "Input/output error"),
    failing("read-only (EROFS)", EROFS, "Read-only file system"),
];

const NUISANCES: [Fault; 2] = [
    Fault { name: "short writes", action: Action::WriteShort, argument: 0, message: None },
    Fault { name: "slow syncs", action: Action::Slow, argument: 20, message: None },
];

/// How long the service may take to notice that the disk works again.
const PATIENCE: Duration = Duration::from_secs(60);

pub fn run(torture: &Torture, _options: &Options, report: &mut Report) -> Result<()> {
    for fault in ERRORS.iter().chain(&NUISANCES) {
        for lasting in [false, true] {
            let how = if lasting { "from each file call on" } else { "at each file call" };
            let outcome = training(torture, *fault, lasting);
            report.outcome(&format!("train, {} {how}", fault.name), outcome, |(runs, failed)| match fault.message {
                Some(_) => format!("{runs} runs, {failed} failed with a message; old and new models were whole, and completed"),
                None => format!("{runs} runs, all succeeded byte for byte"),
            });
        }
    }
    for fault in &ERRORS {
        report.outcome(
            &format!("export, {} at each file call", fault.name),
            exporting(torture, *fault),
            |runs| format!("{runs} runs; the old file stayed until the new one was whole"),
        );
    }
    for fault in &ERRORS {
        report.outcome(
            &format!("rollback, {} at each file call", fault.name),
            rolling_back(torture, *fault),
            |runs| format!("{runs} runs; it happened, or failed with a message"),
        );
    }
    for fault in &ERRORS {
        report.outcome(&format!("serve, {} at single calls and for a while", fault.name), serving(torture, *fault), |lines| {
            format!("it stayed up, refused text, and recovered; {lines} acknowledged lines were learned exactly once")
        });
    }
    report.outcome("serve, slow syncs", slow_syncs(torture), |questions| {
        format!("{questions} questions were answered while one upload waited for the disk")
    });
    Ok(())
}

fn plan(fault: Fault, call: u64, lasting: bool) -> Plan {
    let kinds = if fault.action == Action::Slow { Kind::Sync.bit() } else { u64::MAX };
    let last = if lasting { u64::MAX } else { call };
    Plan { action: fault.action, calls: call..=last, kinds, argument: fault.argument }
}

/// A model learns more text, and the disk fails. Afterwards the model is the old one or a later one, whole; the message says what
/// happened; and the same command completes the training once the disk works.
fn training(torture: &Torture, fault: Fault, lasting: bool) -> Result<(u64, u64)> {
    let texts = TempDir::new()?;
    let old = Job::new(torture, Source::File, texts.path(), "")?.undisturbed;
    let texts = TempDir::new()?;
    let job = Job::new(torture, Source::Several, texts.path(), "--keep-previous")?;
    // What the undisturbed command makes of the old model.
    let folder = TempDir::new()?;
    let model = folder.path().join("m.safetensors");
    fs::write(&model, &old)?;
    job.complete(&model)?;
    let new = fs::read(&model)?;

    let (mut runs, mut failures) = (0, 0);
    let step = if torture.short { 7 } else { 1 };
    for call in (1..).step_by(step) {
        let folder = TempDir::new()?;
        let model = folder.path().canonicalize()?.join("m.safetensors");
        let shim = Shim::new(folder.path())?;
        fs::write(&model, &old)?;
        let mut command = job.command(&model)?;
        shim.attach(&mut command, Some(&plan(fault, call, lasting)))?;
        let output = command.output()?;
        if shim.calls()? < call {
            break;
        }
        runs += 1;
        let check = || -> Result<bool> {
            let failed = said(&output, fault.message)?;
            let found = fs::read(&model).context("the model is missing")?;
            ensure!(failed || found == new, "the command succeeded, and the model is not complete");
            Trainer::load(&model, None)?;
            let previous = model.with_file_name("m.safetensors.previous");
            ensure!(found == old || fs::read(&previous)? == old, "the previous model was not kept");
            job.complete(&model)?;
            ensure!(fs::read(&model)? == new, "the model differs from the undisturbed one");
            ensure!(fs::read(&previous)? == old, "the resumed command kept something else");
            Ok(failed)
        };
        failures += u64::from(check().with_context(|| format!("call {call}"))?);
    }
    ensure!(runs > 0 && (fault.message.is_none() || failures > 0), "nothing failed");
    Ok((runs, failures))
}

/// Whether the program failed. If it did, it must have been meant to, and have said why.
fn said(output: &Output, message: Option<&str>) -> Result<bool> {
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(!told.contains("panicked"), "{told}");
    if output.status.success() {
        return Ok(false);
    }
    ensure!(output.status.code() == Some(2), "{}: {told}", output.status);
    let message = message.with_context(|| format!("it failed: {told}"))?;
    ensure!(told.contains(message), "the message does not say `{message}`: {told}");
    Ok(true)
}

/// An export replaces an older file.
fn exporting(torture: &Torture, fault: Fault) -> Result<u64> {
    let texts = TempDir::new()?;
    let job = Job::new(torture, Source::File, texts.path(), "")?;
    let model = texts.path().join("m.safetensors");
    fs::write(&model, &job.undisturbed)?;
    let export = |to: &Path| {
        let mut command = torture.program.command("export --to word2vec-text --model");
        command.arg(&model).arg(to);
        command
    };
    let folder = TempDir::new()?;
    let whole = folder.path().join("whole");
    ensure!(export(&whole).output()?.status.success(), "the export failed");
    let whole = fs::read(whole)?;
    for call in 1.. {
        let folder = TempDir::new()?;
        let to: PathBuf = folder.path().canonicalize()?.join("vectors");
        fs::write(&to, "old")?;
        let shim = Shim::new(folder.path())?;
        let mut command = export(&to);
        shim.attach(&mut command, Some(&plan(fault, call, false)))?;
        let output = command.output()?;
        if shim.calls()? < call {
            ensure!(call > 1, "there were no calls");
            return Ok(call - 1);
        }
        let failed = said(&output, fault.message).with_context(|| format!("call {call}"))?;
        let found = fs::read(&to)?;
        ensure!(
            found == whole || (failed && found == b"old"),
            "call {call}: the file is neither the old one nor whole"
        );
        ensure!(fs::read_dir(folder.path())?.count() == 1, "call {call}: a partial file was left");
    }
    unreachable!("a program makes a limited number of calls")
}

/// A rollback fails whole, or says that it may not be on disk.
fn rolling_back(torture: &Torture, fault: Fault) -> Result<u64> {
    let texts = TempDir::new()?;
    let [old, new] =
        [Source::File, Source::Several].map(|source| Job::new(torture, source, texts.path(), ""));
    let (old, new) = (old?.undisturbed, new?.undisturbed);
    let roll_back = |plan: &Plan| -> Result<(bool, u64)> {
        let folder = TempDir::new()?;
        let model = folder.path().canonicalize()?.join("m.safetensors");
        fs::write(&model, &new)?;
        fs::write(model.with_file_name("m.safetensors.previous"), &old)?;
        let shim = Shim::new(folder.path())?;
        let mut command = torture.program.command("rollback --model");
        command.arg(&model);
        shim.attach(&mut command, Some(plan))?;
        let failed = said(&command.output()?, fault.message)?;
        let found = fs::read(&model)?;
        ensure!(found == old || (failed && found == new), "the rollback did not happen");
        Ok((failed, shim.calls()?))
    };
    let (failed, _) = roll_back(&Plan { kinds: Kind::Sync.bit(), ..plan(fault, 0, true) })?;
    ensure!(failed, "it was not synced, and said that it had happened");
    let mut runs = 1;
    for call in 1.. {
        let (_, calls) = roll_back(&plan(fault, call, false)).with_context(|| format!("call {call}"))?;
        if calls < call {
            break;
        }
        runs += 1;
    }
    Ok(runs)
}

/// Starts a service on a disk that works so far. Returns the service, the disk and the data folder.
fn start(torture: &Torture, folder: &TempDir) -> Result<(Serving, Shim, PathBuf)> {
    let data = folder.path().canonicalize()?.join("data");
    let shim = Shim::new(folder.path())?;
    let mut command = Serving::command(torture, &data);
    shim.attach(&mut command, None)?;
    let mut serving = Serving::start(command, &Address::default())?;
    serving.wait_until_it_listens()?;
    Ok((serving, shim, data))
}

/// The disk fails while the service runs, at single calls and for a while, and recovers.
fn serving(torture: &Torture, fault: Fault) -> Result<usize> {
    let folder = TempDir::new()?;
    let (mut serving, shim, data) = start(torture, &folder)?;
    let mut client = Client::new(0, &serving.address, Random::new(torture.seed, 1));
    let mut random = Random::new(torture.seed, 3);
    let mut sent = Vec::new();
    for round in 0..if torture.short { 2 } else { 10 } {
        // One call fails, whichever it is: a write of the log, of a checkpoint, of its folder. Refused requests are sent again.
        for _ in 0..5 {
            shim.plan(Some(&plan(fault, shim.calls()? + 1 + random.below(30), false)))?;
            sent.push(client.next(sent.len(), 1 + random.below(20))?);
        }
        shim.plan(Some(&plan(fault, 0, true)))?;
        let check = || -> Result<()> {
            let (status, answer) = client.try_once(&format!("round{round}"))?;
            ensure!(matches!(status, 500..=599), "text was not refused: {status} {answer}");
            let (status, answer) = serving.get("/readyz")?;
            ensure!(status == 503, "/readyz says {status} {answer}");
            let (status, answer) = serving.get("/healthz")?;
            ensure!(status == 200, "/healthz says {status} {answer}");
            let (status, answer) = serving.get("/v1/stats")?;
            ensure!(status == 200, "/v1/stats says {status} {answer}");
            Ok(())
        };
        check().with_context(|| format!("round {round}, while the disk is broken"))?;
        thread::sleep(Duration::from_millis(random.below(300)));
        ensure!(!serving.has_ended()?, "the service ended: {}", serving.told());
        shim.plan(None)?;
        let begin = Instant::now();
        while serving.get("/readyz")?.0 != 200 {
            ensure!(
                begin.elapsed() < PATIENCE,
                "the disk works again, and /readyz says {:?}",
                serving.get("/readyz")?
            );
            thread::sleep(Duration::from_millis(20));
        }
    }
    let filling = Client::new(9, &serving.address, Random::new(torture.seed, 9));
    serving.wait_for(filling.fill()?.last)?;
    serving.end()?;
    check_acknowledged(&sent, &learned_lines(&data)?)
}

/// An upload waits for a slow disk; questions do not.
fn slow_syncs(torture: &Torture) -> Result<u64> {
    let folder = TempDir::new()?;
    let (serving, shim, _) = start(torture, &folder)?;
    let mut client = Client::new(0, &serving.address, Random::new(torture.seed, 1));
    client.next(0, 20)?;
    shim.plan(Some(&Plan { argument: 2_000, ..plan(NUISANCES[1], 0, true) }))?;
    let questions = thread::scope(|scope| -> Result<u64> {
        let upload = scope.spawn(move || client.next(1, 20));
        let mut questions = 0;
        while !upload.is_finished() {
            let (status, answer) = serving.get("/v1/stats")?;
            ensure!(status == 200, "{status} {answer}");
            questions += u64::from(!upload.is_finished());
        }
        upload.join().map_err(|_| anyhow::anyhow!("the upload panicked"))??;
        Ok(questions)
    })?;
    ensure!(questions >= 5, "only {questions} questions were answered while one upload waited");
    shim.plan(None)?;
    serving.end()?;
    Ok(questions)
}
