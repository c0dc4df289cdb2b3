//! The training job, checked and built from the arguments.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};
use skipstream::Error;
use skipstream::corpus::{Layout, find};

use super::args::TrainArgs;
use super::every::Every;
use super::log::LogKind;
use crate::settings::{RequestedSettings, SettingsFile};

#[derive(Debug)]
pub struct Job {
    pub model: PathBuf,
    pub settings: RequestedSettings,
    /// File to initialise the words of a new model from.
    pub init: Option<PathBuf>,
    /// The texts to read, in this order.
    pub texts: Vec<Text>,
    /// The format of the texts.
    pub layout: Layout,
    /// Whether to learn files again.
    pub again: bool,
    /// Whether to empty the replay buffer at the end.
    pub finish: bool,
    pub checkpoint_every: Every,
    /// Whether to wait for more text at the end.
    pub follow: bool,
    /// How long to wait before exiting.
    pub idle_exit: Option<Duration>,
    /// Test sets to score the model on.
    pub eval: Vec<PathBuf>,
    /// Evaluation interval.
    pub eval_every: Option<Every>,
    /// Where the summary goes.
    pub report: Report,
    /// The kind of log on standard error.
    pub log: LogKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    File(PathBuf),
    /// Standard input.
    Stdin {
        skip_learned: bool,
    },
}

/// Where the summary goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// To standard output, as text.
    ForPeople,
    /// To standard error, as text: standard output is for scores.
    ForPeopleAside,
    /// To standard output, as JSON.
    Json,
    Nothing,
}

impl Job {
    /// Checks that the arguments make sense together.
    pub fn new(args: TrainArgs) -> Result<Job> {
        let stdin = Text::Stdin { skip_learned: args.skip_learned };
        let mut texts = Vec::new();
        for path in args.files {
            if path != Path::new("-") {
                texts.extend(files(&path, &args.model, args.follow)?.into_iter().map(Text::File));
            } else if texts.contains(&stdin) {
                bail!("`-` is given twice; standard input can be read only once");
            } else {
                texts.push(stdin.clone());
            }
        }
        if texts.is_empty() {
            match (io::stdin().is_terminal(), args.finish) {
                (true, true) => {}
                (true, false) => bail!("no text: name files, or pipe text in"),
                (false, _) => texts.push(stdin.clone()),
            }
        }
        if args.skip_learned && !texts.contains(&stdin) {
            bail!("--skip-learned is for standard input; files that were learned are skipped anyway");
        }
        let paths = texts.iter().filter_map(|text| match text {
            Text::File(path) => Some(path.as_path()),
            Text::Stdin { .. } => None,
        });
        let layout = args.text.layout(paths)?;
        let file = args.settings_file.as_deref().map(SettingsFile::read).transpose()?;
        Ok(Job {
            model: args.model,
            init: args.init,
            settings: RequestedSettings::new(args.settings, file),
            texts,
            layout,
            again: args.again,
            finish: args.finish,
            checkpoint_every: args.checkpoint_every,
            report: match (args.json, args.quiet) {
                (true, _) => Report::Json,
                (false, true) => Report::Nothing,
                (false, false) if args.eval.is_empty() => Report::ForPeople,
                (false, false) => Report::ForPeopleAside,
            },
            follow: args.follow,
            idle_exit: args.idle_exit,
            eval: args.eval,
            eval_every: args.eval_every,
            log: match (args.log_json, args.quiet, args.verbose) {
                (true, ..) => LogKind::Json,
                (_, true, _) => LogKind::None,
                (_, _, true) => LogKind::Verbose,
                _ => LogKind::Text,
            },
        })
    }

    /// Whether standard input is among the texts.
    pub fn reads_stdin(&self) -> bool {
        self.texts.iter().any(|text| matches!(text, Text::Stdin { .. }))
    }
}

/// Expands a file name, pattern or folder, excluding the model file itself.
fn files(path: &Path, model: &Path, follow: bool) -> Result<Vec<PathBuf>> {
    let mut files = match find(path) {
        // Wait for the file to appear.
        Err(Error::Io { source, .. }) if follow && source.kind() == io::ErrorKind::NotFound => {
            return Ok(vec![path.to_owned()]);
        }
        found => found?,
    };
    if files != [path]
        && let Ok(model) = model.canonicalize()
    {
        files.retain(|file| file.canonicalize().is_ok_and(|file| file != model));
        if files.is_empty() {
            bail!("{}: the folder holds nothing but the model itself", path.display());
        }
    }
    Ok(files)
}
