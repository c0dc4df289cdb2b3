//! An endless stream: memory and speed stay the same, and counts stay within their bound.
//!
//! The words follow Zipf's law, with a tail of words that were never seen before, so the vocabulary is full after the first
//! seconds and evicts words from then on. The generator knows the true count of every frequent word, and of the last million
//! words of the tail; older ones have left the vocabulary long ago.

use std::fmt::Display;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use skipstream::Trainer;

use crate::random::Random;
use crate::usage::Usage;
use crate::{Report, Torture};

#[derive(Args)]
pub struct Options {
    /// Millions of words to send [default: 1000; 20 if short]
    #[arg(long)]
    millions: Option<u64>,
}

const MILLION: u64 = 1_000_000;

/// Small vectors: the attack is on counting and on memory, not on arithmetic.
const SETTINGS: &str = "--dimensions 4 --window 1 --negatives 1 --subsample 1e-5 --replays 0 --threads 1 \
                        --checkpoint-every 10M-words --quiet";

pub fn run(torture: &Torture, options: &Options, report: &mut Report) -> Result<()> {
    let millions = options.millions.unwrap_or(if torture.short { 20 } else { 1_000 });
    // The vocabulary is full and all memory in use before the first measurement.
    let (max_vocabulary, warm_up) = if torture.short { (20_000, 4) } else { (100_000, 50) };
    ensure!(millions >= 3 * warm_up, "{millions} million words are too few to compare two parts of them");
    let folder = tempfile::tempdir()?;
    let model = folder.path().join("model");
    let mut command = torture.program.command("train -");
    command.args(SETTINGS.split_whitespace()).arg("--max-vocabulary").arg(max_vocabulary.to_string());
    let mut program =
        command.arg("--model").arg(&model).stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    let mut stream = Stream::new(Random::new(torture.seed, 0), max_vocabulary / 2);
    let measured = send(&mut stream, &mut program, millions, warm_up);
    // If the program has ended, its own message comes first.
    let status = program.wait()?;
    ensure!(status.success(), "the program failed: {status}");
    let measured = measured?;
    check_growth(&measured, warm_up, torture.short, report);
    check_counts(&stream, &model, max_vocabulary as u64, report)
}

/// Sends words, and measures the program after each million.
fn send(stream: &mut Stream, program: &mut Child, millions: u64, warm_up: u64) -> Result<Vec<Usage>> {
    let mut input = program.stdin.take().context("the program has no standard input")?;
    let mut measured = vec![Usage::of(program.id())?];
    let start = Instant::now();
    let mut text = Vec::new();
    for million in 1..=millions {
        text.clear();
        stream.write(MILLION, &mut text);
        input.write_all(&text).context("the program has stopped reading")?;
        measured.push(Usage::of(program.id())?);
        if million.is_multiple_of(warm_up) {
            let Usage { resident, cpu } = measured[million as usize];
            let elapsed = start.elapsed().as_secs();
            eprintln!(
                "{million} million words in {elapsed} s: {} kB, CPU {:.0} s",
                resident / 1024,
                cpu.as_secs_f64()
            );
        }
    }
    Ok(measured)
}

/// Compares memory and speed after the warm-up with those at the end.
fn check_growth(measured: &[Usage], warm_up: u64, short: bool, report: &mut Report) {
    let end = measured.len() - 1;
    let part = warm_up as usize;
    // A checkpoint takes memory for a moment, so parts of the stream are compared, and not moments.
    let most = |part: &[Usage]| part.iter().map(|usage| usage.resident).max().unwrap_or(0);
    let (before, after) = (most(&measured[..=part]), most(&measured[end - part..]));
    // The short version takes so little that a buffer of the allocator is more than 2 %.
    let most_allowed = before + before / 50 + if short { 1 << 20 } else { 0 };
    let seen =
        format!("{} kB up to {part} million words, {} kB in the last {part}", before / 1024, after / 1024);
    report.check("an endless stream takes no more memory", after <= most_allowed, seen);
    let peak = most(measured);
    let seen = format!("never more than {} kB", peak / 1024);
    report.check("nor much more in between", peak <= most_allowed + before / 33, seen);
    let nanoseconds = |from: usize, to: usize| {
        (measured[to].cpu - measured[from].cpu).as_nanos() as f64 / (to - from) as f64 / MILLION as f64
    };
    let (before, after) = (nanoseconds(part, 2 * part), nanoseconds(end - part, end));
    let seen = format!("{before:.0} ns of CPU per word after {part} million, {after:.0} ns at the end");
    // The short version measures half a second, and CI may be busy.
    let most = if short { 2.0 } else { 1.1 };
    report.check("nor more time per word", after <= most * before, seen);
}

