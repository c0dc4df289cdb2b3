//! `cargo xtask bench evaluation`: scores the same vectors with skipstream and with gensim, which must agree.
//!
//! skipstream is timed as a whole command, including loading and both rules for analogies. For gensim, only the calls
//! are timed; they load nothing and support only 3CosAdd.

mod agreement;
mod synthetic;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;
use skipstream::formats::{self, Format};
use skipstream::{Embeddings, Vectors};

use super::json;
use crate::circumstances;
use crate::peers::python;
use xtask::command::{build_skipstream, run};

/// Required speed-up over gensim on Google's questions.
const WANTED_RATIO: f64 = 10.0;

const N_WORDS: usize = 100_000;

/// Arguments of `cargo xtask bench evaluation`.
#[derive(Args)]
pub struct Options {
    /// Folder with corpora/wiki-2014.txt.zst, to train vectors on, and eval/ [default: synthetic vectors and questions]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Folder for programs, vectors and test sets
    #[arg(long, default_value = "bench-work")]
    dir: PathBuf,
    /// Number of runs of skipstream, of which the median time counts; gensim runs once
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

/// Vectors and test sets, in files.
struct Material {
    embeddings: Embeddings,
    pairs: Vec<PathBuf>,
    analogies: Vec<PathBuf>,
}

/// Scores with both, prints a table, and fails if they disagree or if skipstream is not fast enough.
pub fn run_benchmark(options: &Options) -> Result<()> {
    fs::create_dir_all(&options.dir)
        .with_context(|| format!("could not create the folder {}", options.dir.display()))?;
    let python = python::with_gensim(&options.dir)?;
    let program = build_skipstream()?;
    let material = match &options.data {
        Some(data) => trained(data, &program, &options.dir)?,
        None => synthetic::material(&options.dir)?,
    };
    let ours = options.dir.join("evaluation.safetensors");
    material.embeddings.save(&ours)?;
    let theirs = options.dir.join("evaluation.bin");
    formats::save(&material.embeddings, Format::Word2vecBinary, &theirs)?;

    let mut eval = Command::new(&program);
    eval.args(["eval", "--json", "--model"]).arg(&ours).args(&material.pairs).args(&material.analogies);
    let mut times = Vec::new();
    let mut found = Value::Null;
    for _ in 0..options.rounds {
        let start = Instant::now();
        found = json(&mut eval)?;
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_unstable_by(f64::total_cmp);
    let our_seconds = times[times.len() / 2];

    let mut gensim = python::script(&python.program("python"), "evaluate_with_gensim.py");
    gensim.arg(&theirs).arg("--pairs").args(&material.pairs).arg("--analogies").args(&material.analogies);
    let expected = json(&mut gensim)?;
    let their_seconds = expected["seconds"].as_f64().context("gensim's script printed no time")?;
    let ratio = their_seconds / our_seconds;

    println!("## Evaluation\n\n{}", circumstances::list());
    println!("- packages: {}", python::versions(&python)?);
    println!("- vectors: {} × {}\n", material.embeddings.len(), material.embeddings.dimensions());
    println!("| | seconds |\n|---|--:|");
    println!(
        "| skipstream, with loading, 3CosAdd and 3CosMul, median of {} | {our_seconds:.2} |",
        options.rounds
    );
    println!("| gensim, without loading, 3CosAdd | {their_seconds:.2} |\n");
    println!("skipstream is {ratio:.1} times as fast.\n");
    print!("{}", agreement::check(&found, &expected)?);
    ensure!(ratio >= WANTED_RATIO, "the speed-up is {ratio:.1}; it must be at least {WANTED_RATIO}");
    Ok(())
}

/// Vectors of real text, trained once and reused.
fn trained(data: &Path, program: &Path, dir: &Path) -> Result<Material> {
    let model = dir.join("evaluation-model.safetensors");
    if !model.exists() {
        let mut train = Command::new(program);
        train.args(["train", "--max-vocabulary", "130000", "--model"]).arg(&model);
        run(train.arg(data.join("corpora/wiki-2014.txt.zst")))?;
    }
    let set = |name: &str| data.join("eval").join(name);
    Ok(Material {
        embeddings: Embeddings::load(&model, Vectors::Sum)?.top(N_WORDS),
        pairs: ["ws353.tsv", "men.tsv", "simlex999.tsv"].map(set).into(),
        analogies: vec![set("google.txt")],
    })
}
