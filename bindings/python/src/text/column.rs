//! Recognizes columns of tables among iterables.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The kind of a value that may hold sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// A column whose values are in Arrow's buffers.
    Arrow,
    /// A column of Python objects, some of which may be missing.
    Objects,
    /// Not a column.
    None,
}

impl Column {
    /// Inspects a value. A whole table is an error, because its column of text cannot be guessed.
    pub fn of(value: &Bound<'_, PyAny>) -> PyResult<Column> {
        let kind = value.get_type();
        let module = kind.module().map(|module| module.to_string_lossy().into_owned()).unwrap_or_default();
        let name = kind.name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let is_pandas = module.split('.').next() == Some("pandas");
        if is_pandas && name == "DataFrame" {
            return Err(choose_column(&name));
        }
        // Any object may have any attribute, for instance one that raises an error.
        let has = |method: &str| kind.hasattr(method).unwrap_or(false);
        let has_buffers = has("__arrow_c_stream__") || has("__arrow_c_array__");
        if is_pandas && (name == "Series" || name == "Index") {
            let is_object = value.getattr("dtype")?.str()?.to_string_lossy() == "object";
            return Ok(if has_buffers && !is_object { Column::Arrow } else { Column::Objects });
        }
        Ok(if has_buffers { Column::Arrow } else { Column::None })
    }
}

/// The error for a table.
pub fn choose_column(what: &str) -> PyErr {
    PyValueError::new_err(format!(
        "sentences is a {what}; choose the column that is text, as in train(table[\"text\"])"
    ))
}
