//! `skipstream export`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Deserialize;
use skipstream::embeddings::{Source, Subwords};
use skipstream::formats::{self, Format};
use skipstream::snapshot::{self, FileKind};
use skipstream::{Embeddings, Quantization};

use crate::Ending;
use crate::args::one_of;
use crate::existing::ForceArgs;
use crate::lock;
use crate::model::ModelArgs;
use crate::output::{count, note};
use crate::selection::SelectionArgs;
use crate::subwords::SubwordArgs;

/// The names of what can be written.
const FORMATS: [&str; 8] = [
    "word2vec-text",
    "word2vec-binary",
    "safetensors",
    "npy",
    "finalfusion",
    "projector",
    "parquet",
    "floret",
];

/// The arguments of `export`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream export --model m.safetensors vectors.txt.gz\n  \
    skipstream export --model m.safetensors --top 30000 vectors.bin\n  \
    skipstream export --model m.safetensors --quantize int8 small.safetensors\n  \
    skipstream export --model m.safetensors --min-count 5 --normalize vectors.npy\n  \
    skipstream export --model m.safetensors vectors.parquet\n  \
    skipstream export --model m.safetensors --to projector --top 10000 for-the-projector\n  \
    skipstream export --model m.safetensors --words words.txt --subwords list.npy\n  \
    skipstream export --model m.safetensors table.floret.gz\n\n\
    In Python:\n  \
    gensim.models.KeyedVectors.load_word2vec_format(\"vectors.bin\", binary=True)\n  \
    numpy.load(\"vectors.npy\"), finalfusion.load_finalfusion(\"vectors.fifu\")\n  \
    pandas.read_parquet(\"vectors.parquet\"), polars.read_parquet(\"vectors.parquet\")\n\n\
    For spaCy:\n  \
    spacy init vectors en table.floret.gz FOLDER --mode floret")]
pub struct ExportArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Format [default: from the name: .txt or .vec (word2vec-text), .bin (word2vec-binary), .safetensors, .npy, .fifu
    /// (finalfusion), .parquet, .floret]
    ///
    /// word2vec-text and word2vec-binary are read by gensim, spaCy, fastText and most other programs; they have no
    /// counts. npy is a matrix for numpy, with words and counts in a .words.tsv file next to it. finalfusion stores unit
    /// vectors and their norms, so the last bit of a value may change. projector is a folder with vectors.tsv and
    /// metadata.tsv for projector.tensorflow.org. safetensors is a vectors file, for queries only.
    /// parquet has the columns word, count and vector, for pandas, polars and DuckDB; it cannot be read back.
    /// floret is a table of n-grams from which spaCy computes the vectors of all words, known or not.
    #[arg(long, value_name = "FORMAT", value_parser = one_of::<To>(&FORMATS))]
    pub to: Option<To>,
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Scale every vector to length 1
    #[arg(long)]
    pub normalize: bool,
    /// Store vectors in fewer bytes: f16, half the size, or int8, a quarter; only with --to safetensors
    ///
    /// Every command opens such a file like any other. Its answers are those of the rounded vectors. Without this
    /// option, vectors are written as they are.
    #[arg(long, value_name = "TYPE", value_parser = one_of::<Quantization>(&Quantization::NAMES))]
    pub quantize: Option<Quantization>,
    /// Export the words of this file, one per line, instead of all words
    ///
    /// Unknown words are left out and reported, unless --subwords estimates them. The most frequent word comes first, as in
    /// every export, and estimated words come last, with count 0.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["top", "min_count"])]
    pub words: Option<PathBuf>,
    #[command(flatten)]
    pub subwords: SubwordArgs,
    /// File to write (for the projector, a folder); `-` is standard output
    ///
    /// With npy, a name without an extension gets .npy, as numpy does it.
    /// word2vec files are compressed if the name ends in .gz, .zst, .bz2 or .xz.
    #[arg(value_name = "OUT")]
    pub out: PathBuf,
    #[command(flatten)]
    pub force: ForceArgs,
}

/// What can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum To {
    /// The vectors of words.
    Vectors(Format),
    /// The vectors of n-grams.
    Subwords(SubwordFormat),
}

/// Formats of tables of n-grams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SubwordFormat {
    Floret,
}

impl To {
    /// The format that the name of a file says, compressed or not.
    fn by_name(path: &Path) -> Option<To> {
        let name = path.to_str()?.to_lowercase();
        let plain = [".gz", ".zst", ".bz2", ".xz"].iter().find_map(|end| name.strip_suffix(end));
        Some(match Path::new(plain.unwrap_or(&name)).extension()?.to_str()? {
            "txt" | "vec" => To::Vectors(Format::Word2vecText),
            "bin" => To::Vectors(Format::Word2vecBinary),
            "safetensors" => To::Vectors(Format::Safetensors),
            "npy" => To::Vectors(Format::Npy),
            "fifu" => To::Vectors(Format::Finalfusion),
            "parquet" => To::Vectors(Format::Parquet),
            "floret" => To::Subwords(SubwordFormat::Floret),
            _ => return None,
        })
    }

    fn files(self, path: &Path) -> Vec<PathBuf> {
        match self {
            To::Vectors(format) => format.files(path),
            To::Subwords(SubwordFormat::Floret) => vec![path.to_owned()],
        }
    }
}

/// What is written.
enum Content {
    Vectors(Embeddings, Format),
    Table(Subwords),
}

impl Content {
    fn write(&self, out: impl Write, name: &Path) -> skipstream::Result<()> {
        match self {
            Content::Vectors(embeddings, format) => formats::write(embeddings, *format, out, name),
            Content::Table(subwords) => formats::write_floret(subwords, out, name),
        }
    }

