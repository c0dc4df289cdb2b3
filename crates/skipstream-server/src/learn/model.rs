//! The model with its position in the log, on disk and in memory.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use skipstream::vocabulary::{Control, Controlled, WordTimes};
use skipstream::{Trainer, Vectors};

use crate::error::{Error, Result};
use crate::log::{ControlId, Log, from_microseconds};
use crate::published::{Published, Seen, Seq};

/// The model with its position in the log, and when its words were seen.
#[derive(Debug)]
pub struct Model {
    pub(super) trainer: Trainer,
    pub(super) position: Position,
    pub(super) times: WordTimes,
    /// The last controls that were carried out.
    pub(super) controls: ControlId,
    path: PathBuf,
    /// The position and the controls of the model on disk.
    saved: (Position, ControlId),
}

impl Model {
    pub fn path(folder: &Path) -> PathBuf {
        folder.join("model.safetensors")
    }

    pub fn exists(folder: &Path) -> bool {
        Model::path(folder).exists()
    }

    /// A new model. It is saved at once, so that its settings are fixed from now on.
    pub fn create(folder: &Path, trainer: Trainer, log: &Log) -> Result<Model> {
        let mut model = Model::at(folder, trainer, Position::START, log)?;
        model.save()?;
        Ok(model)
    }

    /// The model of a data folder. One that was trained elsewhere and copied there continues with the first line.
    pub fn load(folder: &Path, threads: Option<usize>, log: &Log) -> Result<Model> {
        let trainer = Trainer::load(Model::path(folder), threads)?;
        let position = Position::noted(trainer.notes()).unwrap_or(Position::START);
        Model::at(folder, trainer, position, log)
    }

    fn at(folder: &Path, trainer: Trainer, position: Position, log: &Log) -> Result<Model> {
        let times = trainer.word_times().cloned();
        let times =
            times.unwrap_or_else(|| WordTimes::at(Timestamp::now().as_microsecond(), trainer.vocabulary()));
        let controls = trainer.notes().get(CONTROLS).and_then(|id| id.parse().ok()).unwrap_or(0);
        let (path, saved) = (Model::path(folder), (position, controls));
        let model = Model { trainer, position, times, controls, path, saved };
        model.check_position(log)?;
        Ok(model)
    }

    /// The model of a state that was kept, to continue after this line; and the last line that it has learned.
    pub(super) fn at_state(&self, state: &Path, after: Seq) -> Result<(Model, Seq)> {
        let trainer = Trainer::load(state, Some(self.trainer.settings().threads()))?;
        let data = |reason: &str| Error::Data { path: state.to_owned(), reason: reason.to_owned() };
        if trainer.settings().resolved() != self.trainer.settings().resolved() {
            return Err(data("its settings are not those of the model"));
        }
        let learned = Position::noted(trainer.notes()).ok_or_else(|| data("it has no position"))?.learned();
        let times = trainer.word_times().cloned().unwrap_or_default();
        let position = Position { line: after + 1, sentences: 0 };
        let Model { controls, path, saved, .. } = self;
        Ok((
            Model { trainer, position, times, controls: *controls, path: path.clone(), saved: *saved },
            learned,
        ))
    }

    /// The trainer, for its settings.
    pub fn trainer(&self) -> &Trainer {
        &self.trainer
    }

    /// The first published version of a service.
    pub fn published(&self, vectors: Vectors) -> Result<Published> {
        publication(&self.trainer, &self.times, self.position.learned(), vectors)
    }

    /// Saves the model with its position. Returns the last line that is in it.
    pub(super) fn save(&mut self) -> Result<Seq> {
        self.times.resolve(self.trainer.vocabulary());
        self.trainer.set_word_times(self.times.clone());
        self.position.note(self.trainer.notes_mut());
        if self.controls > 0 {
            self.trainer.notes_mut().insert(CONTROLS.to_owned(), self.controls.to_string());
        }
        self.trainer.save(&self.path)?;
        self.saved = (self.position, self.controls);
        Ok(self.saved_line())
    }

