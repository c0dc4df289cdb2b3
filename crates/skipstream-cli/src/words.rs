//! `skipstream words`.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use skipstream::snapshot::inspect;
use skipstream::train::AnyTrainer;
use skipstream::unstable::sync_name;
use skipstream::vocabulary::{Control, Controlled, Controls};

use crate::Ending;
use crate::lock;
use crate::output::{count, note, print, print_json};
use crate::previous;

/// Arguments of `words`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream words pin --model m.safetensors cocoa\n  \
    skipstream words block --model m.safetensors --file stop.txt\n  \
    skipstream words merge --model m.safetensors colour kolor --into color\n  \
    skipstream words forget --model m.safetensors --keep-out jdoe\n  \
    skipstream words list --model m.safetensors")]
pub struct WordsArgs {
    /// What to do.
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Keep words in the vocabulary for good, even before they occur
    ///
    /// A pinned word is never evicted. At most half of `max-vocabulary` can be pinned.
    Pin(Words),
    /// Unpin words: they can be evicted again
    Unpin(Words),
    /// Keep words out of the vocabulary: a stop list
    ///
    /// A blocked word leaves the model, and text is learned as if the word were not in it. For a new model, use
    /// `train --block`.
    Block(Words),
    /// Let blocked words in again, from their next occurrence on
    Unblock(Words),
    /// Count and train further occurrences of words as another word
    ///
    /// The words leave the model, and what it learned about them is lost. Nothing else changes.
    Merge {
        #[command(flatten)]
        words: Words,
        /// The word that they count as from now on
        #[arg(long, value_name = "WORD")]
        into: String,
    },
    /// Undo `merge`: later occurrences count as the word itself again
    Unmerge(Words),
    /// Delete words for good, with their vectors, counts, waiting text and controls
    ///
    /// The words are then nowhere in the model file, unless the path of a learned file contains them. PATH.previous, the
    /// state that `rollback` returns to, is deleted, because it may have them. Exported vectors, backups and the text itself
    /// are not touched. Vectors of other words keep what they learned from the text around the forgotten ones.
    ///
    /// A forgotten word is learned as a new one if it occurs again, unless it was blocked or --keep-out is given.
    Forget {
        #[command(flatten)]
        words: Words,
        /// Keep the words out if they occur again
        ///
        /// The model then keeps a hash of each word. The hash is not secret: anyone who has the file can test a guess.
        #[arg(long)]
        keep_out: bool,
    },
    /// List the words that are pinned, blocked and merged
    List {
        /// Model file
        #[arg(long, value_name = "PATH")]
        model: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
struct Words {
    /// Model file
    #[arg(long, value_name = "PATH")]
    model: PathBuf,
    /// Words, as they are in the text; the model's text settings (such as lower case) apply
    #[arg(value_name = "WORD", required_unless_present = "file")]
    words: Vec<String>,
    /// File with more words, one per line, or - for standard input; can be repeated
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

/// Carries out the controls and saves the model, in one step.
pub fn run(args: WordsArgs) -> Result<Ending> {
    type Make = Box<dyn Fn(String) -> Control>;
    let (words, verb, control): (Words, Cow<'_, str>, Make) = match args.action {
        Action::List { model, json } => return list(&model, json),
        Action::Pin(words) => (words, "pinned".into(), Box::new(|word| Control::Pin { word })),
        Action::Unpin(words) => (words, "unpinned".into(), Box::new(|word| Control::Unpin { word })),
        Action::Block(words) => (words, "blocked".into(), Box::new(|word| Control::Block { word })),
        Action::Unblock(words) => (words, "unblocked".into(), Box::new(|word| Control::Unblock { word })),
        Action::Merge { words, into } => {
            let verb = format!("merged into {into}");
            (words, verb.into(), Box::new(move |word| Control::Merge { word, into: into.clone() }))
        }
        Action::Unmerge(words) => (words, "unmerged".into(), Box::new(|word| Control::Unmerge { word })),
        Action::Forget { words, keep_out } => {
            (words, "forgotten".into(), Box::new(move |word| Control::Forget { word, keep_out }))
        }
    };
    let Words { model, words, file, json } = words;
    let model = if model.is_symlink() { model.canonicalize().unwrap_or(model) } else { model };
    let mut words = words;
    for file in &file {
        words.extend(match file.to_str() {
            Some("-") => parse(&io::read_to_string(io::stdin()).context("standard input")?, file)?,
            _ => read(file)?,
        });
    }
    let controls: Vec<Control> = words.into_iter().map(control).collect();
    let forgets = controls.iter().any(|control| matches!(control, Control::Forget { .. }));
    let _lock = lock::take(&model)?;
    if forgets && model.with_file_name("log.sqlite").exists() {
        bail!(
            "{}: this is the model of a service, whose log and snapshots have the words too; start the service and \
             send `{{\"controls\": [{{\"forget\": {{\"word\": …}}}}]}}` to /v1/controls",
            model.display()
        );
    }
    let mut trainer = AnyTrainer::load(&model, None)?;
    let report = trainer.control(controls.clone())?;
    if report.iter().any(|one| one.changed) {
        trainer.model().save(&model)?;
    }
    let previous = if forgets { remove_previous(&model)? } else { None };
    if json {
        print_json(&report)?;
        return Ok(Ending::Done);
    }
    for (control, one) in controls.iter().zip(&report) {
        note(told(control.word(), one, &verb));
    }
    if let Some(previous) = previous {
        note(format_args!("deleted {}, which may have the words too", previous.display()));
    }
    Ok(Ending::Done)
}

/// The words of a file, one per line. Empty lines do not count.
pub fn read(path: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    parse(&text, path)
}

fn parse(text: &str, path: &Path) -> Result<Vec<String>> {
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    let words: Vec<String> = lines.filter(|line| !line.is_empty()).map(str::to_owned).collect();
    if words.is_empty() {
        bail!("{}: the file has no words", path.display());
    }
    Ok(words)
}

/// Deletes the previous state, which `rollback` would return to.
fn remove_previous(model: &Path) -> Result<Option<PathBuf>> {
    let previous = previous::path(model);
    match fs::remove_file(&previous) {
        Ok(()) => {
            sync_name(&previous)
                .context("the previous model was deleted, but that may not be on disk yet")?;
            Ok(Some(previous))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error)
            .with_context(|| format!("{} still has the words, and cannot be deleted", previous.display())),
    }
}

fn told(typed: &str, one: &Controlled, verb: &str) -> String {
    let word = &one.word;
    let written = if word == typed {
        String::new()
    } else {
        format!(" (for `{typed}`, by the text settings of this model)")
    };
    match (one.changed, one.left) {
        (false, _) => format!("{word}{written}: nothing to change"),
        (true, None) => format!("{word}{written}: {verb}"),
        (true, Some(n)) => {
            format!("{word}{written}: {verb}, and removed from the model (count {})", count(n))
        }
    }
}

fn list(model: &Path, json: bool) -> Result<Ending> {
    let inspection = inspect(model)?;
    if !inspection.problems.is_empty() {
        bail!("{}: the file is damaged: {}", model.display(), inspection.problems.join("; "));
    }
    let Some(training) = inspection.training else {
        bail!("{}: a vectors file has no words under control", model.display());
    };
    if json {
        print_json(&training.controls)?;
        return Ok(Ending::Done);
    }
    if training.controls.is_empty() {
        note("no word is under control");
    }
    print(&text(&training.controls))?;
    Ok(Ending::Done)
}

/// A line per word.
fn text(controls: &Controls) -> String {
    let pinned = controls.pinned.iter().map(|word| format!("pinned\t{word}\n"));
    let blocked = controls.blocked.iter().map(|word| format!("blocked\t{word}\n"));
    let kept_out = controls.kept_out.iter().map(|hash| format!("kept out\thash {hash}\n"));
    let merged = controls.merged.iter().map(|(word, into)| format!("merged\t{word}\t{into}\n"));
    pinned.chain(blocked).chain(kept_out).chain(merged).collect()
}
