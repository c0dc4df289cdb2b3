//! What a training reads: an iterable, or files.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use skipstream::corpus::{BadRecords, Files, Layout, LayoutError, LayoutRequest, Ledger, TextOptions, find};

use super::feed::{Feed, from_python};
use crate::call::call;
use crate::settings::choice;

/// What is needed of a model to open a text for it.
pub struct Model {
    pub options: TextOptions,
    /// The sources learned before.
    pub ledger: Ledger,
    /// Whether the text is read several times.
    pub in_passes: bool,
}

pub enum Request {
    /// A Python iterable, which is consumed by looking at it.
    Sentences(Py<PyAny>),
    /// Files, which can be opened without reading them.
    Files { paths: Vec<PathBuf>, layout: Layout, again: bool },
}

impl Request {
    /// Finds the files that names, folders and patterns mean, and determines their format.
    pub fn files(
        py: Python<'_>,
        paths: &[PathBuf],
        format: Option<&Bound<'_, PyAny>>,
        field: Option<String>,
        bad_records: &Bound<'_, PyAny>,
        again: bool,
    ) -> PyResult<Request> {
        let formats = ["text", "jsonl", "csv", "tsv", "parquet"];
        let format = format.map(|format| choice("format", format, &formats)).transpose()?;
        let bad_records: BadRecords = choice("bad_records", bad_records, &["error", "skip"])?;
        let found = call(py, || paths.iter().map(find).collect::<skipstream::Result<Vec<_>>>())?;
        let paths = found.concat();
        // The default means that nothing was requested.
        let bad_records = Some(bad_records).filter(|&policy| policy != BadRecords::default());
        let layout = LayoutRequest { format, field, bad_records, no_header: false }
            .of_files(&paths)
            .map_err(to_python)?;
        Ok(Request::Files { paths, layout, again })
    }

    /// Opens the text, once per pass. Of files, what is left to read.
    pub fn open(&self, py: Python<'_>, model: &Model) -> PyResult<Feed> {
        match self {
            Request::Sentences(sentences) => {
                let sentences = sentences.bind(py);
                if model.in_passes {
                    refuse_one_shot(sentences)?;
                }
                from_python(sentences, &model.options)
            }
            Request::Files { paths, layout, again } => call(py, || {
                let mut files = Files::plan(paths, &model.ledger, *again, &model.options, layout)?;
                if model.in_passes {
                    files.rewind()?;
                }
                Ok(Feed::of_files(files))
            }),
        }
    }
}

/// Rejects what can be iterated only once.
fn refuse_one_shot(sentences: &Bound<'_, PyAny>) -> PyResult<()> {
    // An iterable that can start again makes a new iterator each time, and is not one itself.
    if sentences.cast::<PyIterator>().is_err() {
        return Ok(());
    }
    Err(PyValueError::new_err(
        "sentences can be read only once, and the strategies batch and word2vec read them several times; \
         give a list, or an object whose __iter__ starts again",
    ))
}

fn to_python(unclear: LayoutError) -> PyErr {
    PyValueError::new_err(match unclear {
        LayoutError::NoRecords => {
            "field and bad_records need format \"jsonl\", \"csv\", \"tsv\" or \"parquet\": text has no records"
                .to_owned()
        }
        LayoutError::NoTable { format } => format!("no_header is for \"csv\" and \"tsv\"; {format} has no header"),
        LayoutError::NamedAsRecords { path, format } => format!(
            "{}: the name suggests {format}; pass format=\"{format}\", field=NAME to read a field, or format=\"text\" \
             to read all of it",
            path.display()
        ),
        LayoutError::NoField { format } => {
            format!("format=\"{format}\" needs field=NAME, the field with the text")
        }
    })
}
