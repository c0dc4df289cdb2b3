//! Keys of words: the words themselves, or their rows.

use numpy::PyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyInt, PyList, PyString, PyType};
use skipstream::embeddings::Term;

use super::{Embeddings, values};

/// The row of a key, if it exists; an error if the key is neither a word nor a row.
pub fn find(embeddings: &skipstream::Embeddings, key: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    if let Ok(word) = key.cast::<PyString>() {
        // No word has a lone surrogate, which Python's strings may have.
        return Ok(word.to_cow().ok().and_then(|word| embeddings.index_of(&word)));
    }
    let is_number = key.is_instance_of::<PyInt>() || key.hasattr("__index__")?;
    if key.is_instance_of::<PyBool>() || !is_number || key.hasattr("__len__")? {
        let kind = key.get_type().name()?;
        return Err(PyTypeError::new_err(format!("a key is a word (str) or a row (int), not {kind}")));
    }
    // A number that does not fit is not a row either.
    Ok(key.extract::<usize>().ok().filter(|&row| row < embeddings.len()))
}

pub fn row(embeddings: &Bound<'_, Embeddings>, key: &Bound<'_, PyAny>) -> PyResult<usize> {
    find(embeddings.get().get(), key)?.ok_or_else(|| unknown_word(embeddings, key))
}

pub fn rows(embeddings: &Bound<'_, Embeddings>, keys: &Bound<'_, PyList>) -> PyResult<Vec<usize>> {
    keys.iter().map(|key| row(embeddings, &key)).collect()
}

pub fn words(list: &Bound<'_, PyList>) -> PyResult<Vec<String>> {
    let word = |(place, word): (usize, Bound<'_, PyAny>)| match word.cast::<PyString>() {
        Ok(word) => Ok(word.to_cow()?.into_owned()),
        Err(_) => {
            let kind = word.get_type().name()?;
            Err(PyTypeError::new_err(format!("words[{place}] is {kind}; it must be str")))
        }
    };
    list.iter().enumerate().map(word).collect()
}

/// Words and vectors.
pub fn terms(embeddings: &Bound<'_, Embeddings>, terms: &[Bound<'_, PyAny>]) -> PyResult<Vec<Term<'static>>> {
    let term = |term: &Bound<'_, PyAny>| match term.cast::<PyArray1<f32>>() {
        Ok(vector) => Ok(Term::from(values(vector)?)),
        Err(_) => Ok(Term::Row(row(embeddings, term)?)),
    };
    terms.iter().map(term).collect()
}

/// A `KeyError` that suggests other spellings, and searches for them only when it is shown.
fn unknown_word(embeddings: &Bound<'_, Embeddings>, key: &Bound<'_, PyAny>) -> PyErr {
    static UNKNOWN_WORD: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    match UNKNOWN_WORD.import(embeddings.py(), "skipstream._errors", "UnknownWord") {
        Ok(kind) => PyErr::from_type(kind.clone(), (key.clone().unbind(), embeddings.clone().unbind())),
        Err(error) => error,
    }
}
