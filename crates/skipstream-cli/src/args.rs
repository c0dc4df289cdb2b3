//! The commands. Each command's arguments are in the file of its name.

use std::env;
use std::ffi::OsString;
use std::num::ParseIntError;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use serde::de::DeserializeOwned;

use crate::analogy::AnalogyArgs;
use crate::completions::CompletionsArgs;
use crate::diff::DiffArgs;
use crate::embed::EmbedArgs;
use crate::eval::EvalArgs;
use crate::export::ExportArgs;
use crate::hints::hints;
use crate::import::ImportArgs;
use crate::inspect::InspectArgs;
use crate::join::JoinArgs;
use crate::man::ManArgs;
use crate::neighbors::NeighborsArgs;
use crate::odd_one_out::OddOneOutArgs;
use crate::phrases::PhrasesArgs;
use crate::positional;
use crate::predict_next::PredictNextArgs;
use crate::rollback::RollbackArgs;
use crate::serve::ServeArgs;
use crate::similarity::SimilarityArgs;
use crate::sync::SyncArgs;
use crate::train::TrainArgs;
use crate::vector::VectorArgs;
use crate::words::WordsArgs;

/// Learn word vectors from text that never ends, in one pass and in bounded memory
#[derive(Debug, Parser)]
#[command(
    name = "skipstream",
    version,
    long_about = "Learns word vectors (skip-gram with negative sampling, as word2vec does) from text that never ends.\n\n\
        Text is read once. Words enter the vocabulary as they appear, and rare words leave when it is full. There is no \
        counting pass, and memory use is bounded; `train` prints the bound when it starts. A model can always learn more: \
        run `train` with new files and it continues, without learning a file twice.",
    after_help = "Example:\n  \
        skipstream train --model news.safetensors --text prose news/*.txt.gz\n  \
        skipstream neighbors --model news.safetensors berlin\n  \
        skipstream analogy --model news.safetensors berlin germany paris\n  \
        skipstream eval --model news.safetensors ws353.tsv\n  \
        skipstream export --model news.safetensors --to word2vec-text vectors.txt\n\n\
        If you know word2vec, fastText or gensim: type the names you know, and the error message says what they are called \
        here. `distance`, `nn` and `most_similar` are `neighbors`, `compute-accuracy` is `eval`, and `export` writes .vec and \
        .bin files. A stream is read once, so there are no epochs, and the rarest words leave a full vocabulary, so training \
        needs no minimum count. Subwords are fitted to the vectors by the commands that have --subwords. CBOW and \
        hierarchical softmax are not supported.\n\n\
        `-m` is short for --model, and the environment variable SKIPSTREAM_MODEL stands for it. Commands that read a model \
        also take it as their first argument: `skipstream neighbors news.safetensors berlin`.\n\n\
        Exit codes: 0 success, 1 word not found, 2 error, 130 stopped by Ctrl-C or SIGTERM."
)]
pub struct Cli {
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Learn from text: create a model or continue one
    ///
    /// Each line is a sentence, and white space separates words unless `--tokenizer` says otherwise. Files may be
    /// compressed with gzip, zstd, bzip2 or xz. With `--format` and `--field`, the text comes from a field of JSON lines,
    /// CSV, TSV or Parquet.
    ///
    /// You can run the same command again and again: the model remembers how much of each file it has learned. It skips a
    /// learned file and continues a file that grew. After a crash or Ctrl-C, training resumes from the last checkpoint;
    /// for files, the result is the same as without the interruption.
    ///
    /// Ctrl-C saves the model at the next batch boundary. A second Ctrl-C quits at once and leaves the last checkpoint.
    Train(Box<TrainArgs>),
    /// Return to the model as it was before the last `train --keep-previous`
    ///
    /// The previous state takes the place of the model in one step, and the model forgets the text it has learned since.
    /// There is one previous state: after a rollback, there is nothing to return to until the next training.
    Rollback(RollbackArgs),
    /// Pin, block, merge or forget words of a model
    ///
    /// The model is saved in one step: after a crash, it has all changes of a command or none. The changes stay with the
    /// model, and hold for all text that it learns later. Repeating a command changes nothing.
    Words(WordsArgs),
    /// List the phrases of a model, the most frequent first
    ///
    /// A phrase is two words or more that are learned as one: *new york* is the word `new_york`. `train --phrases npmi`
    /// finds them, and `train --phrases-file` takes a list. Queries find a phrase in both forms.
    Phrases(PhrasesArgs),
    /// List the words nearest to a word, by the cosine of their vectors
    ///
    /// Give words as arguments, or one per line on standard input; at a terminal without arguments, a prompt asks for
    /// them. An out-of-vocabulary word is reported with close spellings, the other words are answered, and the exit code
    /// is 1.
    Neighbors(NeighborsArgs),
    /// Predict what comes next: the items or words most likely to occur with those so far
    ///
    /// Give the items of a session, for instance, or one session per line on standard input. The answers are ranked by the dot
    /// product of the mean target vector of the items with their context vectors, and the items themselves are never answers.
    /// (`neighbors` lists items in the same company, such as those that take each other's place.) An out-of-vocabulary item is
    /// reported, and the exit code is 1.
    PredictNext(PredictNextArgs),
    /// Answer "A is to B as C is to ?", or an expression such as king - man + woman
    ///
    /// The words of the question are never answers. Without arguments, each line of standard input is a question; at a
    /// terminal, a prompt asks for them. An out-of-vocabulary word is reported with close spellings, and the exit code
    /// is 1.
    Analogy(AnalogyArgs),
    /// Print the similarity of two words: the cosine of their vectors, from -1 to 1
    ///
    /// Without arguments, each line of standard input is a question; at a terminal, a prompt asks for them. An
    /// out-of-vocabulary word is reported with close spellings, and the exit code is 1.
    Similarity(SimilarityArgs),
    /// Find the word that does not belong with the others
    ///
    /// It is the word with the lowest cosine to the mean of them all. Without arguments, each line of standard input is a
    /// question; at a terminal, a prompt asks for them. An out-of-vocabulary word is reported with close spellings, and
    /// the exit code is 1.
    OddOneOut(OddOneOutArgs),
    /// Print the vectors of words in word2vec's text format
    ///
    /// Without arguments, each line of standard input is a word; at a terminal, a prompt asks for them. An
    /// out-of-vocabulary word is reported with close spellings, and the exit code is 1.
    Vector(VectorArgs),
    /// Write the vector of each line of standard input: the mean of the vectors of its words
    ///
    /// Lines are split into words as the text of the model: its phrases are joined, and its merged words replaced. If the
    /// model has no word with an upper-case letter, lines are read in lower case. Unknown words are ignored; a line
    /// without any known word is an error, unless --allow-unknown accepts it.
    Embed(EmbedArgs),
    /// Score the vectors on word pairs and analogies
    ///
    /// A word-pair file (WS353, MEN, SimLex-999) has two words and a human similarity rating per line; the score is the
    /// correlation of the ratings with the cosines of the vectors. An analogy file (Google, MSR) has four words per line,
    /// `a is to b as c is to d`, and `: name` lines between sections; it is scored by 3CosAdd and 3CosMul. Columns are
    /// separated by tabs, spaces, commas or semicolons. Lines that start with `#` are comments.
    ///
    /// Questions with an out-of-vocabulary word are excluded and counted, unless --subwords estimates it. If every question of a file is excluded, the
    /// exit code is 1.
    Eval(EvalArgs),
    /// Show what a model file holds (settings, counts, sources, norms) and verify its checksums
    Inspect(InspectArgs),
    /// Show what changed between two states of a model: words that moved, arrived and left
    ///
    /// The rotation common to all words is removed before words are compared. Vectors also move by chance, rare words
    /// farther, so words are ranked by how far they moved compared with equally frequent words. A star marks words that
    /// moved farther than chance would explain.
    Diff(DiffArgs),
    /// Write the vectors in another program's format, most frequent word first
    Export(ExportArgs),
    /// Keep a table of PostgreSQL or a collection of Qdrant equal to the vectors of a model
    ///
    /// Each stored word has a digest of its vector. A sync reads the digests, writes the vectors that differ, and deletes
    /// words that are no longer in the model. Nothing is kept outside the store, so you can stop or kill a sync at any
    /// time: the next one does the rest.
    ///
    /// The table or collection belongs to this command: it deletes every word in it that the model does not have.
    Sync(SyncArgs),
    /// Convert another program's vectors to a vectors file: for queries, not for training
    ///
    /// A vectors file opens instantly and carries checksums, whereas text must be parsed each time. `train` cannot
    /// continue it, but `train --init` can start a new model from it.
    Import(ImportArgs),
    /// Write a model in several files as one file
    ///
    /// `python -m skipstream.ray train` trains a model on several machines, and writes it in several files. All commands that
    /// read vectors take its folder. To continue it on one machine, join it first. The file is the one that training on one
    /// machine gives.
    Join(JoinArgs),
    /// Learn text sent over HTTP, and answer queries while learning
    ///
    /// Text sent to `/v1/text` is safely on disk when the request returns, and is learned in the background. Queries read
    /// vectors that are at most a few seconds old and never wait for training. A web page shows the status.
    ///
    /// You can stop or kill the service at any time. Started again with the same folder, it resumes: every accepted line is
    /// learned exactly once, and the model equals the one that `train` makes of the same lines.
    Serve(Box<ServeArgs>),
    /// Print a shell completion script
    Completions(CompletionsArgs),
    /// Print the man page, or write the man pages of all commands
    Man(ManArgs),
}

