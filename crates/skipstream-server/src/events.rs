//! What happens, for whoever listens.

use jiff::Timestamp;
use serde::Serialize;
use tokio::sync::broadcast;

use crate::published::Seq;

/// Something that happened.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Event {
    /// New vectors are there to be asked.
    Published {
        /// All lines up to this one are in them.
        seq: Seq,
        /// When.
        time: Timestamp,
    },
}

/// Tells everybody who listens.
#[derive(Debug)]
pub struct Events {
    sender: broadcast::Sender<Event>,
}

impl Default for Events {
    fn default() -> Events {
        Events { sender: broadcast::Sender::new(1_024) }
    }
}

impl Events {
    /// Tells.
    pub fn tell(&self, event: Event) {
        // Nobody may be listening.
        let _ = self.sender.send(event);
    }

    /// What happens from now on.
    pub fn listen(&self) -> broadcast::Receiver<Event> {
        self.sender.subscribe()
    }
}
