//! The commands. What can be typed after each stands in the file of its name.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use serde::de::DeserializeOwned;

use crate::analogy::AnalogyArgs;
use crate::completions::CompletionsArgs;
use crate::diff::DiffArgs;
use crate::eval::EvalArgs;
use crate::export::ExportArgs;
use crate::import::ImportArgs;
use crate::inspect::InspectArgs;
use crate::man::ManArgs;
use crate::neighbors::NeighborsArgs;
use crate::odd_one_out::OddOneOutArgs;
use crate::serve::ServeArgs;
use crate::similarity::SimilarityArgs;
use crate::train::{Log, Reader, TrainArgs};
use crate::vector::VectorArgs;

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
        skipstream analogy --model news.safetensors berlin germany paris\n  \
        skipstream eval --model news.safetensors ws353.tsv\n  \
        skipstream export --model news.safetensors --to word2vec-text vectors.txt\n\n\
        If you know word2vec or fastText: -size or -dim is --dimensions, -ws is --window, -negative or -neg is --negatives, \
        -sample or -t is --subsample, -output is --model; -pretrainedVectors is --init. There is no -min-count: \
        --max-vocabulary or --memory bounds the words, and the rarest leave. There is no -iter or -epoch: a stream is read \
        once. `distance` and `nn` are `neighbors`, `compute-accuracy` is `eval`, and `export` writes .vec and .bin files. \
        CBOW, hierarchical softmax and subwords are not here.\n\n\
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
    /// A line is a sentence, and words are what stands between white space, unless `--tokenizer` says otherwise. Files may be
    /// compressed with gzip, zstd, bzip2 or xz. With `--format` and `--field`, the text is taken from JSON lines, CSV, TSV or
    /// Parquet.
    ///
    /// The same command can be run again and again: the model remembers what it has learned of which file. A file that
    /// was learned is skipped, one that grew is continued, and after a crash or Ctrl-C training goes on at the last
    /// checkpoint; of files, with the same result as if nothing had happened.
    ///
    /// Ctrl-C saves the model at the next boundary; a second one quits at once, and the last checkpoint remains.
    Train(Box<TrainArgs>),
    /// List the words nearest to a word, by the cosine of their vectors
    ///
    /// Words are given after the command, or one on each line of standard input; at a terminal, with neither, you are
    /// asked for them. A word that is not in the vocabulary is reported, with close spellings, and the others are
    /// answered; the exit code is then 1.
    Neighbors(NeighborsArgs),
    /// Answer "A is to B as C is to ?"
    ///
    /// The three words are not among the answers. Without words, each line of standard input is a question; at a terminal
    /// you are asked for them. A word that is not in the vocabulary is reported, with close spellings, and the exit code
    /// is then 1.
    Analogy(AnalogyArgs),
    /// Tell how similar two words are: the cosine of their vectors, from -1 to 1
    ///
    /// Without words, each line of standard input is a question; at a terminal you are asked for them. A word that is
    /// not in the vocabulary is reported, with close spellings, and the exit code is then 1.
    Similarity(SimilarityArgs),
    /// Find the word that does not belong to the others
    ///
    /// It is the word with the lowest cosine to the mean of all of them. Without words, each line of standard input is a
    /// question; at a terminal you are asked for them. A word that is not in the vocabulary is reported, with close
    /// spellings, and the exit code is then 1.
    OddOneOut(OddOneOutArgs),
    /// Print the vectors of words, as lines of word2vec's text format
    ///
    /// Without words, each line of standard input is one; at a terminal you are asked for them. A word that is not in
    /// the vocabulary is reported, with close spellings, and the exit code is then 1.
    Vector(VectorArgs),
    /// Score the vectors with word pairs and analogies
    ///
    /// Word pairs are lines of two words and people's score of how similar they are (WS353, MEN, SimLex-999): the
    /// vectors' cosines are compared with it. Analogies are lines of four words, with lines `: name` between sections
    /// (Google's, MSR's): `a is to b as c is to d`, answered by 3CosAdd and by 3CosMul. Columns are separated by tabs,
    /// spaces, commas or semicolons; lines that start with `#` are comments.
    ///
    /// Questions with a word that the model does not know are left out and counted. If it knows no question of a set,
    /// the exit code is 1.
    Eval(EvalArgs),
    /// Show what a model holds: settings, counts, sources, norms; and verify its checksums
    Inspect(InspectArgs),
    /// Show what changed between two snapshots of a growing model: words that moved, came and left
    ///
    /// Words are compared after the rotation that all have in common was taken out. Vectors move by chance too, those of
    /// rare words farther, so words are ranked by how far they moved beyond others that are as frequent; a star marks
    /// those that moved farther than chance would explain.
    Diff(DiffArgs),
    /// Write the vectors in a format of other programs, the most frequent word first
    Export(ExportArgs),
    /// Make a model of the vectors of another program: to query, not to train
    ///
    /// Such a model opens at once and has all its vectors verified, where text would be parsed each time. `train` cannot
    /// continue it, but `train --init` lets a new model start from it.
    Import(ImportArgs),
    /// Learn text that comes over HTTP, and answer from the vectors while they learn
    ///
    /// What is sent to `/v1/text` is safe on disk when the answer comes, and is learned in the background. Questions are
    /// answered from what was learned a few seconds ago, and never wait. A page shows what is going on.
    ///
    /// The service can be stopped and killed at any time: started again with the same folder it goes on where it was, with
    /// every line that it had accepted learned once, and with the model that `train` would make of the same lines.
    Serve(Box<ServeArgs>),
    /// Print a script that lets a shell complete commands and options
    Completions(CompletionsArgs),
    /// Print the manual page, or write the pages of all commands
    Man(ManArgs),
}

impl Command {
    /// Where errors go, if not to people.
    pub fn log(&self) -> Option<Log> {
        match self {
            Command::Train(args) if args.log_json => Some(Log::new(Reader::Program)),
            _ => None,
        }
    }
}

impl Cli {
    /// What was typed, or stands in the environment. Does not come back from what cannot be understood, or from `--help`.
    pub fn from_line() -> Cli {
        let matches = Cli::with_environment().get_matches();
        Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }

    /// The command line. Each option of `serve`, which is started by other programs, may also stand in the environment.
    pub fn with_environment() -> clap::Command {
        Cli::command().mut_subcommand("serve", |serve| {
            serve.mut_args(|option| {
                let Some(name) = option.get_long() else { return option };
                let variable = format!("SKIPSTREAM_{}", name.replace('-', "_").to_uppercase());
                option.env(variable).hide_env(true)
            })
        })
    }
}

/// A choice of the library, by the names that it has in JSON and in a model's metadata.
pub fn one_of<T>(names: &'static [&'static str]) -> impl TypedValueParser<Value = T>
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
                None => value.to_string().trim_matches('"') == default,
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
