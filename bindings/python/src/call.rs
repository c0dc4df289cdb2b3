//! Calls into the engine: without the GIL, and with panics turned into Python exceptions.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::error::to_python;

/// Calls the engine without the GIL.
///
/// A panic is a bug of ours. It must not surface as `PanicException`, which `except Exception` does not catch.
pub fn call<T: Send>(py: Python<'_>, work: impl FnOnce() -> skipstream::Result<T> + Send) -> PyResult<T> {
    py.detach(|| caught(work))
        .map_err(|reason| {
            PyRuntimeError::new_err(format!("internal error in skipstream, please report it: {reason}"))
        })?
        .map_err(to_python)
}

/// Runs a closure and returns the panic message if it panics.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| message(&*panic).to_owned())
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("it did not say why")
}
