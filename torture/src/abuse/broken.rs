//! A shutdown, a disk that fails, and a model that diverges.

use std::fs;
use std::io::Write;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::target::{Target, WORDS, exchange, get, text};
use crate::{Report, Torture};

/// SIGTERM: not ready first, questions are answered, then the end.
pub fn sigterm(torture: &Torture, report: &mut Report) -> Result<()> {
    let mut target = Target::start(torture, "--drain-time 2s")?;
    let mut kept = target.connect()?;
    ensure!(exchange(&mut kept, &get("/v1/words/w1"))?.status == 200, "no answer");
    target.serving.terminate()?;
    let start = Instant::now();
    let reason = wait_until_unready(&target)?;
    let text = target.post("/v1/text", "text/plain", "more\n")?.status;
    let old = exchange(&mut kept, &get("/v1/words/w1"))?;
    let new = target.get("/v1/words/w1")?;
    let closes = [&old, &new].iter().all(|answer| answer.head.contains("connection: close"));
    let drained = (reason.as_str(), text, old.status, new.status, closes);
    let status = target.serving.wait()?;
    report.check(
        "SIGTERM",
        drained == ("the service is stopping", 503, 200, 200, true) && status.success(),
        format_args!(
            "not ready ({reason}), text {text}, questions {} and {} with connection: close; {status} after {:.1} s",
            old.status,
            new.status,
            start.elapsed().as_secs_f64()
        ),
    );
    let target = Target::empty(torture, "--drain-time 1h")?;
    target.serving.terminate()?;
    wait_until_unready(&target)?;
    target.serving.terminate()?;
    let mut target = target;
    let status = target.serving.wait()?;
    report.check("a second SIGTERM", true, format_args!("ends a drain of an hour with {status}"));
    Ok(())
}

/// The data folder is deleted.
pub fn deleted(torture: &Torture, report: &mut Report) -> Result<()> {
    let target = Target::start(torture, "")?;
    fs::remove_dir_all(target.data())?;
    refuses(&target, report, "the data folder is deleted", "/v1/words/w1")
}

/// The files of SQLite are damaged.
pub fn damaged(torture: &Torture, report: &mut Report) -> Result<()> {
    let cases = [
        ("log.sqlite", "overwritten"),
        ("log.sqlite", "emptied"),
        ("log.sqlite-wal", "overwritten"),
        ("log.sqlite-wal", "deleted"),
    ];
    for (name, damage) in cases {
        let target = Target::start(torture, "")?;
        let path = target.data().join(name);
        match damage {
            "deleted" => fs::remove_file(&path)?,
            "emptied" => drop(fs::File::create(&path)?),
            _ => {
                let length = fs::metadata(&path)?.len();
                let mut file = fs::OpenOptions::new().write(true).open(&path)?;
                file.write_all(&vec![0xA5; length as usize])?;
            }
        }
        refuses(&target, report, &format!("{name} is {damage}"), "/v1/words/w1")?;
    }
    Ok(())
}

/// A disk without space: a small file system, where mounting is allowed.
pub fn full_disk(torture: &Torture, report: &mut Report) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("data");
    fs::create_dir(&data)?;
    let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64m", "tmpfs"]).arg(&data).output();
    if !mount.is_ok_and(|mount| mount.status.success()) {
        report.check("a full disk", true, "SKIPPED: only root can mount a file system");
        return Ok(());
    }
    let outcome = fill_disk(torture, report, folder);
    let _ = Command::new("umount").arg(&data).status();
    outcome
}