impl Cli {
    /// Parses the command line and the environment. Exits on invalid arguments and on `--help`.
    pub fn from_line() -> Cli {
        let mut program = Cli::definition();
        let args = positional::with_flag(&program, separate_signs(env::args_os().collect()));
        let matches = program.try_get_matches_from_mut(&args).unwrap_or_else(|error| {
            let hints = hints(&program, &args);
            // `-hs` of word2vec looks like `-h`.
            let wants_help = args.iter().any(|arg| ["-h", "--help", "help"].iter().any(|help| arg == help));
            if hints.is_empty() || wants_help {
                error.exit();
            }
            clap::Error::raw(ErrorKind::UnknownArgument, hints.join("\n       ") + "\n").exit()
        });
        Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }

    /// The command line definition. `-m` and `SKIPSTREAM_MODEL` name the model of every command that has one, and every option
    /// of `serve` can also be set by an environment variable.
    pub fn definition() -> clap::Command {
        with_model(Cli::command()).mut_subcommand("serve", |serve| {
            serve.mut_args(|option| {
                let Some(name) = option.get_long() else { return option };
                let variable = format!("SKIPSTREAM_{}", name.replace('-', "_").to_uppercase());
                option.env(variable).hide_env(true)
            })
        })
    }
}

fn with_model(command: clap::Command) -> clap::Command {
    let has_model = command.get_arguments().any(|own| own.get_id() == "model");
    let command = match has_model {
        true => {
            command.mut_arg("model", |model| model.short('m').env("SKIPSTREAM_MODEL").hide_env_values(true))
        }
        false => command,
    };
    command.mut_subcommands(with_model)
}

