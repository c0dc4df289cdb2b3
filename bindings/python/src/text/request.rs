//! What a training reads: an iterable, or files.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use skipstream::corpus::{
    BadRecords, Files, Input, Layout, LayoutError, LayoutRequest, Ledger, TextOptions, find,
};

use super::feed::{Feed, Interrupt, from_python};
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

/// How to read files, as Python names it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct FileOptions<'py> {
    format: Option<Bound<'py, PyAny>>,
    field: Option<String>,
    weight: Option<String>,
    no_header: bool,
    bad_records: Bound<'py, PyAny>,
    again: bool,
    force_text: bool,
}

/// A file, and what to do if it is not text.
type FoundFile = (PathBuf, fn(PathBuf) -> Input);

pub enum Request {
    /// A Python iterable, which is consumed by looking at it, and the weights of its items.
    Sentences(Py<PyAny>, Option<Py<PyAny>>),
    /// Files, which can be opened without reading them.
    Files { files: Vec<FoundFile>, layout: Layout, again: bool },
}

impl Request {
    /// Finds the files that names, folders and patterns mean, and determines their format.
    pub fn files(py: Python<'_>, paths: &[PathBuf], options: &FileOptions<'_>) -> PyResult<Request> {
        let FileOptions { format, field, weight, no_header, bad_records, again, force_text } = options;
        let formats = ["text", "jsonl", "csv", "tsv", "parquet"];
        let format = format.as_ref().map(|format| choice("format", format, &formats)).transpose()?;
        let bad_records: BadRecords = choice("bad_records", bad_records, &["error", "skip"])?;
        let found_by = |path: &PathBuf| {
            let found = find(path)?;
            let input = match &found[..] {
                _ if *force_text => Input::Forced,
                [file] if file == path => Input::File,
                _ => Input::Found,
            };
            Ok(found.into_iter().map(|file| (file, input as fn(PathBuf) -> Input)).collect::<Vec<_>>())
        };
        let found = call(py, || paths.iter().map(found_by).collect::<skipstream::Result<Vec<_>>>())?;
        let files = found.concat();
        // The default means that nothing was requested.
        let bad_records = Some(bad_records).filter(|&policy| policy != BadRecords::default());
        let request = LayoutRequest {
            format,
            field: field.clone(),
            bad_records,
            no_header: *no_header,
            weight: weight.clone(),
        };
        let layout = request.of_files(files.iter().map(|(file, _)| file)).map_err(to_python)?;
        Ok(Request::Files { files, layout, again: *again })
    }

    /// Opens the text, once per pass. Of files, what is left to read.
    pub fn open(&self, py: Python<'_>, model: &Model) -> PyResult<Feed> {
        match self {
            Request::Sentences(sentences, weights) => {
                let sentences = sentences.bind(py);
                let weights = weights.as_ref().map(|weights| weights.bind(py));
                if model.in_passes {
                    refuse_one_shot(sentences)?;
                    weights.map_or(Ok(()), refuse_one_shot)?;
                }
                from_python(sentences, weights, &model.options)
            }
            Request::Files { files, layout, again } => call(py, || {
                let interrupt = Interrupt::default();
                let inputs = files.iter().map(|(file, input)| {
                    let interrupt = interrupt.clone();
                    input(file.clone()).interruptible(move || interrupt.check())
                });
                let mut files = Files::plan(inputs, &model.ledger, *again, &model.options, layout)?;
                if model.in_passes {
                    files.rewind()?;
                }
                Ok(Feed::of_files(files, interrupt))
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
            "field, weight and bad_records need format \"jsonl\", \"csv\", \"tsv\" or \"parquet\": text has no records"
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
