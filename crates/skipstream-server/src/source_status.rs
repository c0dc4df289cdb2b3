//! The state of each broker that is read.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use utoipa::ToSchema;

/// A message broker that is read
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SourceStatus {
    /// Its URL, without the login
    pub url: String,
    /// Its state
    pub state: SourceState,
    /// Why it waits or has stopped; null if it does not
    pub problem: Option<String>,
    /// Number of messages that were logged since the service started
    pub messages: u64,
    /// Number of messages that were skipped because they are invalid
    pub invalid: u64,
    /// Number of messages that the broker deleted before they were read
    pub lost: u64,
    /// Number of messages that the broker has and that are not logged yet; null if unknown
    pub lag: Option<u64>,
}

/// The state of a source
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SourceState {
    /// Connects to the broker for the first time
    Connecting,
    /// Reads messages, or waits for new ones
    Reading,
    /// Waits until the broker can be reached again
    Waiting,
    /// Reads no more, because messages were lost or the stream is another one: see `problem`
    Stopped,
}

impl SourceState {
    pub fn name(self) -> &'static str {
        match self {
            SourceState::Connecting => "connecting",
            SourceState::Reading => "reading",
            SourceState::Waiting => "waiting",
            SourceState::Stopped => "stopped",
        }
    }
}

/// The state of each source, in the order of the settings.
#[derive(Debug, Default)]
pub struct Sources(Mutex<Vec<SourceStatus>>);

impl Sources {
    /// Adds a source. The result identifies it.
    #[cfg(feature = "brokers")]
    pub fn add(&self, url: String) -> usize {
        let mut sources = self.lock();
        let state = SourceState::Connecting;
        sources.push(SourceStatus { url, state, problem: None, messages: 0, invalid: 0, lost: 0, lag: None });
        sources.len() - 1
    }

    #[cfg(feature = "brokers")]
    pub fn update(&self, source: usize, change: impl FnOnce(&mut SourceStatus)) {
        change(&mut self.lock()[source]);
    }

    pub fn list(&self) -> Vec<SourceStatus> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<SourceStatus>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
