//! `cargo xtask bench opening`: how soon a large memory-mapped model answers.
//!
//! gensim maps the same vectors in its own format (`mmap="r"`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use skipstream::corpus::Lines;
use skipstream::formats::{self, Format};
use skipstream::unstable::Random;
use skipstream::{Config, Embeddings, MiniBatchOptions, Strategy, Trainer, Vectors};

use crate::circumstances;
use crate::peers::python;
use xtask::command::target_folder;

/// Number of queries after the first one.
const LATER: usize = 20;

/// Arguments of `cargo xtask bench opening`.
#[derive(Args)]
pub struct Options {
    /// Number of words in the model
    #[arg(long, default_value_t = 1_000_000)]
    words: usize,
    /// Dimensions of a vector
    #[arg(long, default_value_t = 100)]
    dimensions: usize,
    /// Number of times to open each file; the fastest counts, as noise only adds
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Skip gensim, which needs the network
    #[arg(long)]
    alone: bool,
}

/// Creates the files, opens them in turns and prints a table.
pub fn run(options: &Options) -> Result<()> {
    let folder = target_folder()?.join(format!("opening-{}x{}", options.words, options.dimensions));
    let files = Files::prepare(&folder, options)?;
    let questions = questions(options.words);
    let mut rows = Vec::new();
    for (name, path, vectors) in [
        ("model, sum", &files.model, Vectors::Sum),
        ("model, joined", &files.model, Vectors::Joined),
        ("model, target", &files.model, Vectors::Target),
        ("vectors", &files.vectors, Vectors::default()),
    ] {
        let rounds = (0..options.rounds).map(|_| measure(path, vectors, &questions));
        let rounds = rounds.collect::<Result<Vec<_>>>()?;
        let fastest = rounds.into_iter().reduce(fastest).context("there are rounds")?;
        rows.push((format!("skipstream, {name}"), file_bytes(path)?, fastest));
    }
    println!(
        "## Opening {} words of {} dimensions\n\n{}",
        options.words,
        options.dimensions,
        circumstances::list()
    );
    if !options.alone {
        let python = python::with_gensim(&folder)?;
        println!("- packages: {}", python::versions(&python)?);
        let saved = folder.join("vectors.kv");
        let mut gensim = python::script(&python.program("python"), "open_with_gensim.py");
        gensim.arg(&files.binary).arg(&saved).arg(options.rounds.to_string()).args(&questions);
        let times = printed_times(&mut gensim)?;
        let bytes = file_bytes(&saved)? + file_bytes(&folder.join("vectors.kv.vectors.npy"))?;
        rows.push(("gensim, mmap=\"r\"".into(), bytes, times));
    }
    println!("- fastest of {} rounds, files in the page cache", options.rounds);
    println!("- later: the median of {LATER} answers\n");
    println!("| what | file, MB | open, ms | read, MB | mapped, MB | first answer, ms | later, ms |");
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for (name, bytes, [open, read, mapped, first, later]) in rows {
        let [megabytes, read, mapped] = [bytes, read, mapped].map(|bytes| bytes / 1e6);
        println!(
            "| {name} | {megabytes:.0} | {open:.1} | {read:.1} | {mapped:.1} | {first:.1} | {later:.1} |"
        );
    }
    Ok(())
}

/// The files that are opened.
struct Files {
    model: PathBuf,
    vectors: PathBuf,
    /// For gensim, which converts it to its own format.
    binary: PathBuf,
}

impl Files {
    /// Creates missing files.
    fn prepare(folder: &Path, options: &Options) -> Result<Files> {
        let [model, vectors, binary] =
            ["model.safetensors", "vectors.safetensors", "vectors.bin"].map(|name| folder.join(name));
        fs::create_dir_all(folder)?;
        if !model.exists() {
            eprintln!("learning {} words", options.words);
            train(options)?.save(&model)?;
        }
        let embeddings = Embeddings::open(&model, Vectors::Sum)?;
        if !vectors.exists() {
            embeddings.save(&vectors)?;
        }
        if !binary.exists() {
            formats::save(&embeddings, Format::Word2vecBinary, &binary)?;
        }
        Ok(Files { model, vectors, binary })
    }
}

