//! `skipstream import`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use indicatif::HumanCount;
use skipstream::Vectors;
use skipstream::corpus::InvalidUtf8;
use skipstream::formats::{self, Format, LoadOptions};

use crate::Ending;
use crate::args::one_of;
use crate::export::files;
use crate::lock::ModelLock;
use crate::output::note;

/// What was typed after `import`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream import glove.txt.gz --model glove.safetensors\n  \
    skipstream import wiki.vec --top 200000 --model wiki.safetensors\n  \
    skipstream neighbors --model wiki.safetensors berlin\n\n\
    Other commands read these files too, without an import: skipstream neighbors --model wiki.vec berlin")]
pub struct ImportArgs {
    /// The vectors: a file, which may be compressed, or a folder made for the projector
    ///
    /// These are read: word2vec's text and binary, fastText's .vec, GloVe's and yskip's text, .npy (with words in .words.tsv
    /// beside it), finalfusion, and models of this program.
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The model to make
    #[arg(long, value_name = "PATH")]
    pub model: PathBuf,
    /// The format, where it is not told from the content
    #[arg(long, value_name = "FORMAT", value_parser = one_of::<Format>(&[
        "word2vec-text", "word2vec-binary", "safetensors", "npy", "finalfusion", "projector", "glove", "yskip",
    ]))]
    pub from: Option<Format>,
    /// Which vectors to take, of formats that have more than one kind: of targets, of contexts, or their sum
    #[arg(long, value_name = "NAME", default_value = "sum", value_parser = one_of::<Vectors>(&["sum", "target", "context"]))]
    pub vectors: Vectors,
    /// Only so many words, the most frequent ones (of files without counts, the first ones)
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// Words that are not UTF-8, as word2vec leaves where it cuts long words: an error, U+FFFD for bad bytes, or left out
    #[arg(long, value_name = "POLICY", default_value = "error", value_parser = one_of::<InvalidUtf8>(&["error", "replace", "skip"]))]
    pub invalid_utf8: InvalidUtf8,
    /// Replace a model that is there
    #[arg(long)]
    pub force: bool,
}

/// Reads the vectors and makes the model.
pub fn run(args: ImportArgs) -> Result<Ending> {
    let ImportArgs { input, model, .. } = &args;
    if model.exists() && !args.force {
        bail!("{}: there is a file already; --force replaces it", model.display());
    }
    let _lock = ModelLock::take(model)?;
    let mut options = LoadOptions::default();
    options.format = args.from;
    options.vectors = args.vectors;
    options.invalid_utf8 = args.invalid_utf8;
    let (format, embeddings) = formats::load_with(input, &options)?;
    let imported = embeddings.top(args.top.unwrap_or(usize::MAX));
    imported.save(model)?;
    let words = |n: usize| HumanCount(n as u64);
    let dimensions = embeddings.dimensions();
    note(format_args!(
        "{}: {format}, {} words of {dimensions} dimensions",
        files(format, input),
        words(embeddings.len())
    ));
    note(format_args!("{}: {} words; to query, not to train", model.display(), words(imported.len())));
    Ok(Ending::Done)
}
