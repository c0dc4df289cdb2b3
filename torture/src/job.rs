//! Trainings that attacks interrupt: small texts, small models, and a checkpoint every few batches.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};
use skipstream::Trainer;

use crate::Torture;
use crate::random::Random;

/// Small batches: 100 new words each, so that a text of a few thousand words is saved often.
const SETTINGS: &str = "--dimensions 4 --batch-words 200 --replay-words 600 --threads 1 --seed 7";

const WORDS_PER_TEXT: u64 = 1_200;

/// Where the text of a training comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    File,
    Several,
    Pipe,
    Follow,
}

impl Source {
    pub const ALL: [Source; 4] = [Source::File, Source::Several, Source::Pipe, Source::Follow];

    pub fn name(self) -> &'static str {
        match self {
            Source::File => "train FILE",
            Source::Several => "train with several files",
            Source::Pipe => "train from a pipe",
            Source::Follow => "train --follow",
        }
    }
}

/// The texts, and the model that an undisturbed training makes of them.
pub struct Job<'a> {
    torture: &'a Torture,
    pub source: Source,
    texts: Vec<PathBuf>,
    more: &'static str,
    max_vocabulary: usize,
    pub undisturbed: Vec<u8>,
}

impl<'a> Job<'a> {
    /// Writes the texts to a folder, and trains in another one. `more` are further arguments.
    pub fn new(torture: &'a Torture, source: Source, folder: &Path, more: &'static str) -> Result<Job<'a>> {
        Job::with_vocabulary(torture, source, folder, more, 300)
    }

    /// As [`Job::new`], with a vocabulary of another size.
    pub fn with_vocabulary(
        torture: &'a Torture,
        source: Source,
        folder: &Path,
        more: &'static str,
        max_vocabulary: usize,
    ) -> Result<Job<'a>> {
        let n_texts = if source == Source::Several { 3 } else { 1 };
        let texts: Vec<PathBuf> = (0..n_texts).map(|n| folder.join(format!("text{n}"))).collect();
        for (number, path) in (0..).zip(&texts) {
            fs::write(path, text(torture.seed, number))?;
        }
        let mut job = Job { torture, source, texts, more, max_vocabulary, undisturbed: Vec::new() };
        let place = tempfile::tempdir_in(folder)?;
        let model = place.path().join("m.safetensors");
        job.complete(&model)?;
        job.undisturbed = fs::read(&model)?;
        Ok(job)
    }

    /// The command that begins or resumes the training.
    pub fn command(&self, model: &Path) -> Result<Command> {
        let mut command =
            self.torture.program.command("train --checkpoint-every 300-words --log-json --model");
        command.arg(model).args(SETTINGS.split_whitespace()).args(self.more.split_whitespace());
        command.arg("--max-vocabulary").arg(self.max_vocabulary.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        match self.source {
            Source::File | Source::Several => command.args(&self.texts),
            Source::Pipe => command.args(["--skip-learned", "-"]).stdin(File::open(&self.texts[0])?),
            Source::Follow => command.args(["--follow", "--idle-exit", "1ms"]).args(&self.texts),
        };
        Ok(command)
    }

    /// Runs the command to its end, undisturbed.
    pub fn complete(&self, model: &Path) -> Result<()> {
        let output = self.command(model)?.output()?;
        let told = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "the training ended with {}: {told}", output.status);
        Ok(())
    }

    /// Resumes after an interruption. The model on disk must be absent or whole, and the result that of an undisturbed run.
    pub fn resume(&self, model: &Path) -> Result<()> {
        if model.exists() {
            Trainer::load(model, None)?;
        }
        self.complete(model)?;
        ensure!(fs::read(model)? == self.undisturbed, "the model differs from the undisturbed one");
        let mut names = Vec::new();
        for entry in fs::read_dir(model.parent().unwrap_or(Path::new(".")))? {
            names.push(entry?.file_name());
        }
        names.retain(|name| {
            Some(&**name) != model.file_name() && !name.to_string_lossy().ends_with(".previous")
        });
        ensure!(names.is_empty(), "files were left: {names:?}");
        Ok(())
    }
}

/// A text in which frequent words are much more frequent than others.
pub fn text(seed: u64, number: u64) -> String {
    let mut random = Random::new(seed, number);
    let mut text = String::new();
    for position in 1..=WORDS_PER_TEXT {
        let below = 1 + random.below(400);
        text.push_str(&format!("w{}", random.below(below)));
        text.push(if position % 12 == 0 { '\n' } else { ' ' });
    }
    text
}
