//! `cargo xtask bench subwords`: estimates of unknown words, next to fastText with subwords.
//!
//! - All pairs of Stanford's rare words (RW) are scored. skipstream estimates unknown words and blends rare ones, fastText
//!   sums n-grams.
//! - Words are held out: every program also learns the text without them. The estimates are compared with the vectors that
//!   training on the whole text gives the words, after one rotation, because two trainings share no space.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use skipstream::embeddings::{SubwordOptions, Subwords};
use skipstream::eval::{EvalOptions, Evaluator, Score, TestSet};
use skipstream::formats::{self, Format};
use skipstream::{Embeddings, Vectors};

use super::text_or_demo;
use crate::bench::mean_and_deviation;
use crate::circumstances;
use crate::parallel::n_cores;
use crate::peers::python;
use xtask::command::{build_skipstream, run as run_command};
use xtask::python::Environment;

/// One word of this number is held out, of those with at least [`HELD_OUT_COUNT`] occurrences: the vectors of rarer words are mostly noise.
const HELD_OUT: usize = 33;
const HELD_OUT_COUNT: u64 = 100;

/// The most frequent words, by which the vectors of two trainings are aligned.
const ANCHORS: usize = 10_000;

/// Arguments of `cargo xtask bench subwords`.
#[derive(Args)]
pub struct Options {
    /// Text to train on, uncompressed [default: the text of the demo]
    #[arg(long, value_name = "FILE")]
    corpus: Option<PathBuf>,
    /// Word pairs [default: RW, from the Python package svd2vec]
    #[arg(long, value_name = "FILE")]
    pairs: Option<PathBuf>,
    /// Folder for programs, models and vectors
    #[arg(long, default_value = "bench-work")]
    dir: PathBuf,
    /// Dimensions of a vector
    #[arg(long, default_value_t = 100)]
    dimensions: usize,
    /// Passes of fastText; none to leave it out
    #[arg(long, value_delimiter = ',', default_value = "1,5")]
    passes: Vec<u32>,
    /// Seeds to train with. fastText takes none, so it is trained as many times
    #[arg(long, value_delimiter = ',', default_value = "1,2,3")]
    seeds: Vec<u64>,
}

/// Trains and scores all programs, and prints a table.
pub fn run(options: &Options) -> Result<()> {
    fs::create_dir_all(&options.dir)
        .with_context(|| format!("could not create the folder {}", options.dir.display()))?;
    let python = Environment::prepare(options.dir.join("python"))?;
    python.install("fasttext").or_else(|_| python.install("fasttext-wheel"))?;
    let corpus = text_or_demo(options.corpus.as_ref())?;
    let pairs = match &options.pairs {
        Some(pairs) => pairs.clone(),
        None => rare_words(&python)?,
    };
    let set = TestSet::open(&pairs)?;
    let bench = Bench::prepare(options, python, corpus, set)?;
    let mut runs = Vec::new();
    for (i, &seed) in options.seeds.iter().enumerate() {
        // Words are held out once: the cosine is a mean over hundreds of them.
        let with_held_out = i == 0;
        for quality in ["balanced", "best"] {
            runs.extend(bench.ours(quality, seed, with_held_out)?);
        }
        for &passes in &options.passes {
            runs.push(bench.fasttext(passes, with_held_out)?);
        }
    }
    let names: BTreeSet<&str> = runs.iter().map(|run| run.program.as_str()).collect();
    println!("## Subwords\n\n{}", circumstances::list());
    println!("- text: {}\n- pairs: {}", bench.whole.display(), pairs.display());
    println!(
        "- held out: {} words with at least {HELD_OUT_COUNT} occurrences, with the first seed",
        bench.held_out.len()
    );
    println!("- mean ± standard deviation of {} trainings, each from another seed\n", options.seeds.len());
    println!("| program | training, s | fit, s | held out, cosine | pairs | Spearman |");
    println!("|---|--:|--:|--:|--:|--:|");
    for name in names {
        let of = |value: fn(&Run) -> Option<f64>| -> Vec<f64> {
            runs.iter().filter(|run| run.program == name).filter_map(value).collect()
        };
        println!(
            "| {name} | {} | {} | {} | {} | {} |",
            mean_and_deviation(&of(|run| Some(run.training)), 0),
            mean_and_deviation(&of(|run| run.fit), 1),
            mean_and_deviation(&of(|run| run.held_out), 3),
            mean_and_deviation(&of(|run| Some(run.pairs as f64)), 0),
            mean_and_deviation(&of(|run| Some(run.spearman)), 1),
        );
    }
    Ok(())
}

