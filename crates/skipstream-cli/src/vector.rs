//! `skipstream vector`.

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use crate::Ending;
use crate::ask::{self, Answer, AskArgs, Shape};

/// Arguments of `vector`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream vector --model m.safetensors berlin paris\n  \
    skipstream vector --model m.safetensors --normalize --json berlin\n  \
    head -n 3 corpus.txt | cut -d ' ' -f 1 | skipstream vector --model m.safetensors")]
pub struct VectorArgs {
    /// Words to look up [default: read one per line from standard input]
    #[arg(value_name = "WORD")]
    pub words: Vec<String>,
    /// Scale every vector to unit length
    #[arg(long)]
    pub normalize: bool,
    #[command(flatten)]
    pub ask: AskArgs,
}

/// An answer in JSON.
#[derive(Serialize)]
struct Report<'a> {
    word: &'a str,
    vector: &'a [f32],
}

/// Prints the vector of each word, as a line of word2vec's text format.
pub fn run(args: VectorArgs) -> Result<Ending> {
    ask::run(&args.ask, &args.words, Shape::WORD, |embeddings, words| {
        let row = embeddings.row_of(words[0])?;
        // A word of the format has no spaces: a phrase has its joined form.
        let word = if words[0].contains(' ') { embeddings.word(row) } else { words[0] };
        let vector = match args.normalize {
            true => embeddings.unit_vector(row).into(),
            false => embeddings.vector_at(row),
        };
        let values: String = vector.iter().map(|value| format!(" {value}")).collect();
        Ok(Answer::new(format!("{word}{values}\n"), &Report { word, vector: &vector }))
    })
}
