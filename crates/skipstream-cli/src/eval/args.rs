//! What can be typed after `eval`.

use std::path::PathBuf;

use clap::Args;
use skipstream::eval::Case;

use crate::args::one_of;
use crate::model::ModelArgs;

/// What was typed after `eval`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream eval --model m.safetensors ws353.tsv google.txt\n  \
    skipstream eval --model m.safetensors --restrict 30000 --json google.txt\n  \
    skipstream eval --model new.safetensors --common-vocabulary m.safetensors ws353.tsv\n\n\
    To get gensim's numbers (evaluate_word_pairs, evaluate_word_analogies), add --restrict 300000, its default.")]
pub struct EvalArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Test sets: word pairs or analogies, told by what is in them; compressed or not
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Capital letters: one word whatever its capitals (as word2vec and gensim do), as written, or all in lower case
    #[arg(long, value_name = "NAME", default_value = "ignore", value_parser = one_of::<Case>(&["ignore", "keep", "lower"]))]
    pub case: Case,
    /// Only the N most frequent words, as if there were no others [default: all]
    #[arg(long, value_name = "N")]
    pub restrict: Option<usize>,
    /// Another model to compare with, on the questions that both can answer
    #[arg(long, value_name = "PATH")]
    pub common_vocabulary: Option<PathBuf>,
    /// Threads [default: as many as there are cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
