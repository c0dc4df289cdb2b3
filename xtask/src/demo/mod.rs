//! `cargo xtask demo`: skipstream on real text, day after day, on a machine with only Rust and Python.

mod days;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;

use days::Day;
use xtask::command::{build_skipstream, line, run_quietly};
use xtask::text::{each_line, grouped, open, words};
use xtask::wikipedia;

/// Number of neighbors to show, and of words to show them for.
const N_NEIGHBORS: &str = "6";
const N_WORDS: usize = 4;

/// Neighbors are searched among the most frequent words: the vector of a rare word is mostly noise.
const N_FREQUENT: &str = "10000";

/// Words of Wikipedia whose neighbors are easy to judge.
const WIKIPEDIA_WORDS: [&str; N_WORDS] = ["computer", "france", "music", "gold"];

const NO_TEXT: &str = "could not download the text of the demo from PyPI (this needs python3 with pip, and \
    the network).\nWith your own text nothing is downloaded: `cargo xtask demo --text your.txt`";

/// Arguments of `cargo xtask demo`.
#[derive(Args)]
pub struct Options {
    /// Learn from this text (plain, .gz or .zst) instead of downloading one
    #[arg(long, value_name = "FILE")]
    text: Option<PathBuf>,
    /// Number of days to split the text into
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=999))]
    days: u64,
    /// Folder for the download, the days and the model
    #[arg(long, default_value = "demo")]
    dir: PathBuf,
    /// Use this skipstream instead of building one
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// Prepares the text, trains one model day by day, and shows neighbors along the way.
pub fn run(options: &Options) -> Result<()> {
    let text = match &options.text {
        Some(text) => text.clone(),
        None => wikipedia::prepare(&options.dir).context(NO_TEXT)?,
    };
    let days = days::cut(&text, options.days, &options.dir.join("days"))?;
    let asked = match &options.text {
        Some(_) => frequent_words(&days[0].path)?,
        None => WIKIPEDIA_WORDS.map(String::from).to_vec(),
    };
    let demo = Demo {
        program: match &options.program {
            Some(program) => program.clone(),
            None => build_skipstream()?,
        },
        model: options.dir.join("model.safetensors"),
        asked,
    };
    demo.train(&days)
}

/// The model and the words to show.
struct Demo {
    program: PathBuf,
    model: PathBuf,
    asked: Vec<String>,
}

impl Demo {
    fn train(&self, days: &[Day]) -> Result<()> {
        // A model remembers its files and would skip the days of an earlier demo.
        if self.model.exists() {
            fs::remove_file(&self.model)?;
        }
        println!(
            "\nA model learns from a stream of text, here {} days. Each day the program starts again, \
             continues\nthe model of the day before, and saves it; nothing is read twice.",
            days.len()
        );
        let mut n_words = 0;
        let mut seconds = 0.0;
        for (index, day) in days.iter().enumerate() {
            let mut train = self.train_command(&day.path);
            if index == 0 {
                println!("\n$ {}", line(&train));
            }
            let start = Instant::now();
            run_quietly(&mut train)?;
            let elapsed = start.elapsed().as_secs_f64();
            // Otherwise a program that does nothing would look fast.
            ensure!(self.model.exists(), "`{}` saved no model", line(&train));
            n_words += day.n_words;
            seconds += elapsed;
            println!(
                "day {:>3} of {}: {} words in {elapsed:.2} s, {} words/s",
                index + 1,
                days.len(),
                grouped(day.n_words),
                grouped((day.n_words as f64 / elapsed) as u64)
            );
            if is_shown(index, days.len()) {
                self.show_neighbors()?;
            }
        }
        println!(
            "Learned {} words in {seconds:.1} s: {} words/s, including reading the text and saving the model each day.",
            grouped(n_words),
            grouped((n_words as f64 / seconds) as u64)
        );
        self.say_how_to_go_on();
        Ok(())
    }

    fn train_command(&self, text: &Path) -> Command {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let mut command = self.skipstream("train");
        command.args(["--threads", &threads.to_string(), "--quiet"]).arg(text);
        command
    }

    fn show_neighbors(&self) -> Result<()> {
        let mut command = self.skipstream("neighbors");
        command.args(&self.asked).args(["-n", N_NEIGHBORS, "--top", N_FREQUENT]);
        println!("\n$ {}", line(&command));
        let status = command.status().context("could not query neighbors")?;
        println!();
        // 1 is not a failure: after a day a word may still be unknown, and skipstream says so.
        ensure!(matches!(status.code(), Some(0 | 1)), "`{}` failed: {status}", line(&command));
        Ok(())
    }

    fn say_how_to_go_on(&self) {
        let (program, model) = (self.program.display(), self.model.display());
        let word = &self.asked[0];
        println!(
            "The model is {model}. Next, try:\n\n  \
             {program} neighbors --model {model} {word} --top {N_FREQUENT}\n  \
             {program} train --model {model} more.txt\n  \
             {program} export --model {model} --to word2vec-text vectors.txt"
        );
    }

    fn skipstream(&self, verb: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(verb).arg("--model").arg(&self.model);
        command
    }
}

/// Neighbors are shown after the first day, half-way, and at the end.
fn is_shown(index: usize, n_days: usize) -> bool {
    let number = index + 1;
    number == 1 || number == n_days / 2 || number == n_days
}

/// The most frequent words, long ones first, as they are likely to be meaningful.
fn frequent_words(text: &Path) -> Result<Vec<String>> {
    const LONG: usize = 6;
    let mut counts: HashMap<Vec<u8>, u64> = HashMap::new();
    each_line(open(text)?, |line| {
        for word in words(line) {
            *counts.entry(word.to_vec()).or_default() += 1;
        }
        Ok(())
    })?;
    let mut ranked: Vec<_> = counts.into_iter().collect();
    ranked.sort_by_key(|(word, count)| (word.len() < LONG, Reverse(*count), word.clone()));
    let best = ranked.iter().take(N_WORDS);
    Ok(best.map(|(word, _)| String::from_utf8_lossy(word).into_owned()).collect())
}
