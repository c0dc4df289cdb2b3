//! Arrays of NumPy ↔ vectors.

use std::ops::Range;

use numpy::ndarray::{ArrayView2, Dimension};
use numpy::{Element, IntoPyArray, PyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use skipstream::embeddings::Nearest;

use super::Embeddings;
use crate::call::call;

/// Finds what makes arrays, and what tells who reads and writes them.
///
/// Otherwise both are looked for at the first array, and when Ctrl-C comes then, that is a panic.
pub fn prepare_arrays(py: Python<'_>) -> PyResult<()> {
    // If it is missing or cannot be used, Python says so.
    py.import("numpy")?;
    values(&values_of(py, vec![0.0])).map(drop)
}

/// A copy of an array: the engine works without Python's lock, and somebody else may write into the array meanwhile.
pub fn values(array: &Bound<'_, PyArray1<f32>>) -> PyResult<Vec<f32>> {
    let array = array.try_readonly().map_err(|_| written_to())?;
    Ok(array.as_array().iter().copied().collect())
}

/// The rows, the columns and a copy of an array.
pub fn matrix(array: &Bound<'_, PyArray2<f32>>) -> PyResult<(usize, usize, Vec<f32>)> {
    let array = array.try_readonly().map_err(|_| written_to())?;
    let (rows, columns) = array.as_array().dim();
    if columns == 0 {
        return Err(PyValueError::new_err("the vectors have 0 values; they must have at least 1"));
    }
    Ok((rows, columns, array.as_array().iter().copied().collect()))
}

fn written_to() -> PyErr {
    PyValueError::new_err("another thread is writing into the array")
}

/// An array of values.
pub fn values_of(py: Python<'_>, values: Vec<f32>) -> Bound<'_, PyArray1<f32>> {
    values.into_pyarray(py)
}

/// An array of rows.
pub fn matrix_of<T: Element>(
    py: Python<'_>,
    values: Vec<T>,
    shape: [usize; 2],
) -> PyResult<Bound<'_, PyArray2<T>>> {
    values.into_pyarray(py).reshape(shape)
}

/// Rows, and beside them similarities.
pub type RowsAndSimilarities<'py> = (Bound<'py, PyArray2<i64>>, Bound<'py, PyArray2<f32>>);

/// Products of numbers between two looks for Ctrl-C: some hundredths of a second.
const PRODUCTS_AT_ONCE: usize = 1 << 28;

/// Asks for the rows nearest to each of so many questions, in pieces: Ctrl-C is heard between them.
pub fn nearest<'py>(
    py: Python<'py>,
    embeddings: &skipstream::Embeddings,
    n_questions: usize,
    ask: impl Fn(Range<usize>) -> skipstream::Result<Nearest> + Sync,
) -> PyResult<RowsAndSimilarities<'py>> {
    let products = (embeddings.len() * embeddings.dimensions()).max(1);
    // The engine answers eight questions together.
    let at_once = (PRODUCTS_AT_ONCE / products).next_multiple_of(8).clamp(8, 1024);
    let (mut rows, mut similarities) = (Vec::new(), Vec::new());
    let mut start = 0;
    loop {
        let end = n_questions.min(start + at_once);
        let found = call(py, || ask(start..end))?;
        if start == 0 {
            let n_answers = n_questions.saturating_mul(found.n);
            let reserved =
                rows.try_reserve_exact(n_answers).and_then(|()| similarities.try_reserve_exact(n_answers));
            reserved.map_err(|_| {
                PyMemoryError::new_err(format!(
                    "{} answers to {n_questions} questions do not fit into memory",
                    found.n
                ))
            })?;
        }
        rows.extend(found.rows.into_iter().map(|row| row as i64));
        similarities.extend(found.similarities);
        start = end;
        if start == n_questions {
            let shape = [n_questions, found.n];
            return Ok((matrix_of(py, rows, shape)?, matrix_of(py, similarities, shape)?));
        }
        py.check_signals()?;
    }
}

/// The same array, which nobody can write into.
pub fn frozen<T: Element, D: Dimension>(
    array: Bound<'_, PyArray<T, D>>,
) -> PyResult<Bound<'_, PyArray<T, D>>> {
    array.call_method1("setflags", (false,))?;
    Ok(array)
}

/// Vectors of embeddings as an array that looks at them in place and keeps them alive.
pub fn view<'py>(
    embeddings: &Bound<'py, Embeddings>,
    values: &[f32],
    dimensions: usize,
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let shape = [values.len() / dimensions, dimensions];
    let view =
        ArrayView2::from_shape(shape, values).map_err(|error| PyValueError::new_err(error.to_string()))?;
    // SAFETY: the values belong to the embeddings, which the array keeps alive, and which never change or move them.
    let array = unsafe { PyArray2::borrow_from_array(&view, embeddings.clone().into_any()) };
    // Nobody can write into it either: NumPy makes no array writable again whose owner has no buffer to write into.
    frozen(array)
}
