//! Text that comes from Python.
//!
//! `items.rs` and `arrow.rs` take it from an iterable or from Arrow's buffers, in chunks; `feed.rs` makes a source of
//! it that the engine reads, of strings by the engine's own reader of text, of token lists as they are.

mod arrow;
mod column;
mod feed;
mod items;
mod layout;
mod utf8;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyIterator, PyString};
use skipstream::corpus::TokenLists;

pub use column::Column;
pub use feed::{Feed, Shared, from_python, raised};
pub use items::{Items, Text};
pub use layout::AskedFiles;

/// Where a feed takes its text from, a chunk at a time.
pub trait Supply: Send {
    /// What it consists of.
    fn kind(&self) -> Kind;

    /// Adds strings as lines, or nothing at the end.
    fn fill_lines(&mut self, lines: &mut Vec<u8>) -> PyResult<()>;

    /// Adds lists of tokens; whether there may be more.
    fn fill_lists(&mut self, lists: &mut TokenLists) -> PyResult<bool>;

    /// How much of it was taken, if that is known.
    fn fraction(&self) -> Option<f64>;

    /// How many values were missing.
    fn missing(&self) -> u64;
}

/// What an iterable consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Strings (or bytes), which the engine cuts into tokens.
    Strings,
    /// Lists of tokens.
    Lists,
}

/// Refuses what can be iterated only once.
pub fn refuse_one_shot(sentences: &Bound<'_, PyAny>) -> PyResult<()> {
    // What starts anew makes an iterator each time, and is none itself.
    if sentences.cast::<PyIterator>().is_err() {
        return Ok(());
    }
    Err(PyValueError::new_err(
        "sentences can be read only once, and the strategies batch and word2vec read them several times; \
         give a list, or an object whose __iter__ starts anew",
    ))
}

/// Refuses a single string, of which each character would be a sentence.
pub fn refuse_one_string(sentences: &Bound<'_, PyAny>) -> PyResult<()> {
    let is_one = sentences.is_instance_of::<PyString>()
        || sentences.is_instance_of::<PyBytes>()
        || sentences.is_instance_of::<PyByteArray>();
    if !is_one {
        return Ok(());
    }
    let kind = sentences.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "sentences is one {kind}; put it into a list, as in train([text]), or give its path to train_file"
    )))
}