/// Separates the sign from the word in `analogy king -man +woman`, which would otherwise be flags.
fn separate_signs(args: Vec<OsString>) -> Vec<OsString> {
    if args.get(1).is_none_or(|command| command != "analogy") {
        return args;
    }
    let is_flag = |word: &str| {
        let number = word.strip_prefix('n').map(|number| number.trim_start_matches('='));
        matches!(word, "h" | "V" | "n" | "m") || number.is_some_and(|number| number.parse::<u64>().is_ok())
    };
    let separate = |arg: OsString| match arg.to_str().and_then(|arg| arg.strip_prefix('-')) {
        Some(word) if !word.is_empty() && !word.starts_with('-') && !is_flag(word) => {
            vec!["-".into(), word.into()]
        }
        _ => vec![arg],
    };
    args.into_iter().flat_map(separate).collect()
}

/// Parses a number of words, which is not 0.
pub fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("it must be at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(error) => Err(ParseIntError::to_string(&error)),
    }
}

/// Parses an enum of the library by its JSON names.
pub fn one_of<T>(names: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names)
        .try_map(|name| serde_json::from_value::<T>(serde_json::Value::String(name)))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn a_negative_word_is_not_a_flag_of_analogy() {
        let separated = |line: &str| {
            let args = separate_signs(line.split(' ').map(OsString::from).collect());
            args.join(OsStr::new(" ")).into_string().unwrap()
        };
        for (line, expected) in [
            ("s analogy king -man +woman -n 3", "s analogy king - man +woman -n 3"),
            (
                "s analogy --model m king - man -nation -n5 -n=5",
                "s analogy --model m king - man - nation -n5 -n=5",
            ),
            ("s analogy -h --json -h", "s analogy -h --json -h"),
            ("s neighbors -man", "s neighbors -man"),
        ] {
            assert_eq!(separated(line), expected);
        }
    }

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::definition().debug_assert();
    }
}
