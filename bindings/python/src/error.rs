//! What went wrong, as Python's own kinds of errors.

use std::io;
use std::path::Path;

use pyo3::exceptions::{PyKeyError, PyOSError, PyRuntimeError, PyUnicodeError, PyValueError};
use pyo3::prelude::*;
use skipstream::Error;

/// What the engine advises by the names of the command line, and how that is written in Python.
const FLAGS: [(&str, &str); 4] = [
    ("`--again`", "`again=True`"),
    ("`--bad-records skip`", "`bad_records=\"skip\"`"),
    ("`--format tsv`", "`format=\"tsv\"`"),
    ("`train --init ", "`Trainer(init=…)`: `"),
];

/// The error of Python that says the same.
pub fn to_python(_py: Python<'_>, error: Error) -> PyErr {
    let message = FLAGS.iter().fold(error.to_string(), |text, (flag, argument)| text.replace(flag, argument));
    match error {
        Error::Io { path, source } => os_error(&path, &source, message),
        Error::UnknownWord { word } => PyKeyError::new_err(word),
        Error::InvalidUtf8 { .. } => PyUnicodeError::new_err(message),
        Error::Setting { .. }
        | Error::Malformed { .. }
        | Error::SourceChanged { .. }
        | Error::InvalidVectors { .. }
        | Error::Unsupported(_) => PyValueError::new_err(message),
        _ => PyRuntimeError::new_err(message),
    }
}

/// With a number, Python itself makes it a `FileNotFoundError`, a `PermissionError`, and so on.
fn os_error(path: &Path, source: &io::Error, message: String) -> PyErr {
    match source.raw_os_error() {
        Some(number) => {
            let reason = source.to_string();
            let reason = reason.split(" (os error").next().unwrap_or_default().to_owned();
            PyOSError::new_err((number, reason, path.as_os_str().to_owned()))
        }
        None => PyOSError::new_err(message),
    }
}
