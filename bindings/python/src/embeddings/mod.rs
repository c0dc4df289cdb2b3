//! Word vectors to read.

use std::path::PathBuf;

use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::call::call;
use crate::error::to_python;

/// Words with their counts and vectors; never changes.
#[pyclass(frozen, module = "skipstream._engine")]
pub struct Embeddings {
    embeddings: skipstream::Embeddings,
}

impl Embeddings {
    /// For Python.
    pub fn new(embeddings: skipstream::Embeddings) -> Embeddings {
        Embeddings { embeddings }
    }
}

#[pymethods]
impl Embeddings {
    /// The vectors in a file of ours, in place.
    #[staticmethod]
    #[pyo3(signature = (path, vectors = "sum"))]
    fn open(py: Python<'_>, path: PathBuf, vectors: &str) -> PyResult<Embeddings> {
        let embeddings = call(py, || skipstream::Embeddings::open(path, vectors.parse()?))?;
        Ok(Embeddings { embeddings })
    }

    fn __len__(&self) -> usize {
        self.embeddings.len()
    }

    fn __contains__(&self, word: &str) -> bool {
        self.embeddings.index_of(word).is_some()
    }

    /// The length of every vector.
    #[getter]
    fn dimensions(&self) -> usize {
        self.embeddings.dimensions()
    }

    /// The words, in the order of rows.
    fn words<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.embeddings.words())
    }

    /// How often the word of a row was seen.
    fn count(&self, word: &str) -> Option<u64> {
        self.embeddings.known_count(self.embeddings.index_of(word)?)
    }

    /// The vector of a word.
    fn vector<'py>(&self, py: Python<'py>, word: &str) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let row = self.embeddings.row_of(word).map_err(|error| to_python(py, error))?;
        let array = PyArray1::from_slice(py, &self.embeddings.vector_at(row));
        let _ = array.readwrite().make_nonwriteable();
        Ok(array)
    }

    /// The nearest words, with their cosines.
    fn neighbors(&self, py: Python<'_>, word: &str, n: usize) -> PyResult<Vec<(String, f32)>> {
        call(py, || {
            let found = self.embeddings.neighbors(word, n)?;
            Ok(found.into_iter().map(|neighbor| (neighbor.word.to_owned(), neighbor.similarity)).collect())
        })
    }
}
