//! Arrays of NumPy ↔ vectors.

use numpy::ndarray::ArrayView2;
use numpy::{
    Element, IntoPyArray, PyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use skipstream::embeddings::Nearest;

use super::Embeddings;

/// A copy of an array: the engine works without Python's lock, and somebody else may write into the array meanwhile.
pub fn values(array: &PyReadonlyArray1<'_, f32>) -> PyResult<Vec<f32>> {
    Ok(array.as_array().iter().copied().collect())
}

/// The rows, the columns and a copy of an array.
pub fn matrix(array: &PyReadonlyArray2<'_, f32>) -> PyResult<(usize, usize, Vec<f32>)> {
    let [rows, columns] = [array.shape()[0], array.shape()[1]];
    if columns == 0 {
        return Err(PyValueError::new_err("the vectors have 0 values; they must have at least 1"));
    }
    Ok((rows, columns, array.as_array().iter().copied().collect()))
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

/// The rows and the similarities that were found for so many questions.
pub fn nearest(py: Python<'_>, nearest: Nearest, n_questions: usize) -> PyResult<RowsAndSimilarities<'_>> {
    let shape = [n_questions, nearest.n];
    let rows = nearest.rows.into_iter().map(|row| row as i64).collect();
    Ok((matrix_of(py, rows, shape)?, matrix_of(py, nearest.similarities, shape)?))
}

/// The same array, which nobody can write into.
pub fn frozen<T: Element, D: numpy::ndarray::Dimension>(
    array: Bound<'_, PyArray<T, D>>,
) -> Bound<'_, PyArray<T, D>> {
    let _ = array.readwrite().make_nonwriteable();
    array
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
    Ok(frozen(array))
}
