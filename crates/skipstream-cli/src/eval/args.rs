//! Arguments of `eval`.

use std::path::PathBuf;

use clap::Args;
use skipstream::eval::Case;

use crate::args::one_of;
use crate::model::ModelArgs;

/// Arguments of `eval`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream eval --model m.safetensors ws353.tsv google.txt\n  \
    skipstream eval --model m.safetensors --restrict 30000 --json google.txt\n  \
    skipstream eval --model new.safetensors --common-vocabulary m.safetensors ws353.tsv\n\n\
    To reproduce gensim's evaluate_word_pairs and evaluate_word_analogies, add --restrict 300000, its default.")]
pub struct EvalArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Test sets: word pairs or analogies, detected by content, compressed or not
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Letter case of questions: ignore it (as word2vec and gensim do), keep it, or convert to lower case
    #[arg(long, value_name = "NAME", default_value = "ignore", value_parser = one_of::<Case>(&["ignore", "keep", "lower"]))]
    pub case: Case,
    /// Use only the N most frequent words [default: all]
    #[arg(long, value_name = "N")]
    pub restrict: Option<usize>,
    /// Another model to compare with, on the questions both can answer
    #[arg(long, value_name = "PATH")]
    pub common_vocabulary: Option<PathBuf>,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
