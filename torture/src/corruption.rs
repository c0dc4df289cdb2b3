//! Damaged files: every byte changed, every prefix cut, bytes appended. A file with a checksum is refused, with the damaged part
//! named; nothing panics, hangs, allocates absurd amounts, or answers with wrong vectors without a word.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::Args;
use rustix::process::{Resource, Rlimit, setrlimit};
use skipstream::formats;
use skipstream::snapshot::{inspect, words};
use skipstream::{Embeddings, Trainer, Vectors};
use tempfile::TempDir;

use crate::client::{Client, Sent};
use crate::job::{Job, Source};
use crate::learned::{check_acknowledged, learned_lines};
use crate::random::Random;
use crate::serving::{Address, Serving};
use crate::{Report, Torture};

/// Address space for this process, in which the files are read: a few hundred times what the intact ones need.
const MEMORY: u64 = 4 << 30;

/// Reading one of these files takes microseconds.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Args)]
pub struct Options {}

pub fn run(torture: &Torture, _options: &Options, report: &mut Report) -> Result<()> {
    let limit = Rlimit { current: Some(MEMORY), maximum: Some(MEMORY) };
    setrlimit(Resource::As, limit).context("cannot limit the memory")?;
    // Panics are reported as what they are here.
    std::panic::set_hook(Box::new(|_| {}));
    let folder = TempDir::new()?;
    let files = Files::new(torture, folder.path())?;
    let told =
        |(changed, refused): (u64, u64)| format!("{changed} damaged files, {refused} refused, none misread");

    for (name, path) in
        [("model", &files.model), ("vectors file", &files.vectors), ("snapshot", &files.snapshot)]
    {
        let bytes = fs::read(path)?;
        let outcome = every_damage(torture, &bytes, folder.path(), &mut refused);
        report.outcome(&format!("every damage of a {name}"), outcome, told);
    }
    report.outcome("a damaged model, asked by the program", asked(torture, &files, folder.path()), told);
    for compressed in &files.compressed {
        let extension = compressed.extension().unwrap_or_default().to_string_lossy().into_owned();
        let intact = formats::load(compressed, Vectors::default())?;
        let bytes = fs::read(compressed)?;
        let place = folder.path().join("damaged").join(format!("v.txt.{extension}"));
        let outcome = every_damage_at(torture, &bytes, &place, &mut |path| {
            Ok(match formats::load(path, Vectors::default()) {
                Err(_) => true,
                Ok(found) if same(&found, &intact) => false,
                Ok(_) => bail!("it was read, with other vectors"),
            })
        });
        report.outcome(&format!("every damage of vectors in .{extension}"), outcome, told);
    }
    let told = |(changed, refused)| {
        format!(
            "{changed} damaged logs, {refused} refused or reported; in the others every line was learned exactly once"
        )
    };
    report.outcome("a damaged log", logs(torture, &files), told);
    report.outcome("a damaged write-ahead log after a kill", write_ahead_logs(torture), told);
    Ok(())
}

/// Intact files.
struct Files {
    model: PathBuf,
    vectors: PathBuf,
    snapshot: PathBuf,
    compressed: Vec<PathBuf>,
    /// A data folder whose log has lines that are not in the model yet.
    data: PathBuf,
    sent: Vec<Sent>,
}

