//! `cargo xtask bench peers`: skipstream and other programs on the same text, in turns.
//!
//! The speed of a machine changes over minutes, so a round runs every program once, ratios are taken within a round,
//! and the table shows their median. Every run is timed from the plain text to the saved model. Scores vary with the
//! seed and not with the machine: each seed is scored once, and the table shows mean and standard deviation.

mod report;
mod scores;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::circumstances;
use crate::peers::contender::{Contender, Job, Variant, Way};
use crate::peers::python::Python;
use crate::peers::roster::{Peer, Roster, Wanted};
use crate::peers::setting::Setting;
use crate::peers::timed;
use report::{Group, Report, Run};
use scores::Scores;
use skipstream::Vectors;
use xtask::command::build_skipstream;
use xtask::text::{TextWriter, each_line, open, words};
use xtask::wikipedia;

/// Vocabulary bound of the programs that learn in one pass.
const MAX_VOCABULARY: u32 = 100_000;

/// Arguments of `cargo xtask bench peers`.
#[derive(Args)]
pub struct Options {
    /// Folder with corpora/wiki-2006.txt.zst and, for scores, eval/
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Text to learn (plain, .gz or .zst) [default: from --data, or the text of the demo]
    #[arg(long, value_name = "FILE")]
    corpus: Option<PathBuf>,
    /// Number of runs of every program [default: one per seed]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// Seeds, one per round, in turns; each is scored the first time
    #[arg(long, value_delimiter = ',', default_value = "1,2,3")]
    seeds: Vec<u32>,
    /// Numbers of threads
    #[arg(long, value_delimiter = ',', default_value = "1,2")]
    threads: Vec<u32>,
    /// Settings
    #[arg(long, value_delimiter = ',', default_value = "small,paper")]
    settings: Vec<Setting>,
    /// Variants of skipstream
    #[arg(long, value_delimiter = ',', default_value = "default,no-replays,incremental")]
    ours: Vec<Variant>,
    /// Ways to feed text to skipstream's Python package, which is built and installed first
    #[arg(long, value_delimiter = ',')]
    in_python: Vec<Way>,
    /// Other programs; manually built ones join if their environment variable is set
    #[arg(long, value_delimiter = ',', default_value = "word2vec,gensim,fasttext")]
    peers: Vec<Peer>,
    /// Numbers of passes of the programs that can make several; skipstream and yskip make one
    #[arg(long, value_delimiter = ',', default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    passes: Vec<u32>,
    /// Learning rates of word2vec: its default, and better ones for a single pass
    #[arg(long, value_delimiter = ',', default_value = "0.025,0.05,0.1")]
    word2vec_rates: Vec<String>,
    /// Score the vectors, and fail without DIR/eval [default: score if DIR/eval exists]
    #[arg(long, overrides_with = "no_scores")]
    scores: bool,
    /// Measure speed and memory only
    #[arg(long, overrides_with = "scores")]
    no_scores: bool,
    /// Folder for programs, models, logs and the CSV file of all runs
    #[arg(long, default_value = "bench-work")]
    dir: PathBuf,
    /// Use this skipstream instead of building one
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// Runs the comparison and prints its tables.
pub fn run(options: &Options) -> Result<()> {
    fs::create_dir_all(&options.dir)
        .with_context(|| format!("could not create the folder {}", options.dir.display()))?;
    let eval = eval_folder(options)?;
    let (text, n_words) = prepare_text(options)?;
    let program = match &options.program {
        Some(program) => program.clone(),
        None => build_skipstream()?,
    };
    let wanted = Wanted {
        ours: &options.ours,
        in_python: &options.in_python,
        peers: &options.peers,
        passes: &options.passes,
        word2vec_rates: &options.word2vec_rates,
    };
    let Roster { contenders, mut missing } = Roster::assemble(&program, &wanted, &options.dir);

    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let mut report = Report::create(&options.dir.join(format!("runs-{now}.csv")), n_words)?;
    let rounds = options.rounds.unwrap_or(options.seeds.len() as u32);
    let groups = groups(options);
    for &group in &groups {
        for (round, (place, &seed)) in (1..=rounds).zip(options.seeds.iter().enumerate().cycle()) {
            // Another run with the same seed would say nothing new about quality.
            let eval = eval.as_deref().filter(|_| round as usize == place + 1);
            for contender in &contenders {
                let job = Job {
                    text: &text,
                    output: &options.dir.join(file_name(contender)),
                    setting: group.setting,
                    threads: group.threads,
                    seed,
                    max_vocabulary: MAX_VOCABULARY,
                    keeps_contexts: false,
                };
                match measure(contender, &job, round, eval) {
                    Ok(run) => report.add(run)?,
                    Err(error) => missing.push(failure(contender, group, round, &error)),
                }
            }
        }
    }

    println!("## skipstream and its peers\n\n{}", circumstances::list());
    if let Some(python) = Python::found(&options.dir) {
        println!("- packages: {}", python.versions()?);
    }
    println!("- text: {n_words} words; words/s are words of the text, however many passes are made");
    println!("- rounds: {rounds}; time and memory are medians, from the text to the saved model");
    println!(
        "- scores: mean ± standard deviation over seeds (word2vec.c, pWord2Vec and fastText take none)\n"
    );
    for group in groups {
        println!("{}", report.table(group));
    }
    for line in missing {
        println!("Missing: {line}");
    }
    println!("Every run: {}", report.csv_path().display());
    Ok(())
}

fn groups(options: &Options) -> Vec<Group> {
    let of_setting = |&setting: &Setting| {
        let threads = options.threads.iter();
        threads.map(move |&threads| Group { setting, threads })
    };
    options.settings.iter().flat_map(of_setting).collect()
}

/// Trains once and scores the result. The model of an earlier run is removed first, or skipstream
/// would continue it.
fn measure(contender: &Contender, job: &Job, round: u32, eval: Option<&Path>) -> Result<Run> {
    if job.output.exists() {
        fs::remove_file(job.output)?;
    }
    let measured = timed::run(&contender.train(job), &job.output.with_extension("log"))?;
    ensure!(job.output.exists(), "it succeeded but did not save {}", job.output.display());
    eprintln!(
        "{}, threads: {}, round {round}: {} took {:.1} s",
        job.setting.name(),
        job.threads,
        contender.name(),
        measured.seconds
    );
    // A run that cannot be scored was still measured.
    let scores = eval.and_then(|eval| {
        score(contender, job, eval).inspect_err(|error| eprintln!("no scores: {error:#}")).ok()
    });
    Ok(Run {
        group: Group { setting: job.setting, threads: job.threads },
        round,
        seed: job.seed,
        program: contender.name(),
        is_ours: contender.is_ours(),
        measured,
        scores,
    })
}

fn score(contender: &Contender, job: &Job, eval: &Path) -> Result<Scores> {
    // Target plus context, which is what the paper evaluates, if the model has both; otherwise targets.
    let has_sums = !matches!(contender, Contender::Gensim { .. }) && contender.has_contexts();
    let vectors = if has_sums { Vectors::Sum } else { Vectors::Target };
    scores::score(&contender.vectors(job, vectors)?, eval)
}

fn failure(contender: &Contender, group: Group, round: u32, error: &anyhow::Error) -> String {
    let line = format!(
        "{} in round {round} of {}, threads: {}: {error:#}",
        contender.name(),
        group.setting.name(),
        group.threads
    );
    eprintln!("{line}");
    line
}

fn eval_folder(options: &Options) -> Result<Option<PathBuf>> {
    if options.no_scores {
        return Ok(None);
    }
    let folder = options.data.as_ref().map(|data| data.join("eval"));
    let found = folder.filter(|folder| folder.is_dir());
    ensure!(found.is_some() || !options.scores, "--scores needs DIR/eval, where DIR is the folder of --data");
    Ok(found)
}

/// Writes the text uncompressed, in lines that no program truncates, and counts its words.
fn prepare_text(options: &Options) -> Result<(PathBuf, u64)> {
    let source = match (&options.corpus, &options.data) {
        (Some(corpus), _) => corpus.clone(),
        (None, Some(data)) => data.join("corpora/wiki-2006.txt.zst"),
        (None, None) => wikipedia::prepare(Path::new("demo"))
            .context("could not get a text; pass one with --corpus FILE")?,
    };
    let text = options.dir.join("corpus.txt");
    let mut writer = TextWriter::create(&text)?;
    each_line(open(&source)?, |line| {
        for word in words(line) {
            writer.word(word)?;
        }
        Ok(writer.end_line()?)
    })?;
    let n_words = writer.n_words();
    ensure!(n_words > 0, "{} has no words", source.display());
    writer.finish()?;
    Ok((text, n_words))
}

/// The model file of one program; each run replaces it.
fn file_name(contender: &Contender) -> String {
    let name = contender.name().replace([' ', '.'], "-");
    format!("{name}.model")
}
