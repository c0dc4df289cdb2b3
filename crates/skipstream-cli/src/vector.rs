//! `skipstream vector`.

use std::borrow::Cow;
use std::fmt;

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use skipstream::Embeddings;

use crate::Ending;
use crate::ask::{self, AskArgs, Query, Shape};

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

/// Prints the vector of each word.
pub fn run(args: VectorArgs) -> Result<Ending> {
    ask::run(&args.ask, &args.words, |embeddings| VectorsOfWords { embeddings, normalize: args.normalize })
}

struct VectorsOfWords {
    embeddings: Embeddings,
    normalize: bool,
}

#[derive(Serialize)]
struct Answer<'a> {
    word: &'a str,
    vector: Cow<'a, [f32]>,
}

impl Query for VectorsOfWords {
    type Answer<'a> = Answer<'a>;

    const SHAPE: Shape = Shape::WORD;

    fn embeddings(&self) -> &Embeddings {
        &self.embeddings
    }

    fn answer<'a>(&'a self, words: &[&'a str]) -> skipstream::Result<Answer<'a>> {
        let word = words[0];
        let row = self.embeddings.row_of(word)?;
        let vector = match self.normalize {
            true => Cow::Owned(self.embeddings.unit_vector(row)),
            false => self.embeddings.vector_at(row),
        };
        Ok(Answer { word, vector })
    }
}

/// A line of word2vec's text format.
impl fmt::Display for Answer<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word)?;
        self.vector.iter().try_for_each(|value| write!(formatter, " {value}"))?;
        writeln!(formatter)
    }
}
