//! `skipstream embed`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read as _, Seek as _, Write};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::{Deserialize, Serialize};
use skipstream::corpus::{Lines, TextOptions};
use skipstream::embeddings::{DocumentOptions, DocumentWords, Subwords, Weighting};
use skipstream::{Embeddings, formats};

use crate::Ending;
use crate::args::one_of;
use crate::model::ModelArgs;
use crate::output::note;
use crate::subwords::SubwordArgs;

/// The maximum length of a line in bytes.
const LONGEST_LINE: u64 = 64 << 20;

/// Missed words that a message names.
const NAMED: usize = 10;

/// Arguments of `embed`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream embed --model m.safetensors < corpus.txt > vectors.jsonl\n  \
    skipstream embed --model m.safetensors --normalize --to npy < corpus.txt > v.npy\n  \
    echo 'berlin and paris' | skipstream embed --model m.safetensors --to text")]
pub struct EmbedArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The format: JSON lines, a matrix for numpy, or numbers separated by spaces
    ///
    /// A line of jsonl is {"vector": […], "words": N, "missed": […]}: the vector, the number of words that have one, and
    /// the distinct words that do not, at most 100 of them.
    #[arg(long, value_name = "FORMAT", default_value = "jsonl", value_parser = one_of::<To>(&["jsonl", "npy", "text"]))]
    pub to: To,
    /// How much each word counts
    ///
    /// With none, all words count the same. With idf, a word with the share p of the counts of all words counts
    /// ln(1 + 1/p); with sif, 0.001 / (0.001 + p), as in the service's /v1/embeddings.
    #[arg(long, value_name = "NAME", default_value = "none", value_parser = one_of::<Weighting>(&Weighting::NAMES))]
    pub weighting: Weighting,
    /// Scale every vector to unit length
    #[arg(long)]
    pub normalize: bool,
    /// Accept lines without a known word: their vector is null in jsonl, and NaN in npy and text
    ///
    /// Without this option, such a line ends the command with exit code 1.
    #[arg(long)]
    pub allow_unknown: bool,
    #[command(flatten)]
    pub subwords: SubwordArgs,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum To {
    Jsonl,
    Npy,
    Text,
}

/// A line of JSON.
#[derive(Serialize)]
struct Report<'a> {
    vector: Option<&'a [f32]>,
    words: usize,
    missed: &'a [String],
}

/// Writes the vector of each line of standard input.
pub fn run(args: EmbedArgs) -> Result<Ending> {
    args.subwords.check()?;
    let embeddings = args.model.load()?;
    if args.weighting != Weighting::None && !embeddings.has_counts() {
        bail!("these vectors have no counts, so --weighting cannot weigh words; leave it out");
    }
    let subwords = args.subwords.fit(&embeddings)?;
    let input = BufReader::with_capacity(1 << 16, io::stdin().lock());
    let mut out = BufWriter::new(io::stdout().lock());
    if args.to != To::Npy {
        return embed(&args, &embeddings, subwords.as_ref(), input, &mut out).map(|(_, ending)| ending);
    }
    // The header has the number of rows, which is known at the end.
    let mut rows = BufWriter::new(tempfile::tempfile().context("a temporary file")?);
    let (n_rows, ending) = embed(&args, &embeddings, subwords.as_ref(), input, &mut rows)?;
    if ending == Ending::Done {
        let mut rows: File =
            rows.into_inner().map_err(io::IntoInnerError::into_error).context("a temporary file")?;
        rows.rewind().context("a temporary file")?;
        let header = formats::npy_header(n_rows, embeddings.dimensions());
        let written = out.write_all(&header).and_then(|()| io::copy(&mut rows, &mut out));
        written.and_then(|_| out.flush()).context("standard output")?;
    }
    Ok(ending)
}

/// Writes the vectors of lines. Returns their number, and whether all have a known word.
fn embed(
    args: &EmbedArgs,
    embeddings: &Embeddings,
    subwords: Option<&Subwords>,
    mut input: BufReader<impl io::Read>,
    out: &mut impl Write,
) -> Result<(usize, Ending)> {
    let text = embeddings.text().cloned().unwrap_or_default();
    let options = DocumentOptions::default();
    let options = options.weighting(args.weighting).normalize(args.normalize).subwords(subwords);
    let (mut line, mut vector) = (Vec::new(), vec![0.0; embeddings.dimensions()]);
    for number in 1.. {
        line.clear();
        // Another program may wait for the answers so far before it writes more.
        if input.buffer().is_empty() {
            out.flush().context("standard output")?;
        }
        let read = (&mut input).take(LONGEST_LINE + 1).read_until(b'\n', &mut line);
        if read.context("standard input")? == 0 {
            return Ok((number - 1, Ending::Done));
        }
        if line.len() as u64 > LONGEST_LINE {
            bail!("line {number} is longer than {LONGEST_LINE} bytes");
        }
        let words = embed_line(embeddings, &line, &text, &options, &mut vector)
            .with_context(|| format!("line {number}"))?;
        let is_known = words.with_vector > 0;
        if !is_known && !args.allow_unknown {
            out.flush().context("standard output")?;
            note(format_args!("line {number}: {}; --allow-unknown accepts such lines", reason(&words)));
            return Ok((number - 1, Ending::NotFound));
        }
        if !is_known {
            vector.fill(f32::NAN);
        }
        write_vector(args.to, &vector, &words, out).context("standard output")?;
    }
    unreachable!("a stream has an end")
}

fn embed_line(
    embeddings: &Embeddings,
    line: &[u8],
    text: &TextOptions,
    options: &DocumentOptions<'_>,
    vector: &mut [f32],
) -> skipstream::Result<DocumentWords> {
    embeddings.mean_vector(&mut Lines::new(line, "standard input", text)?, options, vector)
}

/// Why a text has no vector.
fn reason(words: &DocumentWords) -> String {
    if words.missed.is_empty() {
        return "it has no words".to_owned();
    }
    let named: Vec<String> =
        words.missed.iter().take(NAMED).map(|word| format!("`{}`", word.escape_debug())).collect();
    let more = if words.missed.len() > NAMED { ", …" } else { "" };
    format!("no word is in the vocabulary: {}{more}", named.join(", "))
}

fn write_vector(to: To, vector: &[f32], words: &DocumentWords, out: &mut impl Write) -> io::Result<()> {
    match to {
        To::Jsonl => {
            let vector = (words.with_vector > 0).then_some(vector);
            serde_json::to_writer(
                &mut *out,
                &Report { vector, words: words.with_vector, missed: &words.missed },
            )?;
            writeln!(out)
        }
        To::Npy => vector.iter().try_for_each(|value| out.write_all(&value.to_le_bytes())),
        To::Text => {
            let values: Vec<String> = vector.iter().map(f32::to_string).collect();
            writeln!(out, "{}", values.join(" "))
        }
    }
}
