//! `skipstream export`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use skipstream::formats::{self, Format};
use skipstream::snapshot::{self, FileKind};
use skipstream::{Embeddings, Quantization};

use crate::Ending;
use crate::args::one_of;
use crate::lock;
use crate::model::ModelArgs;
use crate::output::{count, note};

/// The arguments of `export`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream export --model m.safetensors --to word2vec-text vectors.txt.gz\n  \
    skipstream export --model m.safetensors --to word2vec-binary --top 30000 vectors.bin\n  \
    skipstream export --model m.safetensors --to safetensors --quantize int8 small.safetensors\n  \
    skipstream export --model m.safetensors --to npy --min-count 5 --normalize vectors.npy\n  \
    skipstream export --model m.safetensors --to projector --top 10000 for-the-projector\n\n\
    In Python:\n  \
    gensim.models.KeyedVectors.load_word2vec_format(\"vectors.bin\", binary=True)\n  \
    numpy.load(\"vectors.npy\"), finalfusion.load_finalfusion(\"vectors.fifu\")")]
pub struct ExportArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The format
    ///
    /// word2vec-text and word2vec-binary are read by gensim, spaCy, fastText and most other programs; they have no
    /// counts. npy is a matrix for numpy, with words and counts in a .words.tsv file next to it. finalfusion stores unit
    /// vectors and their norms, so the last bit of a value may change. projector is a folder with vectors.tsv and
    /// metadata.tsv for projector.tensorflow.org. safetensors is a vectors file, for queries only.
    #[arg(long, value_name = "FORMAT", value_parser = one_of::<Format>(&[
        "word2vec-text", "word2vec-binary", "safetensors", "npy", "finalfusion", "projector",
    ]))]
    pub to: Format,
    /// Number of words to export, the most frequent ones
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// Minimum count of a word
    #[arg(long, value_name = "N")]
    pub min_count: Option<u64>,
    /// Scale every vector to length 1
    #[arg(long)]
    pub normalize: bool,
    /// Store vectors in fewer bytes: f16, half the size, or int8, a quarter; only with --to safetensors
    ///
    /// Every command opens such a file like any other. Its answers are those of the rounded vectors. Without this
    /// option, vectors are written as they are.
    #[arg(long, value_name = "TYPE", value_parser = one_of::<Quantization>(&Quantization::NAMES))]
    pub quantize: Option<Quantization>,
    /// File to write (for the projector, a folder); `-` is standard output
    ///
    /// word2vec files are compressed if the name ends in .gz, .zst, .bz2 or .xz.
    #[arg(value_name = "OUT")]
    pub out: PathBuf,
}

/// Writes the vectors.
pub fn run(args: ExportArgs) -> Result<Ending> {
    let is_replaced = args.out != Path::new("-") && !is_special(&args.out);
    if is_replaced {
        check_replaced(&args)?;
    }
    // Taken before the vectors are read, so that no other process starts to train a model under this name meanwhile.
    let _lock = match args.to {
        Format::Safetensors if is_replaced => Some(lock::take(&args.out)?),
        _ => None,
    };
    let embeddings = chosen(&args, args.model.load()?)?;
    if args.out == Path::new("-") {
        let out = io::BufWriter::new(io::stdout().lock());
        formats::write(&embeddings, args.to, out, Path::new("<stdout>"))?;
        return Ok(Ending::Done);
    }
    if is_special(&args.out) {
        let file = fs::OpenOptions::new().write(true).open(&args.out);
        let file = io::BufWriter::new(file.with_context(|| args.out.display().to_string())?);
        formats::write(&embeddings, args.to, file, &args.out)?;
    } else {
        formats::save(&embeddings, args.to, &args.out)?;
    }
    note(format_args!(
        "{}: {} words of {} dimensions",
        files(args.to, &args.out),
        count(embeddings.len()),
        embeddings.dimensions()
    ));
    Ok(Ending::Done)
}

/// Refuses to overwrite the source of the vectors, and model files: an export has only the vectors of their state.
fn check_replaced(args: &ExportArgs) -> Result<()> {
    let source = fs::canonicalize(&args.model.model).ok();
    for file in args.to.files(&args.out) {
        if source.is_some() && fs::canonicalize(&file).ok() == source {
            bail!("{}: the vectors are read from this file; write to another one", file.display());
        }
        if matches!(snapshot::kind(&file), Ok(FileKind::Training)) {
            bail!(
                "{}: this is a model file, whose training state would be lost; write to another file, or remove this one \
                 first",
                file.display()
            );
        }
    }
    Ok(())
}

/// The names of the files of vectors at a path.
pub fn files(format: Format, path: &Path) -> String {
    let files: Vec<String> = format.files(path).iter().map(|file| file.display().to_string()).collect();
    files.join(" and ")
}

/// The requested words and vectors.
fn chosen(args: &ExportArgs, mut embeddings: Embeddings) -> Result<Embeddings> {
    if let Some(top) = args.top {
        embeddings = embeddings.top(top);
    }
    if let Some(count) = args.min_count {
        if !embeddings.has_counts() {
            bail!(
                "{}: these vectors have no counts, so --min-count cannot select words; --top selects by the order of the file",
                args.model.model.display()
            );
        }
        embeddings = embeddings.with_min_count(count);
    }
    let embeddings = if args.normalize { embeddings.normalized()? } else { embeddings };
    Ok(formats::quantized(embeddings, args.quantize, args.to, &args.out)?)
}

/// Whether a path is a device or a pipe, which is written to and not replaced.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}