/// Learns a text in which every word occurs about twice.
fn train(options: &Options) -> Result<Trainer> {
    let config = Config {
        dimensions: options.dimensions,
        max_vocabulary: options.words,
        subsample: 0.0,
        strategy: Strategy::MiniBatch(MiniBatchOptions { replays: 0, ..Default::default() }),
        ..Config::default()
    };
    let mut random = Random::new(config.seed);
    let mut text = String::new();
    for place in 0..2 * options.words {
        let number =
            if place < options.words { place } else { (random.uniform() * options.words as f64) as usize };
        text.push_str(&word(number));
        text.push(if place % 20 == 19 { '\n' } else { ' ' });
    }
    let mut lines = Lines::new(text.as_bytes(), "text", &config.text)?;
    let mut trainer = Trainer::new(config)?;
    trainer.train_source(&mut lines)?;
    Ok(trainer)
}

/// A pronounceable word: one syllable per digit of a number.
fn word(number: usize) -> String {
    const SYLLABLES: [&str; 10] = ["ba", "den", "lo", "mi", "ra", "stu", "ve", "ger", "no", "ti"];
    let digits = number.to_string();
    digits.bytes().map(|digit| SYLLABLES[usize::from(digit - b'0')]).collect()
}

fn questions(words: usize) -> Vec<String> {
    let mut random = Random::new(1);
    (0..=LATER).map(|_| word((random.uniform() * words as f64) as usize)).collect()
}

/// Milliseconds to open, bytes from read calls, bytes of the mapped file that were touched, and milliseconds to the first
/// answer and to a later one.
type Times = [f64; 5];

/// The shortest times, and the bytes of the last round.
fn fastest(one: Times, other: Times) -> Times {
    let [open, _, _, first, later] = one;
    [open.min(other[0]), other[1], other[2], first.min(other[3]), later.min(other[4])]
}

fn measure(path: &Path, vectors: Vectors, questions: &[String]) -> Result<Times> {
    let (read, mapped) = (bytes_read()?, bytes_mapped()?);
    let (open, embeddings) = milliseconds(|| Embeddings::open(path, vectors));
    let embeddings = embeddings?;
    let (read, mapped) = (bytes_read()? - read, (bytes_mapped()? - mapped).max(0.0));
    let mut answers = Vec::new();
    for question in questions {
        let (time, neighbors) = milliseconds(|| embeddings.neighbors(question, 10));
        ensure!(neighbors?.len() == 10, "{question} has no neighbors");
        answers.push(time);
    }
    let first = answers.remove(0);
    answers.sort_by(f64::total_cmp);
    Ok([open, read, mapped, first, answers[answers.len() / 2]])
}

/// Runs a script that prints its times.
fn printed_times(command: &mut Command) -> Result<Times> {
    let output = command.output().context("could not start Python")?;
    ensure!(output.status.success(), "gensim: {}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout)?;
    let times = printed.split_whitespace().map(|number| number.parse().ok()).collect::<Option<Vec<_>>>();
    let times = times.and_then(|times| times.try_into().ok());
    times.with_context(|| format!("gensim printed {printed}"))
}

fn milliseconds<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed().as_secs_f64() * 1e3, result)
}

fn file_bytes(path: &Path) -> Result<f64> {
    Ok(fs::metadata(path).with_context(|| path.display().to_string())?.len() as f64)
}

/// Bytes that this process has read with system calls, from disk or cache.
fn bytes_read() -> Result<f64> {
    number_in("/proc/self/io", "rchar:")
}

/// Bytes of mapped files that this process has touched.
fn bytes_mapped() -> Result<f64> {
    Ok(number_in("/proc/self/status", "RssFile:")? * 1024.0)
}

fn number_in(path: &str, key: &str) -> Result<f64> {
    let text = fs::read_to_string(path).context("this benchmark needs Linux")?;
    let value = text.lines().find_map(|line| line.strip_prefix(key)?.split_whitespace().next());
    Ok(value.with_context(|| format!("{path} has no {key}"))?.parse()?)
}
