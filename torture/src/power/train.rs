//! `train` and `rollback` lose power.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use skipstream::Trainer;
use tempfile::TempDir;

use super::disk::{Disk, Survives};
use super::journal::{self, Entry};
use crate::job::{Job, Source};
use crate::random::Random;
use crate::shim::Shim;
use crate::{Report, Torture};

/// What the program has announced: that this many words were saved by this file call.
struct Announced {
    calls: u64,
    words: u64,
}

/// A recorded run of the program.
struct Recording {
    before: Disk,
    entries: Vec<Entry>,
    announced: Vec<Announced>,
}

pub fn run(torture: &Torture, outcomes: u64, report: &mut Report) -> Result<()> {
    let told = |(states, calls): (u64, usize)| {
        format!("{states} states of the disk at {calls} moments, each completed byte for byte")
    };
    for source in [Source::File, Source::Several, Source::Pipe] {
        let outcome = training(torture, source, outcomes);
        report.outcome(&format!("{}, power lost", source.name()), outcome, told);
    }
    report.outcome(
        "train --keep-previous and rollback, power lost",
        keeping_previous(torture, outcomes),
        |states| {
            format!(
                "{states} states of the disk: the previous model was kept, and a finished rollback stayed"
            )
        },
    );
    Ok(())
}

/// Every state has the last announced checkpoint or a later one, and training completes the model from it.
fn training(torture: &Torture, source: Source, outcomes: u64) -> Result<(u64, usize)> {
    let texts = TempDir::new()?;
    let job = Job::new(torture, source, texts.path(), "")?;
    let folder = TempDir::new()?;
    let root = folder.path().canonicalize()?;
    let recording = Recording::of(&root, job.command(&root.join("m.safetensors"))?)?;
    let states = recording.each_state(torture, outcomes, &mut |_, state, promised| {
        let model = state.join("m.safetensors");
        let words = if model.exists() { Trainer::load(&model, None)?.progress().tokens } else { 0 };
        ensure!(words >= promised, "{promised} words were announced as saved, and only {words} were found");
        job.resume(&model)
    })?;
    Ok((states, recording.entries.len()))
}

/// The model before the command is kept from the moment that the command replaces it; a rollback that ended has happened.
fn keeping_previous(torture: &Torture, outcomes: u64) -> Result<u64> {
    let texts = TempDir::new()?;
    let job = Job::new(torture, Source::Several, texts.path(), "--keep-previous")?;
    let first = TempDir::new()?;
    let first_job = Job::new(torture, Source::File, first.path(), "")?;

    let folder = TempDir::new()?;
    let root = folder.path().canonicalize()?;
    let [model, previous] = ["m.safetensors", "m.safetensors.previous"].map(PathBuf::from);
    fs::write(root.join(&model), &first_job.undisturbed)?;
    let before = &first_job.undisturbed;
    let recording = Recording::of(&root, job.command(&root.join(&model))?)?;
    let after = fs::read(root.join(&model))?;
    let mut states = recording.each_state(torture, outcomes, &mut |_, state, _| {
        let found = fs::read(state.join(&model)).context("the model is missing")?;
        if found != *before {
            let kept = fs::read(state.join(&previous)).context("the model was replaced and not kept")?;
            ensure!(kept == *before, "something else was kept");
        }
        job.complete(&state.join(&model))?;
        ensure!(fs::read(state.join(&model))? == after, "the model differs from the undisturbed one");
        ensure!(fs::read(state.join(&previous))? == *before, "the resumed command kept something else");
        Ok(())
    })?;

    let mut rollback = torture.program.command("rollback --model");
    rollback.arg(root.join(&model));
    let recording = Recording::of(&root, rollback)?;
    let calls = recording.entries.len();
    states += recording.each_state(torture, outcomes, &mut |moment, state, _| {
        let found = fs::read(state.join(&model)).context("the model is missing")?;
        ensure!(found == *before || (found == after && moment < calls), "the rollback was lost");
        Ok(())
    })?;
    Ok(states)
}

impl Recording {
    /// Runs a command with a journal of its calls for files in a folder.
    fn of(root: &Path, mut command: Command) -> Result<Recording> {
        let before = Disk::of(root)?;
        let shim = Shim::new(root)?;
        shim.record(&mut command)?;
        let mut child = command.stderr(std::process::Stdio::piped()).spawn()?;
        let mut announced = Vec::new();
        let mut told = String::new();
        for line in BufReader::new(child.stderr.take().context("standard error is piped")?).lines() {
            let line = line?;
            let event: Value = serde_json::from_str(&line).unwrap_or_default();
            if event["event"] == "checkpoint" {
                let words = event["words_in_all"].as_u64().context("a checkpoint without words")?;
                announced.push(Announced { calls: shim.calls()?, words });
            }
            told.push_str(&line);
        }
        let status = child.wait()?;
        ensure!(status.success(), "{status}: {told}");
        let entries = journal::read(&shim.journal()?, root)?;
        ensure!(!entries.is_empty(), "the journal is empty");
        Ok(Recording { before, entries, announced })
    }

    /// Calls `check` with possible states of the disk after each call, and the words that were announced as saved by then.
    fn each_state(
        &self,
        torture: &Torture,
        outcomes: u64,
        check: &mut dyn FnMut(usize, &Path, u64) -> Result<()>,
    ) -> Result<u64> {
        let mut random = Random::new(torture.seed, 11);
        let mut disk = self.before.clone();
        let mut states = 0;
        for moment in 0..=self.entries.len() {
            let mut calls = u64::MAX;
            if let Some(last) = moment.checked_sub(1) {
                disk.follow(&self.entries[last])?;
                if moment < self.entries.len() {
                    calls = self.entries[last].call;
                }
            } else {
                calls = 0;
            }
            let announced = self.announced.iter().filter(|announced| announced.calls <= calls);
            let words = announced.map(|announced| announced.words).max().unwrap_or(0);
            for survives in outcomes_of(&disk, outcomes, torture.short) {
                let folder = TempDir::new()?;
                let state = folder.path().canonicalize()?;
                disk.lose_power(survives, &mut random, &state)?;
                check(moment, &state, words)
                    .with_context(|| format!("after {moment} calls, with {survives:?}: {}", list(&state)))?;
                states += 1;
            }
        }
        Ok(states)
    }
}

/// The outcomes to try: the regular ones, and a few random ones.
pub fn outcomes_of(disk: &Disk, random: u64, short: bool) -> Vec<Survives> {
    if !disk.is_open() {
        return vec![Survives::Nothing];
    }
    let regular: &[Survives] = if short { &[Survives::Nothing, Survives::Names] } else { &Survives::ALL };
    regular.iter().copied().chain((0..random).map(|_| Survives::AnyPart)).collect()
}

/// The files of a state, for a message.
fn list(state: &Path) -> String {
    let names = fs::read_dir(state).into_iter().flatten().flatten();
    let names = names.map(|entry| {
        let bytes = entry.metadata().map_or(0, |metadata| metadata.len());
        format!("{} ({bytes} bytes)", entry.file_name().to_string_lossy())
    });
    names.collect::<Vec<_>>().join(", ")
}
