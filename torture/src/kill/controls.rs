//! `serve` is killed while words are pinned, blocked, merged and forgotten. Afterwards every control that was acknowledged is in
//! effect, no byte of a forgotten word is in the data folder, and every line that was acknowledged is learned exactly once.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use memchr::memmem;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::serve::{Killed, kill_often};
use crate::client::Client;
use crate::learned::learned_lines;
use crate::random::Random;
use crate::serving::{Address, Serving};
use crate::{Report, Torture};

const CLIENTS: u64 = 2;

/// A control of each kind in turn.
const KINDS: usize = 4;

pub fn run(torture: &Torture, kills: u64, report: &mut Report) {
    let outcome = attack(torture, kills);
    report.outcome("serve, killed while words are controlled", outcome, |(kills, controls, lines)| {
        format!("{kills} kills, {controls} controls in effect, {lines} lines learned once, no trace of a forgotten word")
    });
}

fn attack(torture: &Torture, kills: u64) -> Result<(u64, usize, usize)> {
    let folder = TempDir::new()?;
    let administrate = |address: &Address, is_over: &AtomicBool| administrate(torture, address, is_over);
    let Killed { data, sent, done: controls, serving } =
        kill_often(torture, kills, folder.path(), CLIENTS, administrate)?;
    check_lists(&serving, controls)?;
    let filling = Client::new(CLIENTS, &serving.address, Random::new(torture.seed, CLIENTS + 1));
    serving.wait_for(filling.fill()?.last)?;
    serving.end()?;
    for number in 0..controls {
        check_forgotten(&data, &word("secret", number))?;
    }
    let learned: HashSet<String> = learned_lines(&data)?.into_iter().collect();
    let acknowledged: Vec<&String> = sent.iter().flat_map(|request| &request.lines).collect();
    for line in &acknowledged {
        ensure!(learned.contains(*line), "`{line}` was acknowledged and lost");
    }
    ensure!(learned.len() == acknowledged.len(), "everything that was sent was acknowledged in the end");
    Ok((kills, controls, acknowledged.len()))
}

/// Sends text with a secret and then a control, until it is over. Returns the number of controls, all of which were acknowledged.
fn administrate(torture: &Torture, address: &Address, is_over: &AtomicBool) -> Result<usize> {
    let client = Client::new(CLIENTS + 1, address, Random::new(torture.seed, CLIENTS + 2));
    let mut number = 0;
    while !is_over.load(Ordering::Acquire) || number < KINDS {
        let secret = word("secret", number);
        client.post_until_done("/v1/text", "text/plain", &format!("the {secret} of the {secret}\n"))?;
        let mut controls = vec![json!({ "forget": { "word": secret, "keep_out": number % 8 < KINDS } })];
        controls.push(match number % KINDS {
            0 => json!({ "pin": { "word": word("pinned", number) } }),
            1 => json!({ "block": { "word": word("blocked", number) } }),
            2 => json!({ "merge": { "word": word("spelling", number), "into": word("other", number) } }),
            // Forgotten, and never there.
            _ => json!({ "forget": { "word": word("unknown", number), "keep_out": false } }),
        });
        let body = json!({ "controls": controls }).to_string();
        client.post_until_done("/v1/controls", "application/json", &body)?;
        number += 1;
        thread::sleep(Duration::from_millis(10));
    }
    Ok(number)
}

/// No name is a part of another.
fn word(kind: &str, number: usize) -> String {
    format!("{kind}{number}x")
}

fn check_lists(serving: &Serving, controls: usize) -> Result<()> {
    let (status, lists) = serving.get("/v1/controls")?;
    ensure!(status == 200, "{lists}");
    let has = |list: &str, word: &str| match &lists[list] {
        Value::Array(words) => words.iter().any(|listed| listed == word),
        Value::Object(merged) => merged.contains_key(word),
        _ => false,
    };
    for number in 0..controls {
        let (list, word) = match number % KINDS {
            0 => ("pinned", word("pinned", number)),
            1 => ("blocked", word("blocked", number)),
            2 => ("merged", word("spelling", number)),
            _ => continue,
        };
        ensure!(has(list, &word), "`{word}` was acknowledged and is not {list}");
    }
    Ok(())
}

/// Searches every file of a folder.
fn check_forgotten(folder: &Path, word: &str) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            check_forgotten(&path, word)?;
        } else if memmem::find(&fs::read(&path)?, word.as_bytes()).is_some() {
            bail!("`{word}` is in {}", path.file_name().context("a file has a name")?.display());
        }
    }
    Ok(())
}
