//! `cargo xtask bench serve`: queries at a fixed rate while the service learns at full speed, then by 1 to 16 clients that wait
//! for each answer while it is idle.
//!
//! The service is compared with `skipstream train` on the same text, in the same round and from the same state: both learn
//! the text once, which fills the vocabulary, and are timed while they learn it again. Queries are sent on schedule,
//! whether or not earlier ones were answered, and their latency counts from when they were due.

mod load;
mod process;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::text_or_demo;
use crate::circumstances;
use crate::peers::timed;
use anyhow::{Context, Result, ensure};
use clap::Args;
use xtask::command::{build_skipstream, target_folder};

use load::Pace;
pub use load::{Answered, Load, ask};
use process::{Questioner, Server};

/// How many clients query an idle service, each with one connection.
const CLIENTS: [usize; 5] = [1, 2, 4, 8, 16];

/// How long they do so.
const CLIENTS_FOR: Duration = Duration::from_secs(5);

/// Arguments of `cargo xtask bench serve`.
#[derive(Args)]
pub struct Options {
    /// Uncompressed text to learn, with more distinct words than the vocabulary holds [default: the text of the demo]
    #[arg(long, value_name = "FILE")]
    corpus: Option<PathBuf>,
    /// Vocabulary bound; with the default, about 100,000 words remain after evictions
    #[arg(long, default_value_t = 140_000)]
    max_vocabulary: usize,
    /// Queries per second
    #[arg(long, default_value_t = 200)]
    rate: u32,
    /// Number of rounds
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

/// Results of one round.
struct Round {
    /// Seconds of `train`.
    train: f64,
    /// Seconds of the service, from the first byte sent until everything is published.
    alone: f64,
    /// The same while it answers queries.
    asked: f64,
    answered: Answered,
    /// The median time of a pass with one query, in milliseconds.
    pass: f64,
    /// What each number of [`CLIENTS`] got.
    clients: Vec<Answered>,
    peak_kilobytes: u64,
    bound_bytes: u64,
}

/// Measures in rounds and prints a table.
pub fn run(options: &Options) -> Result<()> {
    let text = text_or_demo(options.corpus.as_ref())?;
    let program = build_skipstream()?;
    let folder = target_folder()?.join("bench-serve");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let mut rounds = Vec::new();
    for number in 1..=options.rounds {
        eprintln!("round {number} of {}", options.rounds);
        let folder = folder.join(number.to_string());
        fs::create_dir(&folder)?;
        rounds.push(round(options, &program, &text, &folder)?);
    }

    println!("## Queries while the service learns\n\n{}", circumstances::list());
    println!("- text: {} bytes, learned once before timing", fs::metadata(&text)?.len());
    println!(
        "- at most {} words of 100 dimensions; {} neighbor queries per second",
        options.max_vocabulary, options.rate
    );
    println!(
        "- ingest: `train`'s time divided by the service's, from the first byte sent until everything is published\n"
    );
    println!(
        "| round | train, s | ingest alone | ingest with queries | queries | failed | p50, ms | p99, ms | longest, ms | peak, MB | bound, MB |"
    );
    println!("|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (number, round) in rounds.iter().enumerate() {
        let Answered { asked, failed, p50, p99, longest, .. } = round.answered;
        println!(
            "| {} | {:.2} | {:.0} % | {:.0} % | {asked} | {failed} | {p50:.1} | {p99:.1} | {longest:.1} | {:.0} | {:.0} |",
            number + 1,
            round.train,
            100.0 * round.train / round.alone,
            100.0 * round.train / round.asked,
            round.peak_kilobytes as f64 * 1024.0 / 1e6,
            round.bound_bytes as f64 / 1e6,
        );
    }

    println!("\nKeep-alive clients of an idle service, each waiting for its answer:\n");
    println!("| round | one pass, ms | clients | queries per second | failed | p50, ms | p99, ms |");
    println!("|--:|--:|--:|--:|--:|--:|--:|");
    for (number, round) in rounds.iter().enumerate() {
        for (clients, answered) in CLIENTS.iter().zip(&round.clients) {
            let Answered { asked, failed, seconds, p50, p99, .. } = answered;
            println!(
                "| {} | {:.2} | {clients} | {:.0} | {failed} | {p50:.2} | {p99:.2} |",
                number + 1,
                round.pass,
                *asked as f64 / seconds,
            );
        }
    }
    Ok(())
}

fn round(options: &Options, program: &Path, text: &Path, folder: &Path) -> Result<Round> {
    let model = folder.join("model.safetensors");
    let settings = ["--max-vocabulary".to_owned(), options.max_vocabulary.to_string()];
    let train = |again: &[&str]| {
        let mut command = Command::new(program);
        command.arg("train").arg("--model").arg(&model).args(again).arg("--quiet").args(&settings).arg(text);
        timed::run(&command, &folder.join("train.log"))
    };
    train(&[])?;
    let train = train(&["--again"])?.seconds;

    let server = Server::start(program, folder, &settings)?;
    server.learn(text)?;
    let vocabulary = server.stats()?["vocabulary"].as_u64().context("the stats have no vocabulary")?;
    ensure!(
        // Rare words are evicted in bulk, so a full vocabulary has at least two thirds of its bound.
        vocabulary as usize * 10 >= options.max_vocabulary * 6,
        "the text has only {vocabulary} words: too few for a vocabulary of {}",
        options.max_vocabulary
    );
    let begin = Instant::now();
    server.learn(text)?;
    let alone = begin.elapsed().as_secs_f64();

    let questioner =
        Questioner::start(server.address(), &model, Pace { rate: Some(options.rate), clients: None })?;
    let begin = Instant::now();
    server.learn(text)?;
    let asked = begin.elapsed().as_secs_f64();
    let answered = questioner.stop()?;
    let mut clients = Vec::new();
    for n_clients in CLIENTS {
        let pace = Pace { rate: None, clients: Some(n_clients) };
        let questioner = Questioner::start(server.address(), &model, pace)?;
        thread::sleep(CLIENTS_FOR);
        clients.push(questioner.stop()?);
    }
    let bound_bytes =
        server.stats()?["memory"]["bound_bytes"].as_u64().context("the stats have no memory bound")?;
    let peak_kilobytes = server.stop()?;
    let pass = load::pass(&folder.join("data/model.safetensors"))?;
    Ok(Round { train, alone, asked, answered, pass, clients, peak_kilobytes, bound_bytes })
}
