//! The service behind `skipstream serve`: learns word vectors from text and answers queries at the same time.
//!
//! Text arrives over HTTP (`http/text`) or from files, commands and brokers (`sources`), is written to a log on disk
//! (`log`), and is learned by one thread (`learn`), which regularly publishes a version of the vectors (`published`).
//! Queries read the last published version (`search`, `http`) and never wait for training. Snapshots of published versions
//! show what changed over time (`change`, `monitor`), and events report what happens (`events`), also to a broker (`sink`).
//!
//! The modules below are in reading order.

mod auth;
#[cfg(feature = "brokers")]
mod broker;
mod error;
mod forgotten;
mod lifecycle;
mod places;
mod settings;
mod threads;
mod turns;

mod log;
mod prose;
mod published;
mod requests;
mod samples;
mod sink_status;
mod source_status;
mod status;

mod events;

mod change;
mod map;
mod search;
mod subwords;

mod service;

mod fitter;
mod learn;
mod monitor;
mod sink;
mod sources;

mod metrics;
#[cfg(feature = "otel")]
mod traces;

mod http;
mod page;

mod server;

pub use auth::check;
pub use error::{Error, Result};
pub use http::router;
pub use learn::memory_bound;
pub use log::Log;
pub use published::{Published, Seen};
pub use server::Server;
pub use service::Service;
pub use settings::{Index, LogFormat, ServeSettings};
#[cfg(feature = "brokers")]
pub use sources::Messages;
pub use status::Status;
#[cfg(feature = "otel")]
pub use traces::Exporter;
