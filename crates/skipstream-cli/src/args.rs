//! What was typed.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::de::DeserializeOwned;
use skipstream::corpus::InvalidUtf8;
use skipstream::{AdaGrad, Strategy, Vectors, WindowShape};

/// Learn word vectors from text that never ends, in one pass and in bounded memory
#[derive(Debug, Parser)]
#[command(
    name = "skipstream",
    version,
    long_about = "Learns word vectors (skip-gram with negative sampling, as word2vec does) from text that never ends.\n\n\
        Text is read once. Words enter the vocabulary as they appear and rare ones leave when it is full, so there is \
        no pass for counting, and memory has a bound that is printed at the start. A model can always learn more: \
        `train` with new files goes on where it stopped, and never learns a file twice.",
    after_help = "Example:\n  \
        skipstream train --model news.safetensors news/*.txt.gz\n  \
        skipstream neighbors --model news.safetensors berlin\n  \
        skipstream export --model news.safetensors --to word2vec-text vectors.txt\n\n\
        Exit codes: 0 done, 1 a word was not found, 2 an error, 130 stopped by Ctrl-C or SIGTERM."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Learn from text: make a model, or continue one
    ///
    /// A line is a sentence, and words are separated by white space. Files may be compressed with gzip or zstd.
    ///
    /// The same command can be run again and again: the model remembers what it has learned of which file. A file that
    /// was learned is skipped, one that grew is continued, and after a crash or Ctrl-C training goes on at the last
    /// checkpoint; of files, with the same result as if nothing had happened.
    ///
    /// Ctrl-C saves the model at the next boundary; a second one quits at once, and the last checkpoint remains.
    Train(Box<TrainArgs>),
    /// List the words nearest to a word, by the cosine of their vectors
    ///
    /// A word that is not in the vocabulary is reported and the others are answered; the exit code is then 1.
    Neighbors(NeighborsArgs),
    /// Write the vectors in a format of other programs, the most frequent word first
    Export(ExportArgs),
}

