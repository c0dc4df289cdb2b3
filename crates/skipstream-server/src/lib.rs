//! The service behind `skipstream serve`: learns word vectors from text and answers queries at the same time.
//!
//! Text arrives over HTTP (`http/text`) or from followed files and commands (`sources`), is written to a log on disk
//! (`log`), and is learned by one thread (`learn`), which regularly publishes a version of the vectors (`published`).
//! Queries read the last published version (`search`, `http`) and never wait for training. Snapshots of published versions
//! show what changed over time (`change`), and events report what happens (`events`).
//!
//! # Modules, in reading order
//!
//! | module | purpose |
//! |---|---|
//! | [`settings`], `error` | the settings; what can go wrong |
//! | [`auth`] | tokens and roles |
//! | [`log`] | numbers lines and stores them on disk |
//! | [`published`], [`status`] | a published version of the vectors; the state of training |
//! | [`events`] | server-sent events |
//! | [`change`] | snapshots; words that moved, appeared or became more frequent |
//! | [`map`] | words in two dimensions |
//! | [`search`] | neighbor queries |
//! | [`service`] | state that all parts share |
//! | [`learn`] | trains the model and writes checkpoints |
//! | [`sources`] | followed files and commands |
//! | [`metrics`] | Prometheus metrics |
//! | [`http`] | routes |
//! | `page` | the web page |
//! | [`server`] | startup and shutdown |

pub mod error;
pub mod settings;

pub mod auth;

pub mod log;

pub mod published;
pub mod status;

mod requests;

pub mod events;

pub mod change;
pub mod map;
pub mod search;

pub mod service;

pub mod learn;
pub mod sources;

pub mod metrics;

pub mod http;
mod page;

pub mod server;

pub use error::{Error, Result};
pub use server::Server;
pub use service::Service;
pub use settings::ServeSettings;
