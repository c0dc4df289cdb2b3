//! Word vectors from text that never ends, learned in one pass and in bounded memory.
mod config;
mod error;
mod random;
pub mod corpus;
pub mod vocabulary;
pub mod noise;
pub mod pairs;
pub mod parameters;
pub mod kernel;
pub mod train;
pub mod embeddings;
pub mod formats;

pub use config::*;
pub use error::{Error, Result};
pub use train::Trainer;
