//! `cargo xtask bench reading`: reads a text and counts its words, without training, on one core.
//!
//! `wc -w` reads the same file, in turns. It counts words but does not distinguish them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use skipstream::Config;
use skipstream::corpus::{self, Sentence, Source};
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
}

/// Reads in turns and prints a table.
pub fn run(options: &Options) -> Result<()> {
    let text = text_or_demo(options.corpus.as_ref())?;
    ensure!(!text::is_compressed(&text)?, "{} is compressed; `wc` cannot read it", text.display());

    // Warm the page cache for both.
    let counted = count(&text)?;
    let (mut ours, mut theirs) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..options.rounds {
        ours = ours.min(seconds(|| count(&text).map(drop))?);
        theirs = theirs.min(seconds(|| word_count(&text).map(drop))?);
    }

    println!("## Reading and counting, on one core\n\n{}", circumstances::list());
    println!("- fastest of {} rounds\n", options.rounds);
    println!("| program | words | distinct | seconds | words/s |\n|---|--:|--:|--:|--:|");
    print_row("skipstream, without training", counted.words, Some(counted.distinct), ours);
    print_row("`wc -w`", word_count(&text)?, None, theirs);
    Ok(())
}

/// The words of a text.
struct Counted {
    words: u64,
    /// At most the default vocabulary bound.
    distinct: usize,
}

fn count(text: &Path) -> Result<Counted> {
    let config = Config::default();
    let mut vocabulary = Vocabulary::new(config.max_vocabulary, config.seed);
    let mut source = corpus::open(text, &config.text)?;
    let mut sentence = Sentence::default();
    while source.read(&mut sentence)?.is_sentence() {
        for word in sentence.tokens() {
            // There are no vectors here that would need a reset.
            let _ = vocabulary.observe(word);
        }
    }
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

fn seconds(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64())
}

fn print_row(program: &str, words: u64, distinct: Option<usize>, seconds: f64) {
    let distinct = distinct.map_or("–".into(), |distinct| distinct.to_string());
    println!("| {program} | {words} | {distinct} | {seconds:.3} | {:.0} |", words as f64 / seconds);
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
        let counted = count(&path).unwrap();
        assert_eq!((counted.words, counted.distinct), (4, 3));
        assert_eq!(word_count(&path).unwrap(), 4);
    }
}
