//! `skipstream import`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use skipstream::Vectors;
use skipstream::corpus::InvalidUtf8;
use skipstream::formats::{self, Format, LoadOptions};

use crate::Ending;
use crate::args::one_of;
use crate::existing::ForceArgs;
use crate::export::files;
use crate::lock;
use crate::output::{count, note};

/// The arguments of `import`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream import glove.txt.gz --model glove.safetensors\n  \
    skipstream import wiki.vec --top 200000 --model wiki.safetensors\n  \
    skipstream neighbors --model wiki.safetensors berlin\n\n\
    Other commands read these files directly as well: skipstream neighbors --model wiki.vec berlin")]
pub struct ImportArgs {
    /// Vectors file, which may be compressed, or a folder of the embedding projector
    ///
    /// Supported are word2vec (text and binary), fastText .vec, GloVe, yskip text, .npy (with words in a .words.tsv next to
    /// it), finalfusion, and skipstream models.
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// Vectors file to write
    #[arg(long, value_name = "PATH")]
    pub model: PathBuf,
    /// Format of the input; by default it is recognized by the content
    #[arg(long, value_name = "FORMAT", value_parser = one_of::<Format>(&[
        "word2vec-text", "word2vec-binary", "safetensors", "npy", "finalfusion", "projector", "glove", "yskip",
    ]))]
    pub from: Option<Format>,
    /// Vectors to import, for formats with target and context vectors
    #[arg(long, value_name = "NAME", default_value_t, value_parser = one_of::<Vectors>(&Vectors::NAMES))]
    pub vectors: Vectors,
    /// Number of words to import, the most frequent ones (in files without counts, the first ones)
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// What to do with words that are not UTF-8, such as long words that word2vec has truncated: stop with an error, replace
    /// invalid bytes by U+FFFD, or skip the word
    #[arg(long, value_name = "POLICY", default_value = "error", value_parser = one_of::<InvalidUtf8>(&["error", "replace", "skip"]))]
    pub invalid_utf8: InvalidUtf8,
    #[command(flatten)]
    pub force: ForceArgs,
}

/// Reads the vectors and writes the vectors file.
pub fn run(args: ImportArgs) -> Result<Ending> {
    let ImportArgs { input, model, .. } = &args;
    args.force.check(model)?;
    let _lock = lock::take(model)?;
    let mut options = LoadOptions::default();
    options.format = args.from;
    options.vectors = args.vectors;
    options.invalid_utf8 = args.invalid_utf8;
    let (format, embeddings) = formats::load_with(input, &options)?;
    let imported = embeddings.top(args.top.unwrap_or(usize::MAX));
    imported.save(model)?;
    let (files, words, dimensions) = (files(format, input), count(embeddings.len()), embeddings.dimensions());
    note(format_args!("{files}: {format}, {words} words of {dimensions} dimensions"));
    note(format_args!("{}: {} words, for queries only", model.display(), count(imported.len())));
    Ok(Ending::Done)
}
