//! `cargo xtask bench peers`: skipstream and other programs on the same text, in turns.
//!
//! The speed of a machine changes over minutes, so a round runs every program once, ratios are taken within a round,
//! and the table shows their median. Every run is timed from the plain text to the saved model. Scores vary with the
//! seed and not with the machine: each seed is scored once, and the table shows mean and standard deviation.

mod report;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use clap::Args;

use super::text_or_demo;
use crate::circumstances;
use crate::peers::contender::{Contender, Job, Program, RATE, Variant, Way};
use crate::peers::installed::Installed;
use crate::peers::python;
use crate::peers::setting::Setting;
use crate::peers::timed;
use crate::scores::{Measure, N_FREQUENT, score};
use report::{Group, Report, Run, SETS, Scores};
use skipstream::{Vectors, formats};
use xtask::text::{TextWriter, each_line, open, words};

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
    #[arg(long, value_delimiter = ',', default_value = "default,best,no-replays,incremental")]
    ours: Vec<Variant>,
    /// Ways to feed text to skipstream's Python package, which is built and installed first
    #[arg(long, value_delimiter = ',')]
    in_python: Vec<Way>,
    /// Other programs; manually built ones join if their environment variable is set
    #[arg(long, value_delimiter = ',', default_value = "word2vec,gensim,fasttext")]
    peers: Vec<Program>,
    /// Numbers of passes of the programs that can make several; skipstream and yskip make one
    #[arg(long, value_delimiter = ',', default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    passes: Vec<u32>,
    /// Learning rates of word2vec, gensim and fastText: the default of the first two, that of fastText, and a higher one
    #[arg(long, value_delimiter = ',', default_value = "0.025,0.05,0.1")]
    rates: Vec<String>,
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
    let programs = programs(options);
    let installed = Installed::prepare(options.program.clone(), &programs, &options.dir)?;
    let mut missing = installed.missing.clone();
    let mut contenders = Vec::new();
    for program in programs {
        let Some(path) = installed.path(program) else { continue };
        for &passes in if program.makes_passes() { &options.passes[..] } else { &[1] } {
            let contender = Contender { program, path, rate: RATE, passes };
            if program.takes_rate() {
                contenders.extend(options.rates.iter().map(|rate| Contender { rate, ..contender }));
            } else {
                contenders.push(contender);
            }
        }
    }

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
                    // Each run replaces the model file of its program.
                    output: &options.dir.join(contender.name().replace([' ', '.'], "-") + ".model"),
                    setting: group.setting,
                    threads: group.threads,
                    seed,
                    max_vocabulary: MAX_VOCABULARY,
                    keeps_contexts: false,
                };
                match measure(contender, &job, round, eval) {
                    Ok(run) => report.add(run)?,
                    Err(error) => {
                        let name = contender.name();
                        let line = format!("{name} in round {round} of {group}: {error:#}");
                        eprintln!("{line}");
                        missing.push(line);
                    }
                }
            }
        }
    }

    println!("## skipstream and its peers\n\n{}", circumstances::list());
    let python = python::environment(&options.dir);
    if python.exists() {
        println!("- packages: {}", python::versions(&python)?);
    }
    println!("- text: {n_words} words; words/s are words of the text, however many passes are made");
    println!("- rounds: {rounds}; time and memory are medians, from the text to the saved model");
    println!(
        "- scores: mean ± standard deviation over seeds (word2vec.c, pWord2Vec and fastText take none), of the vectors \
         that a program gives its users: targets, for skipstream sums, for its best quality joined vectors\n"
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

/// Our variants, the requested peers, and manually built ones whose variable is set.
fn programs(options: &Options) -> Vec<Program> {
    let ours = options.ours.iter().map(|&variant| Program::Skipstream(variant));
    let in_python = options.in_python.iter().map(|&way| Program::Package(way));
    let by_hand = [Program::Pword2vec, Program::Yskip].into_iter().filter(|program| {
        !options.peers.contains(program) && program.variable().is_some_and(|name| env::var_os(name).is_some())
    });
    ours.chain(in_python).chain(options.peers.iter().copied()).chain(by_hand).collect()
}

/// Trains once and scores the result. The model of an earlier run is removed first, or skipstream
/// would continue it.
fn measure(contender: &Contender, job: &Job, round: u32, eval: Option<&Path>) -> Result<Run> {
    if job.output.exists() {
        fs::remove_file(job.output)?;
    }
    let measured = timed::run(&contender.train(job), &job.output.with_extension("log"))?;
    ensure!(job.output.exists(), "it succeeded but did not save {}", job.output.display());
    let group = Group { setting: job.setting, threads: job.threads };
    eprintln!("{group}, round {round}: {} took {:.1} s", contender.name(), measured.seconds);
    // A run that cannot be scored was still measured.
    let scores = eval.and_then(|eval| {
        scores(contender, job, eval).inspect_err(|error| eprintln!("no scores: {error:#}")).ok()
    });
    Ok(Run {
        group,
        round,
        seed: job.seed,
        program: contender.name(),
        is_ours: contender.program.is_ours(),
        measured,
        scores,
    })
}

fn scores(contender: &Contender, job: &Job, eval: &Path) -> Result<Scores> {
    let vectors = contender.program.published();
    let embeddings = formats::load(contender.vectors(job, vectors)?, Vectors::default())?;
    let scores = score(N_FREQUENT, &embeddings, eval, &SETS)?;
    Ok(SETS.map(|set| {
        let found = scores.iter().find(|score| score.set == set && score.measure != Measure::CosMul);
        found.and_then(|score| score.score)
    }))
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
    let of_data = options.data.as_ref().map(|data| data.join("corpora/wiki-2006.txt.zst"));
    let source = text_or_demo(options.corpus.as_ref().or(of_data.as_ref()))?;
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
