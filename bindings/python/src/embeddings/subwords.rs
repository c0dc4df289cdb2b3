//! Estimates of words from their subwords.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use skipstream::embeddings::{SubwordOptions, Subwords};
use skipstream::formats;

use super::Embeddings;
use crate::call::call;

/// The same vectors, with a table of n-grams that is fitted to them.
pub fn with_subwords(
    py: Python<'_>,
    embeddings: &Embeddings,
    options: SubwordOptions,
) -> PyResult<Embeddings> {
    let embeddings = embeddings.get().clone();
    let subwords = call(py, || Subwords::fit(&embeddings, &options, None))?;
    Ok(Embeddings { subwords: Some(Arc::new(subwords)), ..Embeddings::new(embeddings) })
}

/// Writes the table of n-grams in floret's format.
pub fn save_floret(py: Python<'_>, embeddings: &Embeddings, path: PathBuf) -> PyResult<()> {
    let subwords = embeddings.subwords().ok_or_else(none)?;
    call(py, || formats::save_floret(subwords, path))
}

/// The table of n-grams for vectors of this length.
pub fn table(embeddings: &Embeddings, dimensions: usize) -> PyResult<&Subwords> {
    let subwords = embeddings.subwords().ok_or_else(none)?;
    if subwords.dimensions() == dimensions {
        return Ok(subwords);
    }
    Err(PyValueError::new_err(format!(
        "the subwords are of vectors with {} dimensions; these have {dimensions}",
        subwords.dimensions()
    )))
}

fn none() -> PyErr {
    PyValueError::new_err("there are no subwords: with_subwords() fits them")
}

/// The embeddings with estimates of the words among some keys; without subwords, the embeddings themselves.
pub fn estimating<'py, 'key>(
    embeddings: &Bound<'py, Embeddings>,
    keys: impl IntoIterator<Item = Bound<'key, PyAny>>,
) -> PyResult<Bound<'py, Embeddings>> {
    let this = embeddings.get();
    let Some(subwords) = &this.subwords else { return Ok(embeddings.clone()) };
    let words = keys.into_iter().filter_map(|key| {
        // A lone surrogate has no UTF-8, and so no n-grams.
        key.cast::<PyString>().ok().and_then(|word| word.to_cow().ok().map(|word| word.into_owned()))
    });
    let words: Vec<String> = words.collect();
    let estimated = call(embeddings.py(), || Ok(this.embeddings.with_estimates(subwords, &words)))?;
    Bound::new(embeddings.py(), Embeddings { subwords: Some(subwords.clone()), ..Embeddings::new(estimated) })
}
