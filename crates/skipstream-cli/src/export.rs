//! `skipstream export`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use indicatif::HumanCount;
use skipstream::Embeddings;
use skipstream::bytes::replace;
use skipstream::formats::word2vec::{write_binary, write_text};

use crate::Ending;
use crate::model::ModelArgs;

/// What was typed after `export`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream export --model m.safetensors --to word2vec-text vectors.txt\n  \
    skipstream export --model m.safetensors --to word2vec-binary --top 30000 vectors.bin\n\n\
    In Python: gensim.models.KeyedVectors.load_word2vec_format(\"vectors.bin\", binary=True)")]
pub struct ExportArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The format
    #[arg(long, value_name = "FORMAT")]
    pub to: Format,
    /// Only so many words, the most frequent ones
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// The file to write; `-` is standard output
    #[arg(value_name = "OUT")]
    pub out: PathBuf,
}

/// A format of word vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text, a word and its values on each line, as word2vec writes it
    Word2vecText,
    /// The same with binary values, as word2vec writes it with -binary 1
    Word2vecBinary,
}

/// Writes the vectors.
pub fn run(args: ExportArgs) -> Result<Ending> {
    let mut embeddings = args.model.load()?;
    if let Some(top) = args.top {
        embeddings = embeddings.top(top);
    }
    if args.out == Path::new("-") {
        write(&embeddings, args.to, io::stdout().lock(), Path::new("<stdout>"))?;
        return Ok(Ending::Done);
    }
    if is_special(&args.out) {
        let file = fs::OpenOptions::new().write(true).open(&args.out);
        let file = file.with_context(|| args.out.display().to_string())?;
        write(&embeddings, args.to, file, &args.out)?;
    } else {
        replace(&args.out, |file| write(&embeddings, args.to, file, &args.out))?;
    }
    eprintln!(
        "{}: {} words of {} dimensions",
        args.out.display(),
        HumanCount(embeddings.len() as u64),
        embeddings.dimensions()
    );
    Ok(Ending::Done)
}

fn write(embeddings: &Embeddings, format: Format, out: impl Write, name: &Path) -> skipstream::Result<()> {
    match format {
        Format::Word2vecText => write_text(embeddings, out, name),
        Format::Word2vecBinary => write_binary(embeddings, out, name),
    }
}

/// Whether there is a device or a pipe, which is written to and not replaced.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}
