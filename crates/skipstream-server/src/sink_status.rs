//! The state of the broker that gets events.

use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use utoipa::ToSchema;

/// A message broker that gets events
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SinkStatus {
    /// Its URL, without the login
    pub url: String,
    /// Its state
    pub state: SinkState,
    /// Why it waits; null if it does not
    pub problem: Option<String>,
    /// Number of messages that the broker has confirmed since the service started
    pub messages: u64,
    /// Number of events that are stored and not confirmed yet
    pub waiting: u64,
    /// Number of events that were dropped, because too many waited
    pub dropped: u64,
}

/// The state of a sink
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SinkState {
    /// Connects to the broker for the first time
    Connecting,
    /// Sends events, or waits for new ones
    Sending,
    /// Waits until the broker can be reached again
    Waiting,
}

impl SinkState {
    pub fn name(self) -> &'static str {
        match self {
            SinkState::Connecting => "connecting",
            SinkState::Sending => "sending",
            SinkState::Waiting => "waiting",
        }
    }
}

/// The state of the sink, if there is one.
#[derive(Debug, Default)]
pub struct Sink(Mutex<Option<SinkStatus>>);

impl Sink {
    #[cfg(feature = "brokers")]
    pub fn add(&self, url: String) {
        let state = SinkState::Connecting;
        let status = SinkStatus { url, state, problem: None, messages: 0, waiting: 0, dropped: 0 };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(status);
    }

    #[cfg(feature = "brokers")]
    pub fn update(&self, change: impl FnOnce(&mut SinkStatus)) {
        if let Some(status) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            change(status);
        }
    }

    pub fn status(&self) -> Option<SinkStatus> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