/// What was typed after `train`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream train --model m.safetensors corpus.txt\n  \
    skipstream train --model m.safetensors --dimensions 300 --window 10 news/*.txt.zst\n  \
    zcat dump.gz | my-tokenizer | skipstream train --model m.safetensors -")]
pub struct TrainArgs {
    /// The model's file, which is created where there is none
    #[arg(long, value_name = "PATH")]
    pub model: PathBuf,
    /// Text, plain or compressed; `-` is standard input, and so is no file at all where text is piped in
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    #[command(flatten)]
    pub settings: SettingArgs,

    /// Threads that train; the model is the same for any number [default: all cores]
    #[arg(long, value_name = "N", help_heading = "This run")]
    pub threads: Option<usize>,
    /// Save the model so often while it learns
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = humantime::parse_duration,
          help_heading = "This run")]
    pub checkpoint_every: Duration,
    /// Learn the files from their start, even if they were learned before or have changed
    ///
    /// If this is interrupted, go on without `--again`.
    #[arg(long, help_heading = "This run")]
    pub again: bool,
    /// Pass over as much of standard input as the model has learned from pipes before
    ///
    /// For a pipe that was interrupted and is fed again from its beginning.
    #[arg(long, help_heading = "This run")]
    pub skip_learned: bool,
    /// At the end, also train the text that still waits for its replay
    ///
    /// The vectors are a little better for it: use it with the last text before an export.
    #[arg(long, help_heading = "This run")]
    pub finish: bool,
    /// Print nothing but errors
    #[arg(long, help_heading = "This run")]
    pub quiet: bool,
    /// Print the summary as JSON
    #[arg(long, help_heading = "This run")]
    pub json: bool,
}

/// Settings that were typed; what was not typed is taken from the model, or from the defaults if it is new.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Model settings (fixed once the model exists)")]
pub struct SettingArgs {
    /// Length of a vector [default: 100]
    #[arg(long, value_name = "N")]
    pub dimensions: Option<usize>,
    /// Words to each side that are a word's contexts, at the most [default: 5]
    #[arg(long, value_name = "N")]
    pub window: Option<usize>,
    /// Whether each window is shrunk at random, as in word2vec [default: shrinking]
    #[arg(long, value_name = "SHAPE", value_parser = one_of::<WindowShape>(&["shrinking", "fixed"]))]
    pub window_shape: Option<WindowShape>,
    /// Noise words for each pair [default: 5]
    #[arg(long, value_name = "N")]
    pub negatives: Option<usize>,
    /// Noise words are drawn in proportion to their count to this power [default: 0.75]
    #[arg(long, value_name = "X")]
    pub noise_exponent: Option<f64>,
    /// Words more frequent than this share of the text are dropped at random; 0 keeps all [default: 1e-4]
    #[arg(long, value_name = "SHARE")]
    pub subsample: Option<f64>,
    /// AdaGrad's rate, or the first rate of `word2vec` [default: 0.2 by row, 0.1 by dimension, 0.025 for word2vec]
    #[arg(long, value_name = "RATE")]
    pub learning_rate: Option<f32>,
    /// What has a learning rate of its own [default: row for mini-batch, dimension otherwise]
    #[arg(long, value_name = "UNIT", value_parser = one_of::<AdaGrad>(&["row", "dimension"]))]
    pub adagrad: Option<AdaGrad>,
    /// Words that are kept, at the most; the rarest leave for new ones [default: 100000]
    #[arg(long, value_name = "N")]
    pub max_vocabulary: Option<usize>,
    /// Slots of the noise table of `incremental` [default: 1000000]
    #[arg(long, value_name = "N")]
    pub table_size: Option<usize>,
    /// Words that `mini-batch` trains together [default: 400000]
    #[arg(long, value_name = "N")]
    pub batch_words: Option<usize>,
    /// Parts of the vocabulary that threads of `mini-batch` share out: a power of two, at least the threads [default: 4]
    #[arg(long, value_name = "N")]
    pub blocks: Option<usize>,
    /// How often each word is trained again later, from a buffer of past text [default: 1 for mini-batch]
    #[arg(long, value_name = "N")]
    pub replays: Option<u32>,
    /// Words in that buffer, at the most [default: 2000000]
    #[arg(long, value_name = "N")]
    pub replay_words: Option<usize>,
    /// Passes over the files of `batch` and `word2vec` [default: 1]
    #[arg(long, value_name = "N")]
    pub passes: Option<u32>,
    /// How the text becomes updates [default: mini-batch]
    ///
    /// `mini-batch` counts a batch of words and then trains it, on all threads; `incremental` does both word by word,
    /// on one thread. `batch` and `word2vec` read all files first to count and then in passes, as word2vec does; such
    /// a model cannot learn more text later.
    #[arg(long, value_name = "NAME",
          value_parser = one_of::<Strategy>(&["mini-batch", "incremental", "batch", "word2vec"]))]
    pub strategy: Option<Strategy>,
    /// Every random number follows from it [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// A line of more words is cut into pieces [default: 1000]
    #[arg(long, value_name = "N")]
    pub max_sentence_words: Option<usize>,
    /// A word of more bytes is left out and counted [default: 128]
    #[arg(long, value_name = "N")]
    pub max_token_bytes: Option<usize>,
    /// What becomes of a line with bytes that are not UTF-8 [default: replace]
    #[arg(long, value_name = "POLICY", value_parser = one_of::<InvalidUtf8>(&["replace", "skip", "error"]))]
    pub invalid_utf8: Option<InvalidUtf8>,
}

/// What was typed after `neighbors`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  skipstream neighbors --model m.safetensors berlin paris -n 5")]
pub struct NeighborsArgs {
    /// The model's file
    #[arg(long, value_name = "PATH")]
    pub model: PathBuf,
    /// The words, as they are written in the text
    #[arg(value_name = "WORD", required = true)]
    pub words: Vec<String>,
    /// Neighbors of each word
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub number: usize,
    /// Look only among the N most frequent words: rare ones have uncertain vectors
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// Which vectors to compare: of words as targets, as contexts, or their sum
    #[arg(long, value_name = "NAME", default_value = "sum", value_parser = one_of::<Vectors>(&["sum", "target", "context"]))]
    pub vectors: Vectors,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What was typed after `export`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream export --model m.safetensors --to word2vec-text vectors.txt\n  \
    skipstream export --model m.safetensors --to word2vec-binary --top 30000 vectors.bin\n\n\
    In Python: gensim.models.KeyedVectors.load_word2vec_format(\"vectors.bin\", binary=True)")]
pub struct ExportArgs {
    /// The model's file
    #[arg(long, value_name = "PATH")]
    pub model: PathBuf,
    /// The format
    #[arg(long, value_name = "FORMAT")]
    pub to: Format,
    /// Which vectors to write: of words as targets, as contexts, or their sum
    #[arg(long, value_name = "NAME", default_value = "sum", value_parser = one_of::<Vectors>(&["sum", "target", "context"]))]
    pub vectors: Vectors,
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

/// A choice of the library, by the names that it has in JSON and in a model's metadata.
fn one_of<T>(names: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names)
        .try_map(|name| serde_json::from_value::<T>(serde_json::Value::String(name)))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use skipstream::Config;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_defaults_that_help_names_are_those_of_the_library() {
        let defaults = serde_json::to_value(Config::default()).unwrap();
        let text = defaults["text"].as_object().unwrap();
        let mut command = Cli::command();
        let train = command.find_subcommand_mut("train").unwrap();
        for (field, value) in defaults.as_object().unwrap().iter().chain(text) {
            if value.is_null() || value.is_object() {
                continue;
            }
            let flag = field.replace('_', "-");
            let argument = train.get_arguments().find(|argument| argument.get_long() == Some(flag.as_str()));
            let help = argument.unwrap().get_help().unwrap().to_string();
            let (_, default) = help.rsplit_once("[default: ").unwrap();
            let default = default.trim_end_matches(']');
            let same = match value.as_f64() {
                Some(number) => default.parse::<f64>().unwrap() == number,
                None => value == default,
            };
            assert!(same, "--{flag} says {default}, the library {value}");
        }
    }

    #[test]
    fn every_name_of_a_choice_is_known_to_the_library() {
        for strategy in ["mini-batch", "incremental", "batch", "word2vec"] {
            let line = ["skipstream", "train", "--model", "m", "--strategy", strategy];
            Cli::try_parse_from(line).unwrap();
        }
    }
}
