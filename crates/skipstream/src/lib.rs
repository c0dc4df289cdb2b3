//! Word vectors from text that never ends, learned in one pass and in bounded memory.
#![warn(missing_docs)]

mod error;

pub mod corpus;
pub mod embeddings;
pub mod eval;
pub mod formats;

pub use error::{Error, Result};
