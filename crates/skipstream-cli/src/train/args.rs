//! Arguments of `train`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, anyhow};
use clap::Args;
use skipstream::corpus::{BadRecords, FileFormat, Layout, LayoutError, LayoutRequest};

use super::every::Every;
use crate::args::one_of;
use crate::settings::{MODEL, SettingArgs};

/// Arguments of `train`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream train --model prose.safetensors --text prose news\n  \
    skipstream train --model prose.safetensors --keep-previous news corpus.txt\n  \
    skipstream train --model m.safetensors corpus.txt\n  \
    skipstream train --model wide.safetensors --dimensions 300 --window 10 news/*.txt.gz\n  \
    skipstream train --model large.safetensors --memory 1G news/*.txt.gz\n  \
    skipstream train --model ours.safetensors --settings ours.toml --threads 2 corpus.txt\n  \
    skipstream train --model next.safetensors --init m.safetensors corpus.txt\n  \
    skipstream train --model scored.safetensors --eval ws353.tsv --eval-every 1M-words news/*.txt.gz\n  \
    skipstream train --model live.safetensors --follow --idle-exit 1s corpus.txt\n  \
    skipstream train --model topic.safetensors --follow --idle-exit 1s --source kafka://host/posts\n  \
    skipstream train --model posts.safetensors --format jsonl --field user.text posts.jsonl\n  \
    skipstream train --model log.safetensors --follow --format jsonl --field user.text - <posts.jsonl\n  \
    skipstream train --model towns.safetensors --phrases npmi --phrase-connectors english corpus.txt\n  \
    zcat news/*.gz | tr A-Z a-z | skipstream train --model m.safetensors -")]
pub struct TrainArgs {
    /// Model file; created if it does not exist
    #[arg(long, value_name = "PATH")]
    pub model: PathBuf,
    /// Files, folders and quoted glob patterns ('news/**/*.gz'), plain or compressed; `-` reads standard input, which is
    /// also the default when text is piped in
    ///
    /// A folder means all files in it and its subfolders, sorted by name, except hidden and temporary files.
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    #[command(flatten)]
    pub text: TextArgs,

    /// TOML settings file; keys are the flag names with `_` for `-`, and flags take precedence over the file
    #[arg(long = "settings", value_name = "FILE.toml", help_heading = MODEL)]
    pub settings_file: Option<PathBuf>,

    /// Model or vectors file to initialize the words of a new model from
    ///
    /// The vector of a word that is in the file starts there instead of at random. Context vectors and counts start fresh,
    /// and words that never occur in the text do not enter the model. `--dimensions` defaults to that of the file. The
    /// vectors of the `--max-vocabulary` most frequent words are held in memory and saved with the model.
    #[arg(long, value_name = "VECTORS", help_heading = MODEL)]
    pub init: Option<PathBuf>,

    /// File with words to keep out of the model, one per line: a stop list; can be repeated
    ///
    /// The words are blocked before the text is learned, and stay blocked, as with `skipstream words block`.
    #[arg(long, value_name = "FILE", help_heading = MODEL)]
    pub block: Vec<PathBuf>,

    /// File with phrases that are always learned as one word, one per line, such as `new york`; can be repeated
    ///
    /// They are joined whether `--phrases` finds others or not, and stay with the model. Only mini-batch.
    #[arg(long, value_name = "FILE", help_heading = MODEL)]
    pub phrases_file: Vec<PathBuf>,

    #[command(flatten)]
    pub settings: SettingArgs,

    /// How often to write a checkpoint: a time (60s, 5m) or a number of words (10M-words)
    #[arg(long, value_name = "TIME|WORDS", default_value = "60s", help_heading = "This run")]
    pub checkpoint_every: Every,
    /// Wait for more text at the end of the files, like `tail -F`
    ///
    /// Files may grow, be rotated (renamed and recreated; the rest of the old file is read first), be truncated, or not
    /// exist yet. Whole lines are learned about half a second after they arrive, even if they do not fill a batch. Batch
    /// boundaries then depend on timing, so the same text does not give the same bytes twice. Run again, the same command
    /// resumes where it stopped; a file that was renamed to NAME.1 in the meantime is finished first. Name the file that
    /// grows, not its rotated copies. Only the formats `text` and `jsonl` can be followed: a table names its columns only
    /// at the top, and a Parquet file can be read only once it is complete.
    #[arg(long, help_heading = "This run")]
    pub follow: bool,
    /// With --follow, learn the messages of NATS JetStream or Kafka: nats://HOST/STREAM, kafka://HOST/TOPIC; can be repeated
    ///
    /// Each message is learned exactly once: the position is saved in the model, and the same command resumes there. The options
    /// of the URL are those of `serve --source`, such as `?field=text` for JSON messages. Put a URL with a password into the
    /// environment variable SKIPSTREAM_SOURCE, because other users of the machine can see arguments.
    #[arg(long, value_name = "URL", requires = "follow", help_heading = "This run")]
    pub source: Vec<String>,
    /// With --follow, exit after this long without new text
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, requires = "follow",
          help_heading = "This run")]
    pub idle_exit: Option<Duration>,
    /// Test set to score the model on at the end; can be repeated
    ///
    /// Prints one line of JSON to standard output with the scores of every test set, over the 30,000 most frequent words
    /// (default vectors). The summary goes to standard error. `skipstream eval` scores all words.
    #[arg(long, value_name = "FILE", help_heading = "This run")]
    pub eval: Vec<PathBuf>,
    /// How often to score the model while it learns: a time (5m) or a number of words (10M-words)
    ///
    /// Training pauses at a batch boundary for it. The resulting model is the same.
    #[arg(long, value_name = "TIME|WORDS", requires = "eval", help_heading = "This run")]
    pub eval_every: Option<Every>,
    /// Learn the files from the start, even if they were learned before or have changed
    ///
    /// If interrupted, resume without `--again`.
    #[arg(long, help_heading = "This run")]
    pub again: bool,
    /// Skip the part of standard input that the model has already learned
    ///
    /// Use it to resume an interrupted pipe by feeding the same text from the beginning.
    #[arg(long, help_heading = "This run")]
    pub skip_learned: bool,
    /// At the end, also train the text still waiting in the replay buffer
    ///
    /// The learning rate falls to zero on the way, so the vectors come to rest. Use it with the last text before an export;
    /// more text can follow later, at the full rate.
    #[arg(long, help_heading = "This run")]
    pub finish: bool,
    /// Keep the model as it was before this command, as PATH.previous; `skipstream rollback` returns to it
    ///
    /// Later commands keep it up to date without the flag, until you remove the file. It costs disk space, but no time. An
    /// interrupted command and the one that resumes it count as one.
    #[arg(long, help_heading = "This run")]
    pub keep_previous: bool,
    /// Print the summary as JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Print progress every 10 seconds, even if standard error is not a terminal
    #[arg(short, long, help_heading = "Output")]
    pub verbose: bool,
    /// Print only warnings, errors and requested JSON
    #[arg(long, conflicts_with_all = ["verbose", "log_json"], help_heading = "Output")]
    pub quiet: bool,
    /// Log events as JSON lines on standard error
    ///
    /// Each line is an object with `event` and `elapsed`, the seconds since the start. Events: `start` (with all settings
    /// and the memory bound), `progress` (every 10 seconds), `checkpoint`, `eval`, `rotation`, `warning`, `stopping`, `end`
    /// (with the summary) and `error`.
    #[arg(long, conflicts_with = "verbose", help_heading = "Output")]
    pub log_json: bool,
}

