//! Engine errors → Python exceptions, with remedies in terms of keyword arguments.

use std::io;
use std::path::Path;

use pyo3::exceptions::{PyKeyError, PyMemoryError, PyOSError, PyRuntimeError, PyUnicodeError, PyValueError};
use pyo3::prelude::*;
use skipstream::Error;
use skipstream::corpus::{SourceChange, TextError};
use skipstream::embeddings::VectorsError;
use skipstream::snapshot::ModelFileError;

/// The Python exception for an error of the engine.
pub fn to_python(error: Error) -> PyErr {
    let mut message = error.to_string();
    if let Some(remedy) = remedy(&error) {
        message = format!("{message}; {remedy}");
    }
    match error {
        Error::Io { path, source } => os_error(&path, &source, message),
        Error::UnknownWord { word } => PyKeyError::new_err(word),
        Error::InvalidUtf8 { .. } => PyUnicodeError::new_err(message),
        Error::OutOfMemory { .. } => PyMemoryError::new_err(message),
        Error::Setting { .. }
        | Error::Text { .. }
        | Error::SourceChanged { .. }
        | Error::ModelFile { .. }
        | Error::Format { .. }
        | Error::TestSet { .. }
        | Error::Vectors(_)
        | Error::Control(_)
        | Error::Diverged { .. }
        | Error::PassesAreOver { .. }
        | Error::ReplaysDue { .. } => PyValueError::new_err(message),
        _ => PyRuntimeError::new_err(message),
    }
}

fn remedy(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::Text { cause: TextError::Record { .. }, .. } => {
            "repair the record, or skip such records with `bad_records=\"skip\"`"
        }
        Error::Text { cause: TextError::LongRecord { .. }, .. } => {
            "look for a `\"` without a closing one; `format=\"tsv\"` does not interpret quotes"
        }
        Error::Text { cause: TextError::NoHeader { .. }, .. } => {
            "pass `no_header=True` if the first row is a record, or the name of the column"
        }
        Error::Text { cause: TextError::Binary { .. }, .. } => {
            "`force_text=True` reads it as text all the same"
        }
        Error::SourceChanged { change: SourceChange::Layout { .. }, .. } => {
            "read it as before, or use `again=True` to learn it as new text"
        }
        Error::SourceChanged { .. } => {
            "train on the new text under another name, or use `again=True` to learn the whole file as new text"
        }
        Error::ModelFile { cause: ModelFileError::OnlyVectors, .. } => {
            "a new model can start from these vectors with `Trainer(init=path)`"
        }
        Error::ModelFile { cause: ModelFileError::Sharded, .. } => "use `skipstream.ray.join(folder, path)`",
        Error::Vectors(VectorsError::NotBoth) => {
            "use `trainer.embeddings(\"joined\")` or `skipstream.load(model, \"joined\")`"
        }
        Error::Diverged { .. } => "try a smaller `learning_rate`",
        _ => return None,
    })
}

/// Given an error number, Python makes it a `FileNotFoundError`, a `PermissionError`, and so on.
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
