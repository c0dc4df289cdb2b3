//! The training job, checked and built from the arguments.

use std::env;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use skipstream::Error;
use skipstream::corpus::{Layout, find};
use skipstream::train::{AnyTrainer, Initial};
use skipstream::vocabulary::Control;

use super::args::TrainArgs;
use super::evaluation;
use super::followed::Messages;
use crate::previous;
use crate::settings::{RequestedSettings, SettingsFile};
use crate::words;

/// The name of standard input in messages.
pub const STDIN: &str = "<stdin>";

/// A URL for `--source`: other users of the machine can see arguments, and the URL may hold a password.
const SOURCE: &str = "SKIPSTREAM_SOURCE";

#[derive(Debug)]
pub struct Job {
    /// As typed, except that `model` is the target of a link, so that the link is not replaced.
    pub args: TrainArgs,
    pub settings: RequestedSettings,
    /// The texts to read, in this order.
    pub texts: Vec<Text>,
    pub layout: Layout,
    /// The words of the stop lists, to be blocked.
    pub blocked: Vec<Control>,
    /// The phrases of the files.
    pub phrases: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    /// A file by its name.
    File(PathBuf),
    /// A file of a folder or a pattern.
    Found(PathBuf),
    Stdin,
}

impl Text {
    fn is_named_pipe(&self) -> bool {
        match self {
            Text::File(path) | Text::Found(path) => {
                fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
            }
            Text::Stdin => false,
        }
    }
}

impl Job {
    /// Checks that the arguments make sense together.
    pub fn new(mut args: TrainArgs) -> Result<Job> {
        let mut texts = Vec::new();
        for path in &args.files {
            if path != Path::new("-") {
                let files = files(path, &args.model, args.follow)?;
                let text = if files == [path.clone()] { Text::File } else { Text::Found };
                texts.extend(files.into_iter().map(text));
            } else if texts.contains(&Text::Stdin) {
                bail!("`-` is given twice; standard input can be read only once");
            } else {
                texts.push(Text::Stdin);
            }
        }
        if args.follow
            && args.source.is_empty()
            && let Ok(url) = env::var(SOURCE)
        {
            args.source.push(url);
        }
        if texts.is_empty() && args.source.is_empty() {
            match (io::stdin().is_terminal(), args.finish) {
                (true, true) => {}
                (true, false) => bail!("no text: name files, or pipe text in"),
                (false, _) => texts.push(Text::Stdin),
            }
        }
        if args.skip_learned && !texts.contains(&Text::Stdin) {
            bail!("--skip-learned is for standard input; files that were learned are skipped anyway");
        }
        let paths = texts.iter().filter_map(|text| match text {
            Text::File(path) | Text::Found(path) => Some(path.as_path()),
            Text::Stdin => None,
        });
        let layout = args.text.layout(paths)?;
        let file = args.settings_file.as_deref().map(SettingsFile::read).transpose()?;
        let settings = RequestedSettings::new(args.settings.clone(), file);
        if args.model.is_symlink() {
            args.model = args.model.canonicalize().unwrap_or(args.model);
        }
        // Now, because Ctrl-C still ends the program: they may come from pipes.
        let lists = |files: &[PathBuf]| -> Result<Vec<String>> {
            Ok(files.iter().map(|file| words::read(file)).collect::<Result<Vec<_>>>()?.concat())
        };
        let blocked = lists(&args.block)?.into_iter().map(|word| Control::Block { word }).collect();
        let phrases = lists(&args.phrases_file)?;
        Ok(Job { args, settings, texts, layout, blocked, phrases })
    }

    pub fn reads_stdin(&self) -> bool {
        self.texts.contains(&Text::Stdin)
    }

    /// Whether some text comes from a pipe with a name.
    pub fn reads_named_pipe(&self) -> bool {
        self.texts.iter().any(Text::is_named_pipe)
    }

    /// Whether the text of this name comes from a pipe.
    pub fn is_pipe(&self, name: &Path) -> bool {
        self.texts.iter().any(|text| match text {
            Text::File(path) | Text::Found(path) => path == name && text.is_named_pipe(),
            Text::Stdin => name == STDIN,
        })
    }

    /// Memory for the messages of brokers.
    pub fn source_bytes(&self) -> u64 {
        self.args.source.len() as u64 * Messages::MAX_BYTES
    }

    /// Creates the requested model.
    pub fn create_model(&self) -> Result<AnyTrainer> {
        let scored_words = if self.args.eval.is_empty() { 0 } else { evaluation::WORDS };
        let initial = self.args.init.as_ref().map(Initial::load).transpose()?;
        let config = self.settings.config(initial.as_ref(), scored_words, self.source_bytes())?;
        Ok(match initial {
            Some(initial) => AnyTrainer::starting_from(config, initial)?,
            None => AnyTrainer::new(config)?,
        })
    }

    /// Loads the existing model and checks that it matches the requested settings.
    pub fn load_model(&self) -> Result<AnyTrainer> {
        let name = || self.args.model.display().to_string();
        if self.args.init.is_some() {
            bail!(
                "{}: --init is for a new model, and this one exists; omit it, or choose another name",
                name()
            );
        }
        let trainer = AnyTrainer::load(&self.args.model, self.settings.threads)?;
        let model = trainer.model();
        let bound = model.memory_bound().total() + self.source_bytes();
        self.settings.agree_with(model, bound).with_context(name)?;
        Ok(trainer)
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
        let models = [previous::path(&model), model];
        files.retain(|file| !file.canonicalize().is_ok_and(|file| models.contains(&file)));
        if files.is_empty() {
            bail!("{}: the folder holds nothing but the model itself", path.display());
        }
    }
    Ok(files)
}
