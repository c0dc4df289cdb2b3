//! Arrays of NumPy ↔ vectors.

use numpy::ndarray::{ArrayView2, Dimension};
use numpy::{Element, IntoPyArray, PyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use skipstream::embeddings::Query;

use super::Embeddings;
use crate::call::call;

/// Imports NumPy's C API.
///
/// Otherwise it is imported with the first array, and Ctrl-C at that moment is a panic.
pub fn prepare_arrays(py: Python<'_>) -> PyResult<()> {
    py.import("numpy")?;
    values(&vec![0.0].into_pyarray(py)).map(drop)
}

/// A copy of an array: the engine works without Python's lock, and another thread may write into the array meanwhile.
pub fn values(array: &Bound<'_, PyArray1<f32>>) -> PyResult<Vec<f32>> {
    let array = array.try_readonly().map_err(|_| written_to())?;
    Ok(array.as_array().iter().copied().collect())
}

/// The number of rows and columns, and a copy of an array.
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

/// An array of rows.
pub fn matrix_of<T: Element>(
    py: Python<'_>,
    values: Vec<T>,
    shape: [usize; 2],
) -> PyResult<Bound<'_, PyArray2<T>>> {
    values.into_pyarray(py).reshape(shape)
}

pub type RowsAndSimilarities<'py> = (Bound<'py, PyArray2<i64>>, Bound<'py, PyArray2<f32>>);

/// Multiplications between two checks for Ctrl-C: some hundredths of a second.
const PRODUCTS_AT_ONCE: usize = 1 << 28;

/// The answers to queries among the first `end` rows, which all have `n` answers, with checks for Ctrl-C.
pub fn nearest<'py, 'a>(
    py: Python<'py>,
    embeddings: &skipstream::Embeddings,
    queries: impl Iterator<Item = Query<'a>>,
    n: usize,
    end: usize,
) -> PyResult<RowsAndSimilarities<'py>> {
    let queries: Vec<Query<'a>> = queries.map(|query| query.among(0..end)).collect();
    let products = (embeddings.len() * embeddings.dimensions()).max(1);
    let at_once = (PRODUCTS_AT_ONCE / products).clamp(8, 1024);
    let (mut rows, mut similarities) = (Vec::new(), Vec::new());
    let n_answers = queries.len().saturating_mul(n);
    let reserved = rows.try_reserve_exact(n_answers).and_then(|()| similarities.try_reserve_exact(n_answers));
    reserved.map_err(|_| {
        PyMemoryError::new_err(format!("not enough memory for {n} answers to {} queries", queries.len()))
    })?;
    for queries in queries.chunks(at_once) {
        call(py, || {
            for neighbor in embeddings.search_many(queries, None)?.iter().flatten() {
                rows.push(neighbor.row as i64);
                similarities.push(neighbor.similarity);
            }
            Ok(())
        })?;
        py.check_signals()?;
    }
    let shape = [queries.len(), n];
    Ok((matrix_of(py, rows, shape)?, matrix_of(py, similarities, shape)?))
}

/// The same array, made read-only.
pub fn frozen<T: Element, D: Dimension>(
    array: Bound<'_, PyArray<T, D>>,
) -> PyResult<Bound<'_, PyArray<T, D>>> {
    array.call_method1("setflags", (false,))?;
    Ok(array)
}

/// Vectors of embeddings as an array that borrows them and keeps them alive.
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
    // NumPy makes no array writable again whose owner has no writable buffer.
    frozen(array)
}
