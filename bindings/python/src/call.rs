//! A call of the engine: other Python threads run meanwhile, and nothing but Python's own errors comes back.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::error::to_python;

/// Calls the engine without Python's lock.
///
/// A panic is a mistake of ours. It must not be a `PanicException`, which `except Exception` does not catch.
pub fn call<T: Send>(py: Python<'_>, work: impl FnOnce() -> skipstream::Result<T> + Send) -> PyResult<T> {
    py.detach(|| caught(work))
        .map_err(|reason| {
            PyRuntimeError::new_err(format!("skipstream made a mistake, please report it: {reason}"))
        })?
        .map_err(|error| to_python(py, error))
}

/// Does some work, or says why it panicked.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| message(&*panic).to_owned())
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("it did not say why")
}
