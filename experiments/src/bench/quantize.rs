//! `cargo xtask bench quantize`: what vectors in fewer bytes cost in quality, and gain in size and speed.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use skipstream::embeddings::Query;
use skipstream::unstable::Random;
use skipstream::{Config, Embeddings, Quantization, Trainer, Vectors, corpus};

use crate::circumstances;
use crate::scores::{Measure, N_FREQUENT, Set, score};
use xtask::command::target_folder;

/// Number of frequent words whose neighbors are compared, and number of neighbors of each.
const COMPARED: usize = 1_000;
const NEIGHBORS: usize = 10;

/// Number of timed queries to each file, in turns.
const QUERIES: usize = 100;

/// Full precision first: the others are compared with it.
const KINDS: [Option<Quantization>; 3] = [None, Some(Quantization::F16), Some(Quantization::Int8)];

/// Arguments of `cargo xtask bench quantize`.
#[derive(Args)]
pub struct Options {
    /// Folder with corpora/wiki-2006.txt.zst, to train vectors on, and eval/ [default: speed only, of random vectors]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Numbers of words of the random vectors that are timed
    #[arg(long, value_delimiter = ',', default_value = "100000,1000000")]
    words: Vec<usize>,
    /// Dimensions of the random vectors
    #[arg(long, default_value_t = 100)]
    dimensions: usize,
}

/// Prints a table of quality, if there is a text, and a table of speed.
pub fn run(options: &Options) -> Result<()> {
    let folder = target_folder()?.join("quantize");
    fs::create_dir_all(&folder)?;
    println!("## Quantized vectors\n\n{}\n", circumstances::list());
    if let Some(data) = &options.data {
        print_quality(&folder, data)?;
    }
    print_speed(&folder, options)
}

fn print_quality(folder: &Path, data: &Path) -> Result<()> {
    let model = folder.join("wiki-2006.safetensors");
    if !model.exists() {
        eprintln!("learning wiki-2006");
        let config = Config::default();
        let mut text = corpus::open(data.join("corpora/wiki-2006.txt.zst"), &config.text)?;
        let mut trainer = Trainer::new(config)?;
        trainer.train_source(&mut text)?;
        trainer.finish();
        trainer.save(&model)?;
    }
    let full = Embeddings::open(&model, Vectors::default())?;
    println!(
        "The vectors of wiki-2006, {} words of {} dimensions. Overlap: neighbors among the {NEIGHBORS} nearest that are \
         the same as in f32, of the {COMPARED} most frequent words. MEN in per cent of Spearman's correlation, Google in per \
         cent of analogies solved by 3CosAdd, among the {N_FREQUENT} most frequent words.\n",
        full.len(),
        full.dimensions()
    );
    println!("| vectors | file, MB | overlap@{NEIGHBORS} | MEN | Google |\n|---|--:|--:|--:|--:|");
    let mut expected = None;
    for kind in KINDS {
        let (bytes, embeddings) = saved(&full, kind, folder)?;
        let found = neighbors(&embeddings)?;
        let expected = expected.get_or_insert_with(|| found.clone());
        let same: usize = found
            .iter()
            .zip(expected.iter())
            .map(|(found, expected)| found.intersection(expected).count())
            .sum();
        let overlap = 100.0 * same as f64 / (COMPARED * NEIGHBORS) as f64;
        let scores = score(N_FREQUENT, &embeddings, &data.join("eval"), &[Set::Men, Set::Google])?;
        let of = |measure| {
            let found = scores.iter().find(|score| score.measure == measure).and_then(|score| score.score);
            found.context("the vectors know too few words of the test sets")
        };
        println!(
            "| {} | {:.1} | {overlap:.1} % | {:.2} | {:.2} |",
            name(kind),
            bytes / 1e6,
            of(Measure::Spearman)?,
            of(Measure::CosAdd)?
        );
    }
    println!();
    Ok(())
}

fn print_speed(folder: &Path, options: &Options) -> Result<()> {
    println!(
        "Random vectors of {} dimensions, memory-mapped files in the page cache. Milliseconds to the {NEIGHBORS} nearest words \
         with one thread: the fastest of {QUERIES} queries, in turns with the other files (noise only adds).\n",
        options.dimensions
    );
    println!("| words | vectors | file, MB | query, ms | speed |\n|--:|---|--:|--:|--:|");
    for &words in &options.words {
        let random = random_vectors(words, options.dimensions)?;
        let files = KINDS.map(|kind| saved(&random, kind, folder));
        let files = files.into_iter().collect::<Result<Vec<_>>>()?;
        drop(random);
        let mut fastest = [f64::INFINITY; KINDS.len()];
        let mut numbers = Random::new(2);
        for _ in 0..QUERIES {
            let row = numbers.below(words);
            for ((_, embeddings), fastest) in files.iter().zip(&mut fastest) {
                let start = Instant::now();
                let found = embeddings.search_many(&[Query::neighbors(row, NEIGHBORS)], Some(1))?;
                *fastest = fastest.min(start.elapsed().as_secs_f64() * 1e3);
                ensure!(found[0].len() == NEIGHBORS, "row {row} has {} neighbors", found[0].len());
            }
        }
        for ((kind, (bytes, _)), time) in KINDS.into_iter().zip(&files).zip(fastest) {
            let (megabytes, speed) = (bytes / 1e6, fastest[0] / time);
            println!("| {words} | {} | {megabytes:.1} | {time:.2} | {speed:.1} × |", name(kind));
        }
    }
    Ok(())
}

fn name(kind: Option<Quantization>) -> &'static str {
    kind.map_or("f32", Quantization::name)
}

/// The size of a file of these vectors, and the vectors opened in place.
fn saved(embeddings: &Embeddings, kind: Option<Quantization>, folder: &Path) -> Result<(f64, Embeddings)> {
    let path = folder.join(format!("{}.safetensors", name(kind)));
    match kind {
        Some(quantization) => embeddings.quantized(quantization)?.save(&path)?,
        None => embeddings.save(&path)?,
    }
    let bytes = fs::metadata(&path)?.len() as f64;
    Ok((bytes, Embeddings::open(&path, Vectors::default())?))
}

/// The neighbors of the most frequent words.
fn neighbors(embeddings: &Embeddings) -> Result<Vec<HashSet<usize>>> {
    let rows = embeddings.candidates(None, None);
    ensure!(rows.len() > COMPARED, "the text has too few frequent words");
    let queries: Vec<Query<'_>> =
        (0..COMPARED).map(|row| Query::neighbors(row, NEIGHBORS).among(rows.clone())).collect();
    let found = embeddings.search_many(&queries, None)?;
    Ok(found.into_iter().map(|found| found.into_iter().map(|neighbor| neighbor.row).collect()).collect())
}

fn random_vectors(words: usize, dimensions: usize) -> Result<Embeddings> {
    let mut random = Random::new(1);
    // The sum of uniform numbers is nearly normal, as the values of word vectors are.
    let mut value = || (0..4).map(|_| random.uniform() as f32 - 0.5).sum();
    let values = (0..words * dimensions).map(|_| value()).collect();
    Ok(Embeddings::uncounted(dimensions, (0..words).map(|row| format!("w{row}")), values)?)
}
