//! Text from Python.
//!
//! `items.rs` and `arrow.rs` take it from an iterable or from Arrow's buffers, in chunks. `feed.rs` turns it into a source:
//! strings are read by the engine's text reader, and token lists are taken as they are.

mod arrow;
mod column;
mod feed;
mod items;
mod request;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use skipstream::corpus::TokenLists;

pub use column::Column;
pub use feed::{Feed, Shared, raised};
pub use items::{Items, Text};
pub use request::{FileOptions, Model, Request};

/// The origin of a feed's text, which is taken in chunks.
pub trait Supply: Send {
    fn kind(&self) -> Kind;

    /// Adds strings as lines; adds nothing at the end.
    fn fill_lines(&mut self, lines: &mut Vec<u8>) -> PyResult<()>;

    /// Adds lists of tokens. Returns whether there may be more.
    fn fill_lists(&mut self, lists: &mut TokenLists) -> PyResult<bool>;

    /// The fraction that was taken, if known.
    fn fraction(&self) -> Option<f64>;

    fn missing(&self) -> u64;
}

/// Taken at once: enough that taking the GIL costs nothing, and few enough that other Python threads do not wait long.
const CHUNK_TOKENS: usize = 50_000;
const CHUNK_BYTES: usize = 256 << 10;

/// The kind of an iterable's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Strings (or bytes), which the engine splits into tokens.
    Strings,
    Lists,
}

/// Rejects a single string, whose characters would each be a sentence, and a dictionary, whose keys would be.
pub fn refuse_wrong_iterables(sentences: &Bound<'_, PyAny>) -> PyResult<()> {
    let kind = sentences.get_type().name()?;
    if items::is_string(sentences) {
        return Err(PyTypeError::new_err(format!(
            "sentences is a {kind}; put it into a list, as in train([text]), or pass its path to train_file"
        )));
    }
    // A cast would hide the error of a signal handler.
    let mapping = sentences.py().import("collections.abc")?.getattr("Mapping")?;
    if sentences.is_instance(&mapping)? {
        return Err(PyTypeError::new_err(format!(
            "sentences is a {kind}, and iterating over it gives its keys; pass the text, as in train({kind}.values())"
        )));
    }
    Ok(())
}
