//! `cargo xtask bench subwords`: estimates of unknown words, next to fastText with subwords.
//!
//! All pairs of Stanford's rare words (RW) are scored: skipstream estimates unknown words and blends rare ones, fastText
//! sums n-grams. For skipstream, words are also held out of the fit, and their estimates compared with their own vectors.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use skipstream::embeddings::{SubwordOptions, Subwords, cosines};
use skipstream::eval::{EvalOptions, Evaluator, Score, TestSet};
use skipstream::formats;
use skipstream::{Embeddings, Vectors};

use super::text_or_demo;
use crate::circumstances;
use crate::parallel::n_cores;
use crate::peers::python;
use xtask::command::{build_skipstream, run as run_command};
use xtask::python::Environment;

/// One in so many words with at least [`HELD_OUT_COUNT`] occurrences is held out of the fit.
const HELD_OUT: usize = 33;
const HELD_OUT_COUNT: u64 = 20;

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
}

/// Trains and scores all programs, and prints a table.
pub fn run(options: &Options) -> Result<()> {
    fs::create_dir_all(&options.dir)
        .with_context(|| format!("could not create the folder {}", options.dir.display()))?;
    let corpus = text_or_demo(options.corpus.as_ref())?;
    let python = Environment::prepare(options.dir.join("python"))?;
    let pairs = match &options.pairs {
        Some(pairs) => pairs.clone(),
        None => rare_words(&python)?,
    };
    let set = TestSet::open(&pairs)?;
    let mut rows = Vec::new();
    for quality in ["balanced", "best"] {
        rows.extend(ours(options, quality, &corpus, &set)?);
    }
    for &passes in &options.passes {
        python.install("fasttext").or_else(|_| python.install("fasttext-wheel"))?;
        rows.push(fasttext(options, &python, passes, &corpus, &pairs, &set)?);
    }
    println!("## Subwords\n\n{}", circumstances::list());
    println!("- text: {}\n- pairs: {}\n", corpus.display(), pairs.display());
    println!(
        "| program | training, s | fit, s | held out, cosine | pairs | Spearman |\n|---|--:|--:|--:|--:|--:|"
    );
    rows.iter().for_each(|row| println!("{row}"));
    Ok(())
}

/// Trains skipstream, and scores two kinds of its vectors.
fn ours(options: &Options, quality: &str, corpus: &Path, set: &TestSet) -> Result<Vec<String>> {
    let model = options.dir.join(format!("subwords-{quality}.safetensors"));
    let mut train = std::process::Command::new(build_skipstream()?);
    train.args(["train", "--quiet", "--again", "--finish", "--quality", quality, "--dimensions"]);
    train.arg(options.dimensions.to_string()).arg("--model").arg(&model).arg(corpus);
    if model.exists() {
        fs::remove_file(&model)?;
    }
    let start = Instant::now();
    run_command(&mut train)?;
    let training = start.elapsed().as_secs_f64();
    let mut rows = Vec::new();
    for vectors in [Vectors::Sum, Vectors::Joined] {
        let embeddings = Embeddings::load(&model, vectors)?;
        let start = Instant::now();
        let subwords = Subwords::fit(&embeddings, &SubwordOptions::default(), None)?;
        let fit = start.elapsed().as_secs_f64();
        let evaluator = Evaluator::new(&embeddings, EvalOptions::default())?.with_estimates(&subwords, set);
        let (used, spearman) = score(&evaluator, set)?;
        let cosine = held_out(&embeddings)?;
        let name = format!("skipstream, {quality}, {vectors}");
        rows.push(format!("| {name} | {training:.0} | {fit:.1} | {cosine:.3} | {used} | {spearman:.1} |"));
    }
    Ok(rows)
}

/// The mean cosine between the vectors of words and their estimates by a fit without them.
fn held_out(embeddings: &Embeddings) -> Result<f64> {
    let is_held = |row: &usize| row % HELD_OUT == 7 && embeddings.count(*row) >= HELD_OUT_COUNT;
    let (held, rest): (Vec<usize>, Vec<usize>) = (0..embeddings.len()).partition(is_held);
    ensure!(!held.is_empty(), "the text is too short to hold words out");
    let subwords = Subwords::fit(&embeddings.select(&rest)?, &SubwordOptions::default(), None)?;
    let cosine = |&row: &usize| {
        let estimate = subwords.vector(embeddings.word(row));
        estimate.map_or(0.0, |estimate| f64::from(cosines(&estimate, &embeddings.vector_at(row))[0]))
    };
    Ok(held.iter().map(cosine).sum::<f64>() / held.len() as f64)
}

/// Trains fastText, and scores its vectors.
fn fasttext(
    options: &Options,
    python: &Environment,
    passes: u32,
    corpus: &Path,
    pairs: &Path,
    set: &TestSet,
) -> Result<String> {
    let vectors = options.dir.join(format!("fasttext-subwords-{passes}.txt"));
    let mut script = python::script(&python.program("python"), "with_fasttext_subwords.py");
    script.arg(corpus).arg(pairs).arg(&vectors).arg(options.dimensions.to_string());
    script.arg(passes.to_string()).arg(n_cores().to_string());
    let output = script.output().context("could not start Python")?;
    ensure!(output.status.success(), "fastText: {}", String::from_utf8_lossy(&output.stderr));
    let seconds: f64 = String::from_utf8(output.stdout)?.trim().parse()?;
    let evaluator = Evaluator::new(&formats::load(&vectors, Vectors::default())?, EvalOptions::default())?;
    let (used, spearman) = score(&evaluator, set)?;
    let name = format!("fastText with subwords, passes: {passes}");
    Ok(format!("| {name} | {seconds:.0} | – | – | {used} | {spearman:.1} |"))
}

/// The number of pairs that were scored, and Spearman's correlation in percent.
fn score(evaluator: &Evaluator, set: &TestSet) -> Result<(usize, f64)> {
    match evaluator.score(set, &|_| ()) {
        Score::WordPairs(score) => {
            Ok((score.used, 100.0 * score.spearman.context("the correlation is not defined")?))
        }
        Score::Analogies(_) => anyhow::bail!("the file has analogies; it must have word pairs"),
    }
}

/// The rare words in the package svd2vec, without the packages that it needs to run.
fn rare_words(python: &Environment) -> Result<PathBuf> {
    run_command(python.pip("install").args(["--quiet", "--no-deps", "svd2vec==0.3.3"]))?;
    let find = "import importlib.util as u; print(u.find_spec('svd2vec').submodule_search_locations[0])";
    let output = std::process::Command::new(python.program("python")).args(["-c", find]).output()?;
    ensure!(output.status.success(), "svd2vec: {}", String::from_utf8_lossy(&output.stderr));
    let folder = PathBuf::from(String::from_utf8(output.stdout)?.trim());
    Ok(folder.join("datasets/similarities/rarewords.txt"))
}
