//! What to do, made of what was typed.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};
use skipstream::Error;
use skipstream::corpus::{Layout, find};

use super::args::TrainArgs;
use super::every::Every;
use super::log::Reader;
use crate::settings::{Asked, SettingsFile};

/// What to do.
#[derive(Debug)]
pub struct Job {
    /// The model's file.
    pub model: PathBuf,
    /// The settings that were asked for.
    pub settings: Asked,
    /// Vectors with which the words of a new model start.
    pub init: Option<PathBuf>,
    /// What to read, in this order.
    pub texts: Vec<Text>,
    /// What the texts are.
    pub layout: Layout,
    /// Whether files that were learned are new text.
    pub again: bool,
    /// Whether to train what waits in the replay buffer at the end.
    pub finish: bool,
    /// How often to save.
    pub checkpoint_every: Every,
    /// Whether to wait for more text.
    pub follow: bool,
    /// How long to wait for it.
    pub idle_exit: Option<Duration>,
    /// Test sets to score the model with.
    pub eval: Vec<PathBuf>,
    /// How often to score it before the end.
    pub eval_every: Option<Every>,
    /// What to print on standard output.
    pub report: Report,
    /// Who reads standard error.
    pub log: Reader,
}

/// Text to learn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    /// A file.
    File(PathBuf),
    /// Standard input, without what was learned from pipes if that is to be skipped.
    Stdin {
        /// Whether it is fed again.
        skip_learned: bool,
    },
}

/// What becomes of the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// It is printed as text.
    ForPeople,
    /// It is printed as text, on standard error: standard output is for scores.
    ForPeopleAside,
    /// It is printed as JSON.
    Json,
    /// Nothing.
    Nothing,
}

impl Job {
    /// Refuses what makes no sense together.
    pub fn new(args: TrainArgs) -> Result<Job> {
        let stdin = Text::Stdin { skip_learned: args.skip_learned };
        let mut texts = Vec::new();
        for path in args.files {
            if path != Path::new("-") {
                texts.extend(files(&path, &args.model, args.follow)?.into_iter().map(Text::File));
            } else if texts.contains(&stdin) {
                bail!("`-` stands twice; standard input can be read only once");
            } else {
                texts.push(stdin.clone());
            }
        }
        if texts.is_empty() {
            match (io::stdin().is_terminal(), args.finish) {
                (true, true) => {}
                (true, false) => bail!("there is no text: name files, or pipe text in"),
                (false, _) => texts.push(stdin.clone()),
            }
        }
        if args.skip_learned && !texts.contains(&stdin) {
            bail!("--skip-learned is for standard input; of files, what was learned is skipped anyway");
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
            settings: Asked::new(args.settings, file)?,
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
                (true, ..) => Reader::Program,
                (_, true, _) => Reader::Nobody,
                (_, _, true) => Reader::PatientPeople,
                _ => Reader::People,
            },
        })
    }

    /// Whether standard input is among the texts.
    pub fn reads_stdin(&self) -> bool {
        self.texts.iter().any(|text| matches!(text, Text::Stdin { .. }))
    }
}

/// The files that a name, a pattern or a folder stands for; the model, which may be in that folder, is not one of them.
fn files(path: &Path, model: &Path, follow: bool) -> Result<Vec<PathBuf>> {
    let mut files = match find(path) {
        // It is waited for.
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
            bail!("{}: there is nothing but the model itself", path.display());
        }
    }
    Ok(files)
}
