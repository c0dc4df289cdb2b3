//! `cargo xtask bench phrases`: phrases that are found while a text is learned, next to gensim's `Phrases`, which counts every
//! pair of the text; and what phrases change for single words: scores, and time on the processor.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde::Deserialize;
use skipstream::{Embeddings, Vectors};

use super::{json, text_or_demo};
use crate::circumstances;
use crate::peers::python;
use crate::peers::timed::{self, Measured};
use crate::scores::{N_FREQUENT, Set, score};
use xtask::command::build_skipstream;
use xtask::text;

/// Share of gensim's phrases that must be found.
const WANTED_SHARE: f64 = 0.8;

/// How many times our memory gensim's counts must take. Ours is all that phrases add to the peak of the process, saving included;
/// the table of pairs takes less than half of it.
const WANTED_MEMORY: f64 = 20.0;

/// Arguments of `cargo xtask bench phrases`.
#[derive(Args)]
pub struct Options {
    /// Uncompressed text, a sentence per line [default: the text of the demo]
    #[arg(long, value_name = "FILE")]
    corpus: Option<PathBuf>,
    /// Folder with test sets in eval/ [default: no scores]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Folder for programs, models and results
    #[arg(long, default_value = "bench-work")]
    dir: PathBuf,
    /// Score (npmi) above which a pair is a phrase
    #[arg(long, default_value_t = 0.5)]
    threshold: f64,
    /// Minimum count of a phrase
    #[arg(long, default_value_t = 10)]
    min_count: u64,
    /// Pairs that skipstream counts at a time
    #[arg(long, default_value_t = 200_000)]
    pairs: usize,
    /// Phrases that gensim has counted this many times are compared; several numbers, the first must reach the goal
    #[arg(long, value_delimiter = ',', default_value = "30,50,20,10")]
    least: Vec<u64>,
    /// Seeds to train with
    #[arg(long, value_delimiter = ',', default_value = "1,2,3")]
    seeds: Vec<u64>,
    /// The program to measure [default: build it]
    #[arg(long, value_name = "FILE")]
    skipstream: Option<PathBuf>,
}

/// What gensim's script prints.
#[derive(Deserialize)]
struct Theirs {
    entries: u64,
    bytes: u64,
    cpu_seconds: f64,
    n_phrases: usize,
    phrases: BTreeMap<String, Counted>,
}

#[derive(Deserialize)]
struct Counted {
    count: u64,
}

/// A phrase as `skipstream phrases --json` prints it.
#[derive(Deserialize)]
struct Found {
    word: String,
}

/// Finds phrases with both, prints tables, and fails if too few are found or they take too much memory.
pub fn run(options: &Options) -> Result<()> {
    fs::create_dir_all(&options.dir)
        .with_context(|| format!("could not create the folder {}", options.dir.display()))?;
    let text = text_or_demo(options.corpus.as_ref())?;
    ensure!(!text::is_compressed(&text)?, "{} is compressed; gensim's script cannot read it", text.display());
    let program = options.skipstream.clone().map_or_else(build_skipstream, Ok)?;
    let python = python::with_gensim(&options.dir)?;
    let mut gensim = python::script(&python.program("python"), "phrases_with_gensim.py");
    gensim.arg(&text).args(["--threshold", &options.threshold.to_string()]);
    gensim.args(["--min-count", &options.min_count.to_string(), "--least", &options.min_count.to_string()]);
    let theirs: Theirs = serde_json::from_value(json(&mut gensim)?)?;

    let mut runs = Vec::new();
    for &seed in &options.seeds {
        for with_phrases in [false, true] {
            runs.push(Run::train(&program, &text, options, seed, with_phrases)?);
        }
    }
    let model = &runs.iter().find(|run| run.with_phrases).context("no seed was given")?.model;
    let found: Vec<Found> = serde_json::from_value(json(
        Command::new(&program).args(["phrases", "--json", "--model"]).arg(model),
    )?)?;

    println!("## Phrases\n\n{}", circumstances::list());
    println!("- packages: {}", python::versions(&python)?);
    println!("- npmi above {}, counts from {}\n", options.threshold, options.min_count);
    let ours = median(runs.iter().filter(|run| run.with_phrases), Run::megabytes)
        - median(runs.iter().filter(|run| !run.with_phrases), Run::megabytes);
    let ratio = theirs.bytes as f64 / 1e6 / ours;
    println!("| | pairs | memory | phrases |\n|---|--:|--:|--:|");
    println!(
        "| gensim, words and pairs | {} | {:.0} MB | {} |",
        theirs.entries,
        theirs.bytes as f64 / 1e6,
        theirs.n_phrases
    );
    println!(
        "| skipstream, more than without phrases | {} | {ours:.0} MB | {} |\n",
        options.pairs,
        found.len()
    );
    println!(
        "gensim takes {ratio:.1} times the memory, and {:.1} s for the phrases alone.\n",
        theirs.cpu_seconds
    );
    let shares = compare(&theirs, &found, &options.least);
    print_runs(&runs, options)?;
    let share = shares.first().copied().unwrap_or(0.0);
    ensure!(share >= WANTED_SHARE, "{:.1} % of gensim's phrases were found", 100.0 * share);
    ensure!(ratio >= WANTED_MEMORY, "gensim takes {ratio:.1} times the memory; it must be {WANTED_MEMORY}");
    Ok(())
}