/// One training of a program, and what its vectors are worth.
struct Run {
    program: String,
    /// Seconds.
    training: f64,
    /// Seconds to fit the n-grams; none if they are trained with the words.
    fit: Option<f64>,
    /// The mean cosine of words that are held out with their vectors from the whole text; of the first seed.
    held_out: Option<f64>,
    pairs: usize,
    /// In percent.
    spearman: f64,
}

/// What all programs are given.
struct Bench<'a> {
    options: &'a Options,
    python: Environment,
    set: TestSet,
    /// The text, and the text without the words that are held out.
    whole: PathBuf,
    reduced: PathBuf,
    held_out: BTreeSet<String>,
    /// The words whose vectors are aligned.
    anchors: Vec<String>,
}

impl<'a> Bench<'a> {
    /// Chooses the words to hold out, and writes the text without them.
    fn prepare(options: &'a Options, python: Environment, whole: PathBuf, set: TestSet) -> Result<Bench<'a>> {
        let counted = train(options, "balanced", 1, &whole)?;
        let embeddings = Embeddings::load(counted.0, Vectors::DEFAULT)?;
        let is_held = |row: &usize| row % HELD_OUT == 7 && embeddings.count(*row) >= HELD_OUT_COUNT;
        let word = |row: usize| embeddings.word(row).to_owned();
        let held_out: BTreeSet<String> = (0..embeddings.len()).filter(is_held).map(word).collect();
        ensure!(!held_out.is_empty(), "the text is too short to hold words out");
        let others = (0..embeddings.len()).filter(|row| !is_held(row));
        let anchors = others.take(ANCHORS).map(word).collect();
        let reduced = options.dir.join("subwords-reduced.txt");
        let mut output = BufWriter::new(File::create(&reduced)?);
        for line in BufReader::new(File::open(&whole)?).lines() {
            let line = line?;
            let words = line.split_whitespace().filter(|&word| !held_out.contains(word));
            writeln!(output, "{}", words.collect::<Vec<_>>().join(" "))?;
        }
        output.flush()?;
        Ok(Bench { options, python, set, whole, reduced, held_out, anchors })
    }

    /// Trains skipstream, and scores two kinds of its vectors.
    fn ours(&self, quality: &str, seed: u64, with_held_out: bool) -> Result<Vec<Run>> {
        let (model, training) = train(self.options, quality, seed, &self.whole)?;
        let reduced = match with_held_out {
            true => Some(train(self.options, quality, seed, &self.reduced)?.0),
            false => None,
        };
        let mut runs = Vec::new();
        for vectors in [Vectors::Sum, Vectors::Joined] {
            let embeddings = Embeddings::load(&model, vectors)?;
            let start = Instant::now();
            let subwords = Subwords::fit(&embeddings, &SubwordOptions::default(), None)?;
            let fit = Some(start.elapsed().as_secs_f64());
            let evaluator =
                Evaluator::new(&embeddings, EvalOptions::default())?.with_estimates(&subwords, &self.set);
            let (pairs, spearman) = self.score(&evaluator)?;
            let held_out = match &reduced {
                Some(reduced) => {
                    let reduced = Embeddings::load(reduced, vectors)?;
                    let subwords = Subwords::fit(&reduced, &SubwordOptions::default(), None)?;
                    let estimated = reduced.with_estimates(&subwords, &self.held_out);
                    let files = [self.save("whole", &embeddings)?, self.save("reduced", &estimated)?];
                    Some(self.held_out_cosine(&files)?)
                }
                None => None,
            };
            let program = format!("skipstream, {quality}, {vectors}");
            runs.push(Run { program, training, fit, held_out, pairs, spearman });
        }
        Ok(runs)
    }

    /// Trains fastText, and scores its vectors.
    fn fasttext(&self, passes: u32, with_held_out: bool) -> Result<Run> {
        let TestSet::WordPairs(pairs) = &self.set else { anyhow::bail!("the file must have word pairs") };
        let of_pairs = pairs.pairs.iter().flat_map(|pair| [&pair.first, &pair.second]);
        let mut words: BTreeSet<String> = self.anchors.iter().chain(&self.held_out).cloned().collect();
        let reduced = match with_held_out {
            true => Some(self.train_fasttext("reduced", passes, &self.reduced, &words)?.0),
            false => None,
        };
        words.extend(of_pairs.map(|word| word.to_lowercase()));
        let (whole, training) = self.train_fasttext("whole", passes, &self.whole, &words)?;
        let evaluator = Evaluator::new(&formats::load(&whole, Vectors::default())?, EvalOptions::default())?;
        let (pairs, spearman) = self.score(&evaluator)?;
        let held_out = reduced.map(|reduced| self.held_out_cosine(&[whole, reduced])).transpose()?;
        let program = format!("fastText with subwords, passes: {passes}");
        Ok(Run { program, training, fit: None, held_out, pairs, spearman })
    }

    /// The vectors of words by fastText, and the seconds of its training.
    fn train_fasttext(
        &self,
        name: &str,
        passes: u32,
        text: &Path,
        words: &BTreeSet<String>,
    ) -> Result<(PathBuf, f64)> {
        let list = self.list(name, words)?;
        let vectors = self.options.dir.join(format!("fasttext-{name}-{passes}.txt"));
        let mut script = python::script(&self.python.program("python"), "with_fasttext_subwords.py");
        script.arg(text).arg(list).arg(&vectors).arg(self.options.dimensions.to_string());
        script.arg(passes.to_string()).arg(n_cores().to_string());
        Ok((vectors, printed_number(&mut script)?))
    }

    /// Writes the vectors of the anchors and of the words that are held out.
    fn save(&self, name: &str, embeddings: &Embeddings) -> Result<PathBuf> {
        let words = self.anchors.iter().chain(&self.held_out);
        let rows = words.map(|word| embeddings.row_of(word)).collect::<Result<Vec<_>, _>>()?;
        let path = self.options.dir.join(format!("vectors-{name}.txt"));
        formats::save(&embeddings.select(&rows)?, Format::Word2vecText, &path)?;
        Ok(path)
    }

    /// The mean cosine of the words that are held out, between two files of vectors.
    fn held_out_cosine(&self, files: &[PathBuf; 2]) -> Result<f64> {
        let mut script = python::script(&self.python.program("python"), "aligned_cosine.py");
        printed_number(script.args(files).arg(self.list("held-out", &self.held_out)?))
    }

    /// Writes words, one per line.
    fn list(&self, name: &str, words: &BTreeSet<String>) -> Result<PathBuf> {
        let path = self.options.dir.join(format!("words-{name}.txt"));
        fs::write(&path, words.iter().map(|word| format!("{word}\n")).collect::<String>())?;
        Ok(path)
    }

    /// The number of pairs that were scored, and Spearman's correlation in percent.
    fn score(&self, evaluator: &Evaluator) -> Result<(usize, f64)> {
        match evaluator.score(&self.set, &|_| ()) {
            Score::WordPairs(score) => {
                Ok((score.used, 100.0 * score.spearman.context("the correlation is not defined")?))
            }
            Score::Analogies(_) => anyhow::bail!("the file has analogies; it must have word pairs"),
        }
    }
}

/// A model of a text by skipstream, and the seconds that it took.
fn train(options: &Options, quality: &str, seed: u64, text: &Path) -> Result<(PathBuf, f64)> {
    let name = text.file_stem().context("the text has no name")?.to_string_lossy();
    let model = options.dir.join(format!("subwords-{name}-{quality}.safetensors"));
    let mut train = Command::new(build_skipstream()?);
    train.args(["train", "--quiet", "--finish", "--quality", quality, "--dimensions"]);
    train
        .arg(options.dimensions.to_string())
        .arg("--seed")
        .arg(seed.to_string())
        .arg("--model")
        .arg(&model)
        .arg(text);
    if model.exists() {
        fs::remove_file(&model)?;
    }
    let start = Instant::now();
    run_command(&mut train)?;
    Ok((model, start.elapsed().as_secs_f64()))
}

/// The number that a script prints.
fn printed_number(script: &mut Command) -> Result<f64> {
    let output = script.output().context("could not start Python")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}

/// The rare words in the package svd2vec, without the packages that it needs to run.
fn rare_words(python: &Environment) -> Result<PathBuf> {
    run_command(python.pip("install").args(["--quiet", "--no-deps", "svd2vec==0.3.3"]))?;
    let find = "import importlib.util as u; print(u.find_spec('svd2vec').submodule_search_locations[0])";
    let output = Command::new(python.program("python")).args(["-c", find]).output()?;
    ensure!(output.status.success(), "svd2vec: {}", String::from_utf8_lossy(&output.stderr));
    let folder = PathBuf::from(String::from_utf8(output.stdout)?.trim());
    Ok(folder.join("datasets/similarities/rarewords.txt"))
}