fn fill_disk(torture: &Torture, report: &mut Report, folder: tempfile::TempDir) -> Result<()> {
    let target = Target::within(torture, "--max-vocabulary 5000 --dimensions 10 --batch-words 4000", folder)?;
    ensure!(target.post("/v1/text?wait=learned", "text/plain", &text(1, 50_000))?.status == 200, "no answer");
    let filler = target.data().join("filler");
    let mut rest = fs::File::create(&filler)?;
    while rest.write(&[0; 1 << 12]).is_ok_and(|n| n > 0) {}
    let (status, reason) = target.ready()?;
    let text = target.post("/v1/text", "text/plain", &text(2, 100_000))?.status;
    let checkpoint = target.post("/v1/checkpoint", "text/plain", "")?.status;
    let question = target.get("/v1/words/w1")?.status;
    report.check(
        "a full disk",
        (status, text, checkpoint, question) == (507, 507, 507, 200),
        format_args!("ready {status} ({reason}), text {text}, checkpoint {checkpoint}, question {question}"),
    );
    drop(rest);
    fs::remove_file(filler)?;
    let start = Instant::now();
    let text = loop {
        let answer = target.post("/v1/text?wait=learned", "text/plain", "text after the disk was full\n")?;
        if answer.status == 200 || start.elapsed() > Duration::from_secs(20) {
            break answer.status;
        }
        thread::sleep(Duration::from_millis(100));
    };
    // It would also try again by itself, every ten seconds.
    let checkpoint = target.post("/v1/checkpoint", "text/plain", "")?.status;
    let ready = loop {
        let (status, reason) = target.ready()?;
        if status == 200 || start.elapsed() > Duration::from_secs(30) {
            break reason;
        }
        thread::sleep(Duration::from_millis(100));
    };
    report.check(
        "a disk that has space again",
        text == 200 && checkpoint == 200 && ready == "ready",
        format_args!(
            "text {text}, checkpoint {checkpoint}, {ready} after {:.1} s",
            start.elapsed().as_secs_f64()
        ),
    );
    target.serving.end()
}

/// A model that diverges: words start from vectors that are far too long.
pub fn diverged(torture: &Torture, report: &mut Report) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("data");
    fs::create_dir(&data)?;
    let vectors = folder.path().join("vectors.txt");
    let row = |word: u64| format!("w{word}{}\n", " -3.4e38".repeat(50));
    fs::write(&vectors, format!("{WORDS} 50\n{}", (0..WORDS).map(row).collect::<String>()))?;
    // The first text has none of these words.
    let first = folder.path().join("first.txt");
    fs::write(&first, text(torture.seed, 2 * WORDS).replace('w', "v"))?;
    let mut train = torture.program.command("train --quiet --dimensions 50 --model");
    train.arg(data.join("model.safetensors")).arg("--init").arg(&vectors).arg(&first);
    ensure!(train.status()?.success(), "cannot train");
    let target = Target::within(torture, "", folder)?;
    let question = "/v1/similarity?a=v1&b=v2";
    ensure!(target.get(question)?.status == 200, "no answer");
    let _ = target.post("/v1/text", "text/plain", &text(torture.seed, 100_000))?;
    refuses(&target, report, "the model diverges", question)?;
    let answer = target.get(question)?;
    ensure!(answer.status == 200 && !answer.body.contains("null"), "{answer:?}");
    Ok(())
}

/// Waits until the service is not ready, and returns the reason.
fn wait_until_unready(target: &Target) -> Result<String> {
    let start = Instant::now();
    loop {
        let (status, reason) = target.ready()?;
        if status != 200 {
            return Ok(reason);
        }
        ensure!(start.elapsed() < Duration::from_secs(20), "it stays ready");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Checks that the service is not ready for a reason without a path, refuses text, answers questions and lives.
fn refuses(target: &Target, report: &mut Report, attack: &str, question: &str) -> Result<()> {
    let first = target.post("/v1/text", "text/plain", "more text\n")?.status;
    let reason = wait_until_unready(target)?;
    let text = target.post("/v1/text", "text/plain", "more text\n")?.status;
    let question = target.get(question)?.status;
    let health = target.get("/healthz")?.status;
    let has_path = reason.contains(&*target.folder.path().to_string_lossy());
    report.check(
        attack,
        (text, question, health, has_path) == (503, 200, 200, false),
        format_args!("not ready ({reason}); text {first}, then {text}; question {question}"),
    );
    Ok(())
}
