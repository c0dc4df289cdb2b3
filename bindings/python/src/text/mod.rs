//! Text from Python.
//!
//! `items.rs` and `arrow.rs` take it from an iterable or from Arrow's buffers, in chunks. `feed.rs` turns it into a source:
//! strings are read by the engine's text reader, and token lists are taken as they are.

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
pub use layout::FilesRequest;

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

/// The kind of an iterable's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Strings (or bytes), which the engine splits into tokens.
    Strings,
    Lists,
}

/// Rejects what can be iterated only once.
pub fn refuse_one_shot(sentences: &Bound<'_, PyAny>) -> PyResult<()> {
    // An iterable that can start again makes a new iterator each time, and is not one itself.
    if sentences.cast::<PyIterator>().is_err() {
        return Ok(());
    }
    Err(PyValueError::new_err(
        "sentences can be read only once, and the strategies batch and word2vec read them several times; \
         give a list, or an object whose __iter__ starts again",
    ))
}

/// Rejects a single string, whose characters would each be a sentence.
pub fn refuse_one_string(sentences: &Bound<'_, PyAny>) -> PyResult<()> {
    let is_one = sentences.is_instance_of::<PyString>()
        || sentences.is_instance_of::<PyBytes>()
        || sentences.is_instance_of::<PyByteArray>();
    if !is_one {
        return Ok(());
    }
    let kind = sentences.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "sentences is a {kind}; put it into a list, as in train([text]), or pass its path to train_file"
    )))
}
