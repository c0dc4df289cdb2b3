//! Controls of words, in their order among the lines.
//!
//! Controls end a batch: everything before them is learned first, as if `train` had read the lines up to there. So the model
//! is still a function of the log, and equal to what `train` and `words` make of the same lines and controls.
//!
//! | step | a crash after it leaves | the next start |
//! |---|---|---|
//! | controls are logged | controls that are in no model | learns the lines before them and carries them out |
//! | the model file is renamed into place | controls that the model has | deletes them; if a word is to be forgotten, clears files |
//! | files are cleared of a forgotten word | the word in the log alone | clears files again, and the log |
//! | the log deletes the text and events, and the word from its entry | the word in free pages of the log | rewrites the log |
//!
//! The log's entry goes last, because it says what is still to be cleared.

use std::fs;
use std::io;
use std::time::Instant;

use skipstream::corpus::TextOptions;
use skipstream::phrases::word_of;
use skipstream::vocabulary::{Control, Controlled};

use super::model::Model;
use super::session::Session;
use super::source::Rest;
use crate::error::{Error, Result};
use crate::forgotten::Forgotten;
use crate::log::LoggedControls;

impl Session {
    /// Carries out the next controls, if everything before them was read. Returns whether there were any.
    pub(super) fn serve_controls(&mut self) -> Result<bool> {
        let Some(mut logged) = self.service.log.take_controls(self.queue.end().learned()) else {
            return Ok(false);
        };
        match self.carry_out(&logged) {
            Ok(report) => {
                self.finished_controls = logged.id;
                if let Some(answer) = logged.answer.take() {
                    let _ = answer.send(report.map_err(Error::from));
                }
                Ok(true)
            }
            // Tried again.
            Err(error) => {
                self.service.log.put_back(logged);
                Err(error)
            }
        }
    }

    /// Returns what the controls did, or why they were refused.
    fn carry_out(&mut self, logged: &LoggedControls) -> Result<skipstream::Result<Vec<Controlled>>> {
        let mut report = Ok(Vec::new());
        // Otherwise the model has them: the last process was killed before it could clear all files.
        if logged.id > self.model.controls {
            self.learn_rest()?;
            report = self.model.control(logged.controls.clone());
            self.model.controls = logged.id;
            self.report_controls();
        }
        let service = self.service.clone();
        let _reporting = logged.forgets().then(|| service.reporting.blocking_lock());
        let forgotten = self.forgotten(logged);
        service.forget_in_memory(&forgotten);
        if logged.forgets() {
            self.fork = None;
            self.save()?;
            if report.is_ok() {
                self.clear_files(&forgotten)?;
            }
            service.log.purge(logged.after, logged.id, forgotten)?;
        }
        self.publish_now()?;
        Ok(report)
    }

    /// Learns the text that does not fill a batch.
    pub(super) fn learn_rest(&mut self) -> Result<()> {
        let before = self.model.trainer.progress().totals;
        self.model.trainer.train_source(&mut Rest(&mut self.queue))?;
        self.model.position = self.queue.start();
        self.meter.note(&self.model.trainer.progress(), &before, Instant::now());
        Ok(())
    }

    pub(super) fn report_controls(&self) {
        self.service.controls.store(self.model.trainer.controls().clone().into());
    }

    /// The words to forget, and the published and watched phrases that contain them.
    fn forgotten(&self, logged: &LoggedControls) -> Forgotten {
        let trainer = &self.model.trainer;
        let words = words_to_forget(logged, trainer.settings().text());
        let mut forgotten = Forgotten { words, in_phrases: trainer.joins_phrases() };
        if forgotten.in_phrases && !forgotten.words.is_empty() {
            let (published, watched) = (self.service.published(), self.service.watch.words());
            let all = published.embeddings.words().chain(watched.iter().map(String::as_str));
            let phrases: Vec<String> = all.filter(|word| forgotten.has(word)).map(str::to_owned).collect();
            forgotten.words.extend(phrases);
        }
        forgotten
    }

    /// Clears every file but the log of forgotten words.
    fn clear_files(&self, forgotten: &Forgotten) -> Result<()> {
        // A snapshot may have phrases that the model no longer has.
        self.service.snapshots.forget(|word| forgotten.has(word))?;
        for word in &forgotten.words {
            self.service.watch.remove(word)?;
        }
        let mut previous = Model::path(&self.service.settings.data).into_os_string();
        previous.push(".previous");
        match fs::remove_file(&previous) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(skipstream::Error::Io { path: previous.into(), source }.into())
            }
            _ => Ok(()),
        }
    }
}

/// The words to forget, as they were sent and as the text settings write them.
fn words_to_forget(logged: &LoggedControls, text: &TextOptions) -> Vec<String> {
    let forgets = logged.controls.iter().filter(|control| matches!(control, Control::Forget { .. }));
    let sent = forgets.map(|control| control.word().to_owned());
    sent.flat_map(|word| [text.only_token(&word), word_of(&word, text), Some(word)]).flatten().collect()
}