    /// When the model on disk was saved. The file's own time, because a time in the file would change its bytes.
    pub(super) fn saved_at(&self) -> Timestamp {
        let modified = fs::metadata(&self.path).and_then(|file| file.modified());
        let time = modified.ok().and_then(|time| Timestamp::try_from(time).ok());
        time.unwrap_or_else(Timestamp::now)
    }

    /// Whether the model on disk is this one.
    pub(super) fn is_saved(&self) -> bool {
        self.saved == (self.position, self.controls)
    }

    /// The last line that is whole in the model on disk.
    pub(super) fn saved_line(&self) -> Seq {
        self.saved.0.learned()
    }

    /// Carries out controls of words. Everything before them must be learned.
    pub(super) fn control(&mut self, controls: Vec<Control>) -> skipstream::Result<Vec<Controlled>> {
        // The trainer moves the times with the words.
        self.times.resolve(self.trainer.vocabulary());
        self.trainer.set_word_times(self.times.clone());
        let report = self.trainer.control(controls)?;
        self.times = self.trainer.word_times().cloned().unwrap_or_default();
        Ok(report)
    }

    /// Rejects a log from which the model was not learned.
    fn check_position(&self, log: &Log) -> Result<()> {
        let (first, last) = (log.first(), log.last());
        let line = self.position.line;
        if (first..=last + 1).contains(&line) {
            return Ok(());
        }
        Err(Error::Data {
            path: self.path.clone(),
            reason: format!(
                "the model continues at line {line}, but the log next to it has lines {first} to {last}: \
                 they do not belong together; restore the one that was replaced, or use another data folder"
            ),
        })
    }
}

/// The published version of a trainer's state.
pub(super) fn publication(
    trainer: &Trainer,
    times: &WordTimes,
    seq: Seq,
    vectors: Vectors,
) -> Result<Published> {
    let embeddings = trainer.embeddings_of(vectors)?;
    let vocabulary = trainer.vocabulary();
    let seen = |word| {
        let id = vocabulary.id(word).expect("the words are those of the vocabulary");
        // The times of its first and its last line: of a clock that was set back, or of a client, in any order.
        let [one, other] = times.of(vocabulary, id).map(from_microseconds);
        Seen { first: one.min(other), last: one.max(other) }
    };
    let seen: Vec<Seen> = embeddings.words().map(seen).collect();
    let published = Published::new(seq, Timestamp::now(), embeddings, seen, trainer.progress());
    Ok(Published { phrases: trainer.phrases().into(), ..published })
}

/// A position between two sentences of the log. It is saved in the model file, so that no sentence is learned twice or
/// skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line where reading continues.
    pub line: Seq,
    /// Sentences of that line that are learned: a long line has several, and a batch may end between two.
    pub sentences: u64,
}

const CONTROLS: &str = "serve_controls";
const LINE: &str = "serve_line";
const SENTENCES: &str = "serve_sentences";

impl Position {
    /// Before the first line.
    pub const START: Position = Position { line: 1, sentences: 0 };

    /// The last line that is completely learned.
    pub fn learned(&self) -> Seq {
        self.line - 1
    }

    /// Writes the position to the notes of a model.
    pub fn note(&self, notes: &mut BTreeMap<String, String>) {
        notes.insert(LINE.to_owned(), self.line.to_string());
        notes.insert(SENTENCES.to_owned(), self.sentences.to_string());
    }

    /// Reads the position from the notes of a model, if they have one.
    pub fn noted(notes: &BTreeMap<String, String>) -> Option<Position> {
        let number = |name| notes.get(name)?.parse().ok();
        let (line, sentences) = (number(LINE)?, number(SENTENCES)?);
        (line > 0).then_some(Position { line, sentences })
    }
}
