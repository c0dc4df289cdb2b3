//! `skipstream inspect`.

mod text;

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use skipstream::snapshot::{WordEntry, inspect, words};

use crate::Ending;
use crate::output::{print, print_json};
use crate::remedy::RESTORE;

/// The arguments of `inspect`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream inspect --model m.safetensors\n  \
    skipstream inspect --model m.safetensors --words > words.tsv\n  \
    skipstream inspect --model m.safetensors --json")]
pub struct InspectArgs {
    /// Model file or vectors file
    #[arg(long, value_name = "PATH")]
    pub model: PathBuf,
    /// Print the vocabulary instead, the most frequent word first: the word, its count (occurrences since it was last
    /// admitted, if known) and, for a model file, the counter that decides which words stay, separated by tabs; with a half-life, also the count
    /// where older occurrences count less, by which words are sorted
    #[arg(long)]
    pub words: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Prints what the file contains. A damaged tensor is an error, after everything else was printed.
pub fn run(args: InspectArgs) -> Result<Ending> {
    if args.words {
        let words = words(&args.model)?;
        if args.json {
            print_json(&words)?;
        } else {
            print_words(&words).context("standard output")?;
        }
        return Ok(Ending::Done);
    }
    let inspection = inspect(&args.model)?;
    if args.json {
        print_json(&inspection)?;
    } else {
        print(&text::text(&inspection))?;
    }
    if !inspection.problems.is_empty() {
        let problems = inspection.problems.join("; ");
        bail!("{}: the model file is damaged: {problems}; {RESTORE}", args.model.display());
    }
    Ok(Ending::Done)
}

fn print_words(words: &[WordEntry]) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    for WordEntry { word, count, counter, recent_count, .. } in words {
        write!(out, "{word}")?;
        for number in count.iter().chain(counter).chain(recent_count) {
            write!(out, "\t{number}")?;
        }
        writeln!(out)?;
    }
    out.flush()
}
