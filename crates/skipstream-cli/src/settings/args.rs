//! The settings that can be typed.

use clap::Args;
use serde::{Deserialize, Serialize};
use skipstream::corpus::{InvalidUtf8, Tokenizer};
use skipstream::{AdaGrad, Strategy, WindowShape};

use crate::args::one_of;
use crate::serve::ServiceArgs;
use skipstream::units::Bytes;

/// Settings that were typed or stand in a file; the others are taken from the model, or from the defaults if it is new.
#[derive(Clone, Debug, Default, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
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
    /// Memory that training never passes: decides on the vocabulary (and on the noise table, 10 slots a word)
    ///
    /// The vocabulary becomes as large as this memory allows. 2G and 2GB are 2,000,000,000 bytes, 2Gi and 2GiB are
    /// 2,147,483,648. A model that is there must fit into it. How the text is read comes on top where it is not plain:
    /// decoders of compressed files (65 MiB for xz -9) and records of jsonl, csv, tsv and parquet (at most two of 64 MiB).
    #[arg(long, value_name = "SIZE", conflicts_with_all = ["max_vocabulary", "table_size"])]
    pub memory: Option<Bytes>,
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
    /// What a word is [default: whitespace]
    ///
    /// `whitespace`: what stands between white space. `unicode`: a word by Unicode's rules (UAX #29) with a letter or a
    /// number in it, so that punctuation is left out; scripts without spaces fall into their characters.
    #[arg(long, value_name = "NAME", value_parser = one_of::<Tokenizer>(&["whitespace", "unicode"]))]
    pub tokenizer: Option<Tokenizer>,
    /// Put all words in lower case [default: false]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub lowercase: Option<bool>,
    /// Bring text into Unicode's normal form KC, before anything else [default: false]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub nfkc: Option<bool>,
    /// A word of fewer characters is left out and counted [default: 1]
    #[arg(long, value_name = "N")]
    pub min_token_len: Option<usize>,
    /// A word of more characters is left out and counted [default: none]
    #[arg(long, value_name = "N")]
    pub max_token_len: Option<usize>,
    /// A line of more words is cut into pieces [default: 1000]
    #[arg(long, value_name = "N")]
    pub max_sentence_words: Option<usize>,
    /// A word of more bytes is left out and counted [default: 128]
    #[arg(long, value_name = "N")]
    pub max_token_bytes: Option<usize>,
    /// What becomes of a line with bytes that are not UTF-8 [default: replace]
    #[arg(long, value_name = "POLICY", value_parser = one_of::<InvalidUtf8>(&["replace", "skip", "error"]))]
    pub invalid_utf8: Option<InvalidUtf8>,
    /// What stands in the table `[serve]` of a file, for `serve` alone.
    #[arg(skip)]
    #[serde(skip_serializing)]
    pub serve: ServiceArgs,
    /// Threads that train; the model is the same for any number [default: all cores]
    #[arg(long, value_name = "N", help_heading = "This run")]
    pub threads: Option<usize>,
}
