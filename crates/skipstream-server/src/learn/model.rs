//! The model with its place in the log, on disk and in memory.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use skipstream::{Trainer, Vectors};

use super::position::Position;
use super::times::Times;
use super::times_file;
use crate::error::{Error, Result};
use crate::log::Log;
use crate::published::{Published, Seen, Seq};

/// The model with its place in the log, and when its words were seen.
#[derive(Debug)]
pub struct Model {
    pub(super) trainer: Trainer,
    pub(super) position: Position,
    pub(super) times: Times,
    folder: PathBuf,
    /// The place of the model on disk.
    saved: Position,
}

impl Model {
    /// Where a folder has its model.
    pub fn path(folder: &Path) -> PathBuf {
        folder.join("model.safetensors")
    }

    /// Whether there is a model in a folder.
    pub fn exists(folder: &Path) -> bool {
        Model::path(folder).exists()
    }

    /// A new model, which is saved at once: its settings hold from now on.
    pub fn create(folder: &Path, trainer: Trainer, log: &Log) -> Result<Model> {
        check_strategy(&trainer)?;
        let mut model = Model {
            times: Times::at(Timestamp::now(), trainer.vocabulary()),
            trainer,
            position: Position::START,
            folder: folder.to_owned(),
            saved: Position::START,
        };
        model.check_place(log)?;
        model.save()?;
        Ok(model)
    }

    /// The model in a folder. One that was trained elsewhere and put there is taken as it is, and goes on with the first line.
    pub fn load(folder: &Path, threads: Option<usize>, log: &Log) -> Result<Model> {
        let trainer = Trainer::load(Model::path(folder), threads)?;
        check_strategy(&trainer)?;
        let (position, times) = match Position::noted(trainer.notes()) {
            Some(position) => {
                let path = times_file::path(folder, position);
                (position, times_file::load(&path, trainer.vocabulary())?)
            }
            None => (Position::START, Times::at(Timestamp::now(), trainer.vocabulary())),
        };
        let model = Model { trainer, position, times, folder: folder.to_owned(), saved: position };
        model.check_place(log)?;
        // What a crash may have left to be done.
        times_file::remove_others(folder, position);
        Ok(model)
    }

    /// The trainer, to be asked about its settings.
    pub fn trainer(&self) -> &Trainer {
        &self.trainer
    }

    /// What the model knows, to start a service with.
    pub fn published(&self, vectors: Vectors) -> Result<Published> {
        publication(&self.trainer, &self.times, 0, self.position.learned(), vectors)
    }

    /// Saves the model and its place. Which lines are in it then.
    pub(super) fn save(&mut self) -> Result<Seq> {
        self.times.settle(self.trainer.vocabulary());
        let times = times_file::path(&self.folder, self.position);
        times_file::save(&times, &self.times, self.trainer.vocabulary().tokens())?;
        self.position.note(self.trainer.notes_mut());
        if let Err(error) = self.trainer.save(Model::path(&self.folder)) {
            // It may have failed behind the rename, and a model must not lose the times that it names. Where the old model is
            // still there, the room may be what is missing.
            if self.is_saved_one_in_place() {
                times_file::remove_others(&self.folder, self.saved);
            }
            return Err(error.into());
        }
        self.saved = self.position;
        times_file::remove_others(&self.folder, self.saved);
        Ok(self.saved.learned())
    }

    /// Whether the model on disk is this one.
    pub(super) fn is_saved(&self) -> bool {
        self.saved == self.position
    }

    /// The last line that is whole in the model on disk.
    pub(super) fn saved_line(&self) -> Seq {
        self.saved.learned()
    }

    /// Whether the file has the model that was saved last; not if that cannot be told.
    fn is_saved_one_in_place(&self) -> bool {
        let notes = skipstream::snapshot::notes(Model::path(&self.folder));
        notes.is_ok_and(|notes| Position::noted(&notes).unwrap_or(Position::START) == self.saved)
    }

    /// Refuses a log that is not the one from which the model was learned.
    fn check_place(&self, log: &Log) -> Result<()> {
        let (first, last) = (log.first(), log.last());
        let line = self.position.line;
        if (first..=last + 1).contains(&line) {
            return Ok(());
        }
        Err(Error::Data {
            path: Model::path(&self.folder),
            reason: format!(
                "the model goes on with line {line}, but the log beside it holds lines {first} to {last}: \
                 they do not belong together; restore the one that was replaced, or begin in another folder"
            ),
        })
    }
}

/// What a trainer knows, for reading.
pub(super) fn publication(
    trainer: &Trainer,
    times: &Times,
    number: u64,
    seq: Seq,
    vectors: Vectors,
) -> Result<Published> {
    let embeddings = trainer.embeddings(vectors)?;
    let vocabulary = trainer.vocabulary();
    let seen =
        |word| times.seen(vocabulary, vocabulary.id(word).expect("the words are those of the vocabulary"));
    let seen: Vec<Seen> = embeddings.words().map(seen).collect();
    Ok(Published::new(number, seq, Timestamp::now(), embeddings, seen, trainer.progress()))
}

fn check_strategy(trainer: &Trainer) -> Result<()> {
    if trainer.is_in_passes() {
        return Err(skipstream::Error::Setting {
            field: "strategy",
            value: trainer.settings().strategy().name().to_string(),
            limit: "mini-batch or incremental for a service, which reads its text once".to_owned(),
        }
        .into());
    }
    Ok(())
}
