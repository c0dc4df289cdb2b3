//! What happens, for whoever listens.
//!
//! The last events are kept in a journal with numbers, so that who lost the connection hears what was missed, and everybody
//! who listens reads on from a number of their own: nobody waits for anybody, and a slow listener is told how many events
//! went by.

mod event;
mod journal;

pub use event::{DriftAlert, Event, KeptInfo, WordList};
pub use journal::{EventId, Events, Heard, Listener, Told};
