//! Keeps the state of training, and returns to it.
//!
//! Nothing can be learned on from the vectors of a snapshot. A snapshot with its state also has the model file of that moment:
//! a second name for the file, which the next checkpoint replaces and does not change.
//!
//! To return, the learner loads that file and saves it as the model, with a position after the last line of the log. Until
//! the model file is renamed into place, nothing has happened; after that, the lines in between are skipped for good.

use super::model::Model;
use super::session::Session;
use crate::change::{SnapshotInfo, SnapshotName};
use crate::error::{Error, Result};
use crate::service::Service;
use crate::status::RolledBack;

impl Session {
    /// Saves a snapshot with its state. This ends the batch, so that both have learned the same lines.
    pub(super) fn keep(&mut self, name: SnapshotName) -> Result<SnapshotInfo> {
        self.service.snapshots.check_new(&name, true)?;
        self.learn_rest()?;
        self.save()?;
        self.publish_now()?;
        let Service { snapshots, settings, events, .. } = &*self.service;
        let (published, model) = (self.service.published(), Model::path(&settings.data));
        let info = snapshots.save_with_state(&published, name, settings.snapshot_words, &model)?;
        events.send("kept", &info);
        Ok(info)
    }

    /// Skips all lines that were accepted since the snapshot.
    pub(super) fn roll_back(&mut self, name: SnapshotName) -> Result<RolledBack> {
        let state = self.service.snapshots.state(&name).ok_or_else(|| Error::NoState(name.to_string()))?;
        // The bound has room for two trainers.
        self.fork = None;
        let seq = self.service.log.last();
        let (mut model, learned) = self.model.at_state(&state, seq)?;
        model.save()?;
        let mut session = Session::new(self.service.clone(), model)?;
        session.finished_controls = self.finished_controls;
        *self = session;
        self.service.movers.clear();
        self.service.maps.clear();
        self.publish_now()?;
        let rolled_back = RolledBack { snapshot: name, learned, seq };
        self.service.events.send("rolled_back", &rolled_back);
        Ok(rolled_back)
    }
}