/// Compares the counters of all words with a known count with the truth.
fn check_counts(stream: &Stream, model: &Path, max_vocabulary: u64, report: &mut Report) -> Result<()> {
    let trainer = Trainer::load(model, Some(1))?;
    let vocabulary = trainer.vocabulary();
    let tokens = vocabulary.tokens();
    report.check("every word is counted", tokens == stream.sent, format_args!("{tokens} of {}", stream.sent));
    let most = tokens / (max_vocabulary + 1);
    let mut wrong = Vec::new();
    let mut farthest = 0;
    let mut known = 0;
    for (word, exact) in stream.known() {
        let id = vocabulary.id(&word);
        let (counter, count) = id.map_or((0, 0), |id| (vocabulary.counter(id), vocabulary.count(id)));
        known += usize::from(id.is_some());
        farthest = farthest.max(exact.saturating_sub(counter));
        if counter > count || count > exact || exact - counter > most {
            wrong.push(format!("{word}: counter {counter}, count {count}, in truth {exact}"));
        }
    }
    let seen: &dyn Display = if wrong.is_empty() {
        &format!("the farthest is {farthest} below, of {most}")
    } else {
        &wrong.join("; ")
    };
    report.check("every counter is within Misra and Gries' bound", wrong.is_empty(), seen);
    let seen = format!("{known} of {} words", vocabulary.len());
    report.check(
        "almost every word in the vocabulary was compared",
        known * 100 > vocabulary.len() * 99,
        seen,
    );
    let totals = vocabulary.totals();
    let seen = format!("{} evictions, {} cancellations", totals.evictions, totals.cancellations);
    report.check("words were evicted", totals.evictions > 10 * max_vocabulary, seen);
    Ok(())
}

/// How many of the last new words have a true count.
const RECENT: usize = 1 << 20;

/// Words by Zipf's law, a tenth of them new.
struct Stream {
    random: Random,
    /// A word for each part of the probability.
    table: Vec<u32>,
    /// True counts of the frequent words.
    counts: Vec<u64>,
    /// New words so far.
    fresh: u64,
    /// True counts of the last new words, each at its number modulo the length.
    recent: Vec<u64>,
    sent: u64,
}

impl Stream {
    fn new(random: Random, words: usize) -> Stream {
        let total: f64 = (1..=words).map(|rank| 1.0 / rank as f64).sum();
        let mut table = Vec::new();
        let mut sum = 0.0;
        const PARTS: usize = 1 << 20;
        for rank in 1..=words {
            sum += 1.0 / rank as f64 / total;
            table.resize((sum * PARTS as f64).round() as usize, rank as u32 - 1);
        }
        Stream { random, table, counts: vec![0; words], fresh: 0, recent: vec![0; RECENT], sent: 0 }
    }

    /// Appends words in lines of 20.
    fn write(&mut self, words: u64, text: &mut Vec<u8>) {
        for _ in 0..words {
            let random = self.random.below(u64::MAX);
            let [first, second] = [random as u32, (random >> 32) as u32];
            if first % 10 == 0 {
                // Half of them return soon, so that some leave with a count of more than one.
                self.fresh += u64::from(second % 2 == 0);
                let count = &mut self.recent[self.fresh as usize % RECENT];
                *count = if second % 2 == 0 { 1 } else { *count + 1 };
                append(b'x', self.fresh, text);
            } else {
                let word = self.table[second as usize % self.table.len()];
                self.counts[word as usize] += 1;
                append(b'w', word.into(), text);
            }
            self.sent += 1;
            text.push(if self.sent.is_multiple_of(20) { b'\n' } else { b' ' });
        }
    }

    /// The frequent words and the last new ones, with their true counts.
    fn known(&self) -> impl Iterator<Item = (String, u64)> {
        let frequent = (0..).zip(&self.counts).map(|(word, &count)| (b'w', word, count));
        let recent = (self.fresh + 1).saturating_sub(RECENT as u64)..=self.fresh;
        let recent = recent.map(|word| (b'x', word, self.recent[word as usize % RECENT]));
        frequent.chain(recent).map(|(kind, word, count)| {
            let mut name = Vec::new();
            append(kind, word, &mut name);
            (String::from_utf8_lossy(&name).into_owned(), count)
        })
    }
}

/// Appends a word: a letter, and a number in letters.
fn append(kind: u8, mut number: u64, text: &mut Vec<u8>) {
    text.push(kind);
    loop {
        text.push(b'a' + (number % 26) as u8);
        number /= 26;
        if number == 0 {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn the_generator_knows_the_true_counts() {
        let mut stream = Stream::new(Random::new(1, 0), 100);
        let mut text = Vec::new();
        stream.write(10_000, &mut text);
        let text = String::from_utf8(text).unwrap();
        let mut counts: HashMap<&str, u64> = HashMap::new();
        for word in text.split_whitespace() {
            *counts.entry(word).or_default() += 1;
        }
        assert_eq!(text.split_whitespace().count(), 10_000);
        let mut fresh = 0;
        for (word, count) in stream.known() {
            fresh += usize::from(word.starts_with('x') && count > 0);
            assert_eq!(counts.remove(word.as_str()).unwrap_or(0), count, "{word}");
        }
        assert!(fresh > 400 && counts.is_empty(), "every count is known");
        assert!(stream.counts[0] > 10 * stream.counts[50], "by Zipf's law");
    }
}