/// The flags that describe the files.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Text")]
pub struct TextArgs {
    /// Format of the files; all but `text` need --field [default: text]
    ///
    /// `jsonl` is one JSON object per line, `csv` and `tsv` are tables whose first row names the columns (`tsv` has no
    /// quoting), `parquet` is Apache Parquet. All but `parquet` can be compressed, or read from a pipe.
    #[arg(long, value_name = "FORMAT", value_parser = one_of::<FileFormat>(&["text", "jsonl", "csv", "tsv", "parquet"]))]
    pub format: Option<FileFormat>,
    /// Field or column with the text: one or more lines, each a sentence
    ///
    /// `user.text` is the field `text` in the object `user`. In a table, it can be the number of a column.
    #[arg(long, value_name = "NAME")]
    pub field: Option<String>,
    /// Field with the weight of a record: how many times it is trained, on average, from 0 to 10
    ///
    /// A record of weight 2.5 is trained two or three times, at random. Its words are counted once. Every record needs a
    /// weight.
    #[arg(long, value_name = "NAME")]
    pub weight: Option<String>,
    /// What to do with a record whose text or weight is missing or invalid [default: error]
    #[arg(long, value_name = "POLICY", value_parser = one_of::<BadRecords>(&["error", "skip"]))]
    pub bad_records: Option<BadRecords>,
    /// The first row of a table is a record and does not name the columns; --field is a number
    #[arg(long)]
    pub no_header: bool,
    /// Read files as text even if they look like binary data
    ///
    /// Without it, a file that is not text is refused. In a folder or a pattern, it is left out with a warning.
    #[arg(long)]
    pub force_text: bool,
}

impl TextArgs {
    /// The layout of the files, or what to add to the command.
    pub fn layout<'a>(&self, files: impl IntoIterator<Item = &'a Path>) -> Result<Layout> {
        let TextArgs { format, field, weight, bad_records, no_header, .. } = self.clone();
        LayoutRequest { format, field, bad_records, no_header, weight }.of_files(files).map_err(|unclear| match unclear {
            LayoutError::NoRecords => anyhow!(
                "--field, --weight, --bad-records and --no-header need --format jsonl, csv, tsv or parquet: text has no records"
            ),
            LayoutError::NoTable { format } => {
                anyhow!("--no-header is for --format csv and tsv; {format} has no header")
            }
            LayoutError::NamedAsRecords { path, format } => anyhow!(
                "{}: the name suggests {format}; pass `--format {format} --field NAME` to read a \
                 field, or `--format text` to read all of it",
                path.display()
            ),
            LayoutError::NoField { format } => {
                anyhow!("--format {format} needs --field NAME, the field with the text")
            }
        })
    }
}
