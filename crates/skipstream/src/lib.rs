//! Word vectors from text that never ends, learned in one pass and in bounded memory.
mod config;
pub mod corpus;
pub mod embeddings;
mod error;
pub mod eval;
pub mod formats;
pub mod kernel;
pub mod noise;
pub mod pairs;
pub mod parameters;
mod random;
mod snapshot;
pub mod train;
pub mod vocabulary;

pub use config::{AdaGrad, Config, Settings, Strategy, WindowShape};
pub use embeddings::{Embeddings, Vectors};
pub use error::{Error, Result};
pub use random::Random;
pub use train::{Observer, Outcome, Progress, Totals, Trainer, Wish};
