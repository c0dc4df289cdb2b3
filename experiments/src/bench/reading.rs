//! `cargo xtask bench reading`: reads a text and counts its words as training does, without training.
//!
//! `wc -w` reads the same file, in turns. It counts words but does not distinguish them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use skipstream::Config;
use skipstream::corpus;
use skipstream::unstable::count_words;
use skipstream::vocabulary::Vocabulary;

use super::text_or_demo;
use crate::circumstances;
use xtask::command::line;
use xtask::text;

/// Arguments of `cargo xtask bench reading`.
#[derive(Args)]
pub struct Options {
    /// Uncompressed text to read [default: the text of the demo]
    #[arg(long, value_name = "FILE")]
    corpus: Option<PathBuf>,
    /// Number of times that each reads the text; the fastest counts, as noise only adds
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Numbers of threads to read with
    #[arg(long, value_delimiter = ',', default_value = "1,2", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Vec<u16>,
}

/// Reads in turns and prints a table.
pub fn run(options: &Options) -> Result<()> {
    let text = text_or_demo(options.corpus.as_ref())?;
    ensure!(!text::is_compressed(&text)?, "{} is compressed; `wc` cannot read it", text.display());

    // Warm the page cache for all.
    let counted = count(&text, 1)?;
    let mut ours = vec![f64::INFINITY; options.threads.len()];
    let mut theirs = f64::INFINITY;
    for _ in 0..options.rounds {
        for (seconds, &threads) in ours.iter_mut().zip(&options.threads) {
            *seconds = seconds.min(time(|| count(&text, threads.into()).map(drop))?);
        }
        theirs = theirs.min(time(|| word_count(&text).map(drop))?);
    }

    println!("## Reading and counting\n\n{}", circumstances::list());
    println!("- fastest of {} rounds\n", options.rounds);
    println!("| program | threads | words | distinct | seconds | words/s |\n|---|--:|--:|--:|--:|--:|");
    for (seconds, &threads) in ours.into_iter().zip(&options.threads) {
        let program = "skipstream, without training";
        print_row(program, threads, counted.words, Some(counted.distinct), seconds);
    }
    print_row("`wc -w`", 1, word_count(&text)?, None, theirs);
    Ok(())
}

/// The words of a text.
struct Counted {
    words: u64,
    /// At most the default vocabulary bound.
    distinct: usize,
}

fn count(text: &Path, threads: usize) -> Result<Counted> {
    let settings = Config { threads: Some(threads), ..Config::default() }.check()?;
    let mut vocabulary = Vocabulary::new(settings.max_vocabulary());
    count_words(&mut corpus::open(text, settings.text())?, &mut vocabulary, &settings)?;
    Ok(Counted { words: vocabulary.tokens(), distinct: vocabulary.len() })
}

fn word_count(text: &Path) -> Result<u64> {
    let mut command = Command::new("wc");
    // It is fastest in the C locale.
    command.arg("-w").arg(text).env("LC_ALL", "C");
    let output = command.output().context("could not start wc")?;
    ensure!(output.status.success(), "`{}` failed: {}", line(&command), output.status);
    let printed = String::from_utf8_lossy(&output.stdout);
    let number = printed.split_whitespace().next().context("wc printed nothing")?;
    Ok(number.parse()?)
}

fn time(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64())
}

fn print_row(program: &str, threads: u16, words: u64, distinct: Option<usize>, seconds: f64) {
    let distinct = distinct.map_or("–".into(), |distinct| distinct.to_string());
    println!(
        "| {program} | {threads} | {words} | {distinct} | {seconds:.3} | {:.0} |",
        words as f64 / seconds
    );
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn both_count_the_same_words() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        fs::write(&path, "one two\ntwo  three\n\n").unwrap();
        for threads in [1, 2] {
            let counted = count(&path, threads).unwrap();
            assert_eq!((counted.words, counted.distinct), (4, 3));
        }
        assert_eq!(word_count(&path).unwrap(), 4);
    }
}
