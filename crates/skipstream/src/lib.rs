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
pub mod embeddings;
pub mod train;
mod snapshot;
pub mod formats;
pub mod eval;

pub use config::{AdaGrad, Config, Settings, Strategy, WindowShape};
pub use embeddings::{Embeddings, Vectors};
pub use error::{Error, Result};
pub use train::{Observer, Outcome, Progress, Totals, Trainer, Wish};