    fn save(&self, path: &Path) -> skipstream::Result<()> {
        match self {
            Content::Vectors(embeddings, format) => formats::save(embeddings, *format, path),
            Content::Table(subwords) => formats::save_floret(subwords, path),
        }
    }

    fn size(&self) -> String {
        match self {
            Content::Vectors(vectors, _) => {
                format!("{} words of {} dimensions", count(vectors.len()), vectors.dimensions())
            }
            Content::Table(table) => {
                format!("{} rows of {} dimensions", count(table.rows().len()), table.dimensions())
            }
        }
    }
}

/// Writes the vectors.
pub fn run(mut args: ExportArgs) -> Result<Ending> {
    let Some(to) = args.to.or_else(|| To::by_name(&args.out)) else {
        bail!(
            "{}: this name does not say the format; choose it with `--to`, one of {}, or end the name with .txt, .vec, .bin, \
             .safetensors, .npy, .fifu, .parquet or .floret",
            args.out.display(),
            FORMATS.join(", ")
        );
    };
    if to != To::Subwords(SubwordFormat::Floret) {
        args.subwords.check()?;
        if args.subwords.subwords && args.words.is_none() {
            bail!("--subwords estimates the unknown words of a list: name it with --words");
        }
    } else if args.quantize.is_some() {
        bail!("floret has only numbers of full precision, so --quantize does not apply");
    } else if args.words.is_some() {
        bail!(
            "floret has no words, so --words cannot select them; --top and --min-count select those that are fitted"
        );
    }
    let is_replaced = args.out != Path::new("-") && !is_special(&args.out);
    if is_replaced && to == To::Vectors(Format::Npy) && args.out.extension().is_none() {
        args.out.set_extension("npy");
    }
    if is_replaced {
        check_replaced(&args, to)?;
    }
    // Taken before the vectors are read, so that no other process starts to train a model under this name meanwhile.
    let _lock = match to {
        To::Vectors(Format::Safetensors) if is_replaced => Some(lock::take(&args.out)?),
        _ => None,
    };
    let (embeddings, ending) = chosen(&args, args.model.load()?)?;
    let content = match to {
        To::Vectors(format) => {
            Content::Vectors(formats::quantized(embeddings, args.quantize, format, &args.out)?, format)
        }
        To::Subwords(SubwordFormat::Floret) => Content::Table(args.subwords.table(&embeddings)?),
    };
    if args.out == Path::new("-") {
        content.write(io::BufWriter::new(io::stdout().lock()), Path::new("<stdout>"))?;
        return Ok(ending);
    }
    if is_special(&args.out) {
        let file = fs::OpenOptions::new().write(true).open(&args.out);
        let file = io::BufWriter::new(file.with_context(|| args.out.display().to_string())?);
        content.write(file, &args.out)?;
    } else {
        content.save(&args.out)?;
    }
    note(format_args!("{}: {}", names(&to.files(&args.out)), content.size()));
    Ok(ending)
}

/// Refuses to replace files without `--force`, and in any case the source of the vectors and model files: an export has only
/// the vectors of their state.
fn check_replaced(args: &ExportArgs, to: To) -> Result<()> {
    let source = fs::canonicalize(&args.model.model).ok();
    for file in to.files(&args.out) {
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
        args.force.check(&file)?;
    }
    Ok(())
}

/// The names of the files of vectors at a path.
pub fn files(format: Format, path: &Path) -> String {
    names(&format.files(path))
}

fn names(files: &[PathBuf]) -> String {
    let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    files.join(" and ")
}

/// The requested words and vectors, and whether all words were found.
fn chosen(args: &ExportArgs, embeddings: Embeddings) -> Result<(Embeddings, Ending)> {
    let mut embeddings = args.selection.of(embeddings, &args.model.model)?;
    let mut ending = Ending::Done;
    if let Some(path) = &args.words {
        (embeddings, ending) = listed(args, &embeddings, path)?;
    }
    Ok((if args.normalize { embeddings.normalized()? } else { embeddings }, ending))
}

/// The words of a file. Reports how many are unknown or, with subwords, estimated.
fn listed(args: &ExportArgs, embeddings: &Embeddings, path: &Path) -> Result<(Embeddings, Ending)> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let words = text.lines().map(str::trim).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    let subwords = args.subwords.fit(embeddings)?;
    let embeddings = match &subwords {
        Some(subwords) => embeddings.with_estimates(subwords, &words),
        None => embeddings.clone(),
    };
    let (mut rows, mut unknown) = (Vec::new(), 0);
    for word in words {
        match embeddings.index_of(word) {
            Some(row) => rows.push(row),
            None => unknown += 1,
        }
    }
    rows.sort_unstable();
    rows.dedup();
    if subwords.is_some() {
        let of = |source| rows.iter().filter(|&&row| embeddings.source(row) == source).count();
        let (estimated, blended) = (count(of(Source::Subwords)), count(of(Source::Blend)));
        note(format_args!("estimated from subwords: {estimated}; blended with an estimate: {blended}"));
    }
    if unknown > 0 {
        let (path, unknown) = (path.display(), count(unknown));
        note(format_args!("{path}: not in the vocabulary: {unknown}; --subwords estimates them"));
    }
    let ending = if unknown > 0 { Ending::NotFound } else { Ending::Done };
    Ok((embeddings.select(&rows)?, ending))
}

/// Whether a path is a device or a pipe, which is written to and not replaced.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}
