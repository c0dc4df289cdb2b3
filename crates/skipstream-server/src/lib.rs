//! A service that learns word vectors while it answers from them.
//!
//! Text comes in over HTTP (`http/text`), from files that grow and from commands (`sources`), is made safe in a log on disk
//! (`log`), and is learned by one thread (`learn`), which now and then publishes what it knows (`published`). Questions are
//! answered from what was published last (`search`, `http`), and never wait for training. What was published is also kept
//! now and then (`change`), so that one can ask what moved and what is new; what happens is told to whoever listens
//! (`events`).
//!
//! # The modules, as they stand below
//!
//! | module | from → to |
//! |---|---|
//! | [`settings`], `error` | what a person asks for, what can go wrong |
//! | [`auth`] | tokens → roles |
//! | [`log`] | lines → numbered lines on disk |
//! | [`published`], [`status`] | the model as it was at one moment, for reading; how learning goes |
//! | [`events`] | what happened → whoever listens |
//! | [`change`] | published models → kept ones; words that moved, came and rose |
//! | [`map`] | words → places in a plane |
//! | [`search`] | questions → answers |
//! | [`service`] | what all parts share |
//! | [`learn`] | numbered lines → a model, with checkpoints that say how far it came |
//! | [`sources`] | files that grow, commands → the log |
//! | [`metrics`] | what was counted → text for Prometheus |
//! | [`http`] | requests → answers |
//! | `page` | the page, from the program itself |
//! | [`server`] | all of this, from its start to its end |

pub mod error;
pub mod settings;

pub mod auth;

pub mod log;

pub mod published;
pub mod status;

mod orders;

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