impl Files {
    fn new(torture: &Torture, folder: &Path) -> Result<Files> {
        let job = Job::with_vocabulary(torture, Source::File, folder, "", 30)?;
        let model = folder.join("m.safetensors");
        fs::write(&model, &job.undisturbed)?;
        let export = |format: &str, name: &str| -> Result<PathBuf> {
            let to = folder.join(name);
            let output = torture
                .program
                .command(&format!("export --to {format} --model"))
                .arg(&model)
                .arg(&to)
                .output()?;
            ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Ok(to)
        };
        let vectors = export("safetensors", "v.safetensors")?;
        let compressed =
            ["gz", "bz2", "xz", "zst"].iter().map(|end| export("word2vec-text", &format!("v.txt.{end}")));
        let compressed = compressed.collect::<Result<_>>()?;

        let data = folder.join("data");
        let address = Address::default();
        let mut serving = Serving::start(Serving::command(torture, &data), &address)?;
        serving.wait_until_it_listens()?;
        let mut client = Client::new(0, &address, Random::new(torture.seed, 1));
        let sent = (0..8).map(|request| client.next(request, 5)).collect::<Result<Vec<_>>>()?;
        ureq::post(serving.url("/v1/snapshots")?)
            .content_type("application/json")
            .send(r#"{"name":"kept"}"#)?;
        serving.end()?;
        let snapshot = data.join("snapshots/kept.safetensors");
        Ok(Files { model, vectors, snapshot, compressed, data, sent })
    }
}

fn every_damage(
    torture: &Torture,
    intact: &[u8],
    folder: &Path,
    refused: &mut dyn FnMut(&Path) -> Result<bool>,
) -> Result<(u64, u64)> {
    every_damage_at(torture, intact, &folder.join("damaged/file.safetensors"), refused)
}

/// Calls `read` with each damaged file. It returns whether the file was refused, and fails if it was misread.
fn every_damage_at(
    torture: &Torture,
    intact: &[u8],
    path: &Path,
    read: &mut dyn FnMut(&Path) -> Result<bool>,
) -> Result<(u64, u64)> {
    fs::create_dir_all(path.parent().context("a path in a folder")?)?;
    let mut random = Random::new(torture.seed, 21);
    let (mut changed, mut refused) = (0, 0);
    let mut check = |what: &str, bytes: &[u8]| -> Result<()> {
        fs::write(path, bytes)?;
        let begin = Instant::now();
        let outcome =
            catch_unwind(AssertUnwindSafe(|| read(path))).unwrap_or_else(|_| Err(anyhow!("it panicked")));
        refused += u64::from(outcome.with_context(|| what.to_owned())?);
        ensure!(begin.elapsed() < PATIENCE, "{what}: it took {:?}", begin.elapsed());
        changed += 1;
        Ok(())
    };
    // The short version begins anywhere, so that runs differ.
    let step = if torture.short { 5 } else { 1 };
    for at in (random.below(step) as usize..intact.len()).step_by(step as usize) {
        let bit = random.below(8);
        for (what, mask) in [("every bit", 0xff), ("a bit", 1u8 << bit)] {
            let mut bytes = intact.to_vec();
            bytes[at] ^= mask;
            check(&format!("{what} of byte {at} flipped"), &bytes)?;
        }
        check(&format!("cut after {at} bytes"), &intact[..at])?;
    }
    for appended in [1, 7, 4096] {
        let mut bytes = intact.to_vec();
        bytes.resize(intact.len() + appended, 0);
        check(&format!("{appended} bytes appended"), &bytes)?;
    }
    // A sector of zeros, and one of another place.
    for start in (0..intact.len()).step_by(512) {
        let end = (start + 512).min(intact.len());
        let mut bytes = intact.to_vec();
        bytes[start..end].fill(0);
        check(&format!("zeros from byte {start}"), &bytes)?;
        let from = random.below((intact.len() - (end - start) + 1) as u64) as usize;
        let mut bytes = intact.to_vec();
        bytes[start..end].copy_from_slice(&intact[from..from + end - start]);
        if bytes != intact {
            check(&format!("byte {from} and on at {start}"), &bytes)?;
        }
    }
    Ok((changed, refused))
}

/// Reads a damaged model or vectors file in every way. All must refuse it and say which part is damaged.
fn refused(path: &Path) -> Result<bool> {
    let vectors = Vectors::default();
    let outcomes = [
        ("load", Embeddings::load(path, vectors).err()),
        ("open", Embeddings::open_verified(path, vectors).err()),
        ("train", Trainer::load(path, Some(1)).err()),
    ];
    let mut damaged = false;
    for (how, error) in outcomes {
        // A part that one reader does not need may be damaged for another.
        let Some(error) = error else { continue };
        let message = error.to_string();
        let names = [
            "not a skipstream model file: ",
            "the model file is damaged: ",
            "format version ",
            "no training state",
        ];
        ensure!(names.iter().any(|name| message.contains(name)), "`{how}` says only: {message}");
        damaged = damaged || how != "train" || !message.contains("no training state");
    }
    let inspected = inspect(path).map_or_else(|error| error.to_string(), |found| found.problems.join("; "));
    ensure!(!inspected.is_empty(), "`inspect` found nothing");
    let _ = words(path);
    ensure!(damaged, "nothing but `inspect` ({inspected}) refused it");
    Ok(true)
}

fn same(one: &Embeddings, other: &Embeddings) -> bool {
    one.words().eq(other.words()) && one.vectors().eq(other.vectors())
}

/// The program says what is wrong with a damaged model, and fails.
fn asked(torture: &Torture, files: &Files, folder: &Path) -> Result<(u64, u64)> {
    let intact = fs::read(&files.model)?;
    let word = words(&files.model)?.first().context("the model is empty")?.word.clone();
    let path = folder.join("damaged/asked.safetensors");
    let step = if torture.short { 997 } else { 29 };
    let (mut changed, mut failed) = (0, 0);
    for at in (0..intact.len()).step_by(step) {
        let mut bytes = intact.clone();
        bytes[at] ^= 0x10;
        fs::write(&path, bytes)?;
        for command in ["inspect", "train --again", "neighbors"] {
            let mut command = torture.program.command(command);
            command.arg("--model").arg(&path);
            let arguments: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
            match arguments.first().and_then(|first| first.to_str()) {
                Some("inspect") => {}
                Some("train") => drop(command.arg(folder.join("text0"))),
                _ => drop(command.arg(&word)),
            }
            let output = command.output()?;
            let told = String::from_utf8_lossy(&output.stderr);
            changed += 1;
            ensure!(!told.contains("panicked"), "byte {at}: {arguments:?}: {told}");
            let code = output
                .status
                .code()
                .with_context(|| format!("byte {at}: {arguments:?}: {}", output.status))?;
            failed += u64::from(code == 2);
            // A question may not need the damaged part.
            let needs_all = arguments[0] != "neighbors";
            ensure!(
                code == 2 || (code == 0 && !needs_all),
                "byte {at}: {arguments:?}: status {code}: {told}"
            );
        }
    }
    Ok((changed, failed))
}

/// A service starts with a damaged log. It refuses it, reports it, or loses nothing.
fn logs(torture: &Torture, files: &Files) -> Result<(u64, u64)> {
    let mut random = Random::new(torture.seed, 22);
    let intact = fs::read(files.data.join("log.sqlite"))?;
    let (mut changed, mut noticed) = (0, 0);
    for _ in 0..if torture.short { 6 } else { 150 } {
        let at = random.below(intact.len() as u64) as usize;
        let mut bytes = intact.clone();
        match random.below(2) {
            0 => bytes[at] ^= 1 << random.below(8),
            _ => bytes[at..].iter_mut().take(512).for_each(|byte| *byte ^= random.below(256) as u8),
        }
        let folder = TempDir::new()?;
        let data = folder.path().join("data");
        fs::create_dir(&data)?;
        fs::copy(files.data.join("model.safetensors"), data.join("model.safetensors"))?;
        fs::write(data.join("log.sqlite"), bytes)?;
        changed += 1;
        noticed +=
            u64::from(log(torture, &files.sent, &data).with_context(|| format!("damage at byte {at}"))?);
    }
    Ok((changed, noticed))
}

/// A service is killed, and a bit or a sector of what it has just written is damaged.
fn write_ahead_logs(torture: &Torture) -> Result<(u64, u64)> {
    let mut random = Random::new(torture.seed, 23);
    let folder = TempDir::new()?;
    let killed = folder.path().join("killed");
    let address = Address::default();
    // Without checkpoints, which would empty the write-ahead log.
    let mut serving = Serving::start(Serving::command_saving(torture, &killed, "1h"), &address)?;
    serving.wait_until_it_listens()?;
    let mut client = Client::new(0, &address, Random::new(torture.seed, 3));
    let sent = (0..8).map(|request| client.next(request, 5)).collect::<Result<Vec<_>>>()?;
    serving.kill()?;
    let intact = fs::read(killed.join("log.sqlite-wal"))?;
    let (mut changed, mut noticed) = (0, 0);
    for _ in 0..if torture.short { 6 } else { 150 } {
        let at = random.below(intact.len() as u64) as usize;
        let mut bytes = intact.clone();
        match random.below(2) {
            0 => bytes[at] ^= 1 << random.below(8),
            _ => bytes[at..].iter_mut().take(512).for_each(|byte| *byte ^= random.below(256) as u8),
        }
        let data = folder.path().join("damaged");
        fs::create_dir(&data)?;
        for name in ["model.safetensors", "log.sqlite", "log.mark"] {
            fs::copy(killed.join(name), data.join(name))?;
        }
        fs::write(data.join("log.sqlite-wal"), bytes)?;
        changed += 1;
        noticed += u64::from(log(torture, &sent, &data).with_context(|| format!("damage at byte {at}"))?);
        fs::remove_dir_all(&data)?;
    }
    Ok((changed, noticed))
}

/// Whether the damage was noticed. If not, everything must be right.
fn log(torture: &Torture, sent: &[Sent], data: &Path) -> Result<bool> {
    let address = Address::default();
    let mut serving = Serving::start(Serving::command(torture, data), &address)?;
    if let Err(error) = serving.wait_until_it_listens() {
        ensure!(serving.has_ended()? && !error.to_string().contains("panicked"), "{error:#}");
        return Ok(true);
    }
    // Lines that fill the open batch are refused if the damage is noticed when they are written, or when the others are read.
    let mut filling = Client::new(9, &address, Random::new(torture.seed, 9));
    filling.patience = Duration::from_secs(5);
    let filled = filling.fill().and_then(|sent| serving.wait_for(sent.last));
    if let Err(error) = filled {
        let (ready, answer) = serving.get("/readyz")?;
        ensure!(ready == 503, "/readyz says {ready} {answer}, but {error:#}");
        serving.terminate()?;
        serving.wait()?;
        let told = serving.told();
        ensure!(!told.contains("panicked"), "{told}");
        return Ok(true);
    }
    serving.end()?;
    check_acknowledged(sent, &learned_lines(data)?)?;
    Ok(false)
}