/// Prints how many of gensim's phrases were found, and returns the shares.
fn compare(theirs: &Theirs, found: &[Found], least: &[u64]) -> Vec<f64> {
    println!("| gensim's phrases that occur at least | times | found | share |\n|---|--:|--:|--:|");
    let is_found = |phrase: &String| found.iter().any(|found| found.word == *phrase);
    let share = |&least: &u64| {
        let wanted: Vec<&String> = theirs
            .phrases
            .iter()
            .filter(|(_, counted)| counted.count >= least)
            .map(|(text, _)| text)
            .collect();
        let n_found = wanted.iter().filter(|phrase| is_found(phrase)).count();
        let share = n_found as f64 / wanted.len().max(1) as f64;
        println!("| {} | {least} | {n_found} | {:.1} % |", wanted.len(), 100.0 * share);
        share
    };
    let shares = least.iter().map(share).collect();
    println!();
    shares
}

/// A model, and what it took.
struct Run {
    seed: u64,
    with_phrases: bool,
    model: PathBuf,
    measured: Measured,
}

impl Run {
    fn train(program: &Path, text: &Path, options: &Options, seed: u64, with_phrases: bool) -> Result<Run> {
        let name = if with_phrases { "phrases" } else { "words" };
        let model = options.dir.join(format!("{name}-{seed}.safetensors"));
        if model.exists() {
            fs::remove_file(&model)?;
        }
        let mut train = Command::new(program);
        train.args(["train", "--quiet", "--checkpoint-every", "1h", "--seed", &seed.to_string(), "--model"]);
        train.arg(&model).arg(text);
        if with_phrases {
            train.args(["--phrases", "npmi", "--phrase-threshold", &options.threshold.to_string()]);
            train.args(["--phrase-min-count", &options.min_count.to_string()]);
            train.args(["--phrase-pairs", &options.pairs.to_string()]);
        }
        let measured = timed::run_here(train, &options.dir.join(format!("{name}-{seed}.log")))?;
        Ok(Run { seed, with_phrases, model, measured })
    }

    fn megabytes(&self) -> f64 {
        self.measured.peak_kilobytes.unwrap_or(0) as f64 * 1024.0 / 1e6
    }

    fn cpu_seconds(&self) -> f64 {
        self.measured.cpu_seconds.unwrap_or(f64::NAN)
    }
}

fn print_runs(runs: &[Run], options: &Options) -> Result<()> {
    println!("| seed | phrases | CPU s | MEN | Google |\n|---|---|--:|--:|--:|");
    for run in runs {
        let scores = match &options.data {
            Some(data) => {
                let vectors = Embeddings::load(&run.model, Vectors::default())?;
                score(N_FREQUENT, &vectors, &data.join("eval"), &[Set::Men, Set::Google])?
            }
            None => Vec::new(),
        };
        let shown = |set: Set| {
            let score = scores.iter().find(|score| score.set == set && score.measure == set.measure());
            let shown = score
                .and_then(|score| Some(format!("{:.1} ({} of {})", score.score?, score.used, score.total)));
            shown.unwrap_or_else(|| "–".to_owned())
        };
        let (on, seconds) = (if run.with_phrases { "npmi" } else { "off" }, run.cpu_seconds());
        println!("| {} | {on} | {seconds:.1} | {} | {} |", run.seed, shown(Set::Men), shown(Set::Google));
    }
    let cpu =
        |with_phrases| median(runs.iter().filter(|run| run.with_phrases == with_phrases), Run::cpu_seconds);
    println!("\nWith phrases, training takes {:.2} times the time on the processor.", cpu(true) / cpu(false));
    Ok(())
}

fn median<'a>(runs: impl Iterator<Item = &'a Run>, value: fn(&Run) -> f64) -> f64 {
    let mut values: Vec<f64> = runs.map(value).collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
