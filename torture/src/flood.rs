//! Words whose hashes collide: counting must not slow down.
//!
//! The words are crafted for the hash function with a known key. The vocabulary once had such a key, the seed of the model:
//! all of the words were in one place of its table, and each was compared with many others.

use std::fs;
use std::hash::BuildHasher;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use foldhash::fast::FixedState;

use crate::random::Random;
use crate::usage::Usage;
use crate::{Report, Torture};

#[derive(Args)]
pub struct Options {}

/// Little training: the attack is on counting.
const SETTINGS: &str =
    "--dimensions 1 --window 1 --negatives 1 --subsample 1e-9 --replays 0 --threads 1 --quiet";

pub fn run(torture: &Torture, _options: &Options, report: &mut Report) -> Result<()> {
    let (words, tokens) = if torture.short { (10_000, 1_000_000) } else { (20_000, 5_000_000) };
    let folder = tempfile::tempdir()?;
    let ordinary: Vec<[u8; 9]> = (1 << 31..).map(word).take(words).collect();
    let mut times = Vec::new();
    for (name, list) in [("ordinary", &ordinary), ("crafted", &crafted(words))] {
        let text = folder.path().join(name);
        fs::write(&text, shuffled(list, tokens, &mut Random::new(torture.seed, 0)))?;
        times.push(train(torture, &text, words)?.as_secs_f64());
    }
    let seen =
        format!("CPU {:.2} s with {words} crafted words, {:.2} s with ordinary ones", times[1], times[0]);
    // The kernel counts in ticks of 10 ms.
    report.check("words that collide do not slow down counting", times[1] < 2.0 * times[0] + 0.1, seen);
    Ok(())
}

/// Words that are in one place of a table with the known key.
fn crafted(words: usize) -> Vec<[u8; 9]> {
    // The vocabulary reserves a table for twice its words, of which an eighth stays empty.
    let places = (2 * words * 8 / 7).next_power_of_two() as u64;
    let hasher = FixedState::with_seed(1);
    (0..).map(word).filter(|word| hasher.hash_one(&word[..]) % places == 0).take(words).collect()
}

/// A word for each number.
fn word(number: u32) -> [u8; 9] {
    let mut word = *b"w00000000";
    for (place, letter) in word[1..].iter_mut().enumerate() {
        *letter = b'a' + (number >> (4 * place) & 15) as u8;
    }
    word
}

/// A text of these words, in lines of 20.
fn shuffled(words: &[[u8; 9]], tokens: usize, random: &mut Random) -> Vec<u8> {
    let mut text = Vec::new();
    for token in 1..=tokens {
        text.extend_from_slice(&words[random.below(words.len() as u64) as usize]);
        text.push(if token % 20 == 0 { b'\n' } else { b' ' });
    }
    text
}

/// The processor time of learning a text.
fn train(torture: &Torture, text: &Path, words: usize) -> Result<Duration> {
    let mut command = torture.program.command("train");
    command.args(SETTINGS.split_whitespace()).arg("--max-vocabulary").arg(words.to_string());
    command.arg("--model").arg(text.with_extension("model")).arg(text).stdout(Stdio::piped());
    let mut program = command.spawn()?;
    // It closes its output when it ends; until it is waited for, the kernel keeps what it used.
    let mut output = program.stdout.take().context("the program has no output")?;
    output.read_to_end(&mut Vec::new())?;
    let usage = Usage::of(program.id())?;
    let status = program.wait()?;
    ensure!(status.success(), "the program failed: {status}");
    Ok(usage.cpu)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crafted_words_share_a_place() {
        let words = crafted(50);
        let hasher = FixedState::with_seed(1);
        assert!(words.iter().all(|word| hasher.hash_one(&word[..]) % 128 == 0));
        assert!(words.windows(2).all(|pair| pair[0] != pair[1]), "the words are distinct");
    }
}
