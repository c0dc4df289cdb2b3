//! What can be typed after `train`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::every::Every;
use super::layout::TextArgs;
use crate::settings::SettingArgs;

/// What was typed after `train`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream train --model m.safetensors corpus.txt\n  \
    skipstream train --model wide.safetensors --dimensions 300 --window 10 news/*.txt.gz\n  \
    skipstream train --model large.safetensors --memory 1G news/*.txt.gz\n  \
    skipstream train --model ours.safetensors --settings ours.toml --threads 2 corpus.txt\n  \
    skipstream train --model next.safetensors --init m.safetensors corpus.txt\n  \
    skipstream train --model scored.safetensors --eval ws353.tsv --eval-every 1M-words news/*.txt.gz\n  \
    skipstream train --model live.safetensors --follow --idle-exit 1s corpus.txt\n  \
    skipstream train --model lower.safetensors --tokenizer unicode --lowercase 'news/**/*.gz'\n  \
    skipstream train --model posts.safetensors --format jsonl --field user.text posts.jsonl\n  \
    skipstream train --model log.safetensors --follow --format jsonl --field user.text - <posts.jsonl\n  \
    zcat news/*.gz | tr A-Z a-z | skipstream train --model m.safetensors -")]
pub struct TrainArgs {
    /// The model's file, which is created where there is none
    #[arg(long, value_name = "PATH")]
    pub model: PathBuf,
    /// Files, folders and quoted patterns ('news/**/*.gz'), plain or compressed; `-` is standard input, and so is no
    /// file at all where text is piped in
    ///
    /// A folder stands for all files in it and below it, but hidden and temporary ones, sorted by their names.
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    #[command(flatten)]
    pub text: TextArgs,

    /// A TOML file with settings, named like the flags with `_` for `-`; flags stand above it
    #[arg(long = "settings", value_name = "FILE.toml")]
    pub settings_file: Option<PathBuf>,

    /// For a new model: let words start with the vectors of this file, a model or vectors
    ///
    /// When a word occurs that is in the file, its vector starts there and not at random. Contexts and counts start
    /// fresh, and words that do not occur in the text do not enter the model. `--dimensions` is taken from the file.
    /// As many vectors as `--max-vocabulary` are held in memory and saved with the model, the most frequent words'.
    #[arg(long, value_name = "VECTORS")]
    pub init: Option<PathBuf>,

    #[command(flatten)]
    pub settings: SettingArgs,

    /// Save the model so often while it learns: a time (60s, 5m) or words (10M-words)
    #[arg(long, value_name = "TIME|WORDS", default_value = "60s", help_heading = "This run")]
    pub checkpoint_every: Every,
    /// When the text ends, wait for more, as `tail -F` does
    ///
    /// Files may grow, be renamed and made again (the rest of the old file is read first), be cut short, or not be there
    /// yet. Text is learned about half a second after it came, by whole lines and though it does not fill a batch; where
    /// batches end then depends on time, so the same text does not give the same bytes twice. Run again, the same
    /// command goes on where it stopped; a file that was renamed to NAME.1 meanwhile is finished first. Name the file
    /// that grows, not those it was renamed to. Of the formats, `text` and `jsonl` can be followed: a table names its
    /// columns only at its start, and a Parquet file can be read only when it is whole.
    #[arg(long, help_heading = "This run")]
    pub follow: bool,
    /// With --follow, end when no text has come for so long
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, requires = "follow",
          help_heading = "This run")]
    pub idle_exit: Option<Duration>,
    /// Score the model with this test set at the end; may be given several times
    ///
    /// A line of JSON goes to standard output, with the scores of every file over the 30,000 most frequent words (the
    /// sum of a word's two vectors), and the summary goes to standard error. `skipstream eval` scores all words.
    #[arg(long, value_name = "FILE", help_heading = "This run")]
    pub eval: Vec<PathBuf>,
    /// Score the model also so often while it learns: a time (5m) or words (10M-words)
    ///
    /// Training rests meanwhile, at the next boundary; the model is the same as without.
    #[arg(long, value_name = "TIME|WORDS", requires = "eval", help_heading = "This run")]
    pub eval_every: Option<Every>,
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
    /// Print the summary as JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Tell how it goes every 10 seconds also where standard error is not a terminal
    #[arg(short, long, help_heading = "Output")]
    pub verbose: bool,
    /// Print nothing but errors, and what was asked for as JSON
    #[arg(long, conflicts_with_all = ["verbose", "log_json"], help_heading = "Output")]
    pub quiet: bool,
    /// On standard error, write what happens as JSON lines
    ///
    /// Each line is an object with `event` and the seconds since the start, `elapsed`. The events are `start` (with all settings and
    /// the memory bound), `progress` (every 10 seconds), `checkpoint`, `eval`, `rotation`, `warning`, `stopping`, `end` (with the summary) and `error`.
    #[arg(long, conflicts_with = "verbose", help_heading = "Output")]
    pub log_json: bool,
}
