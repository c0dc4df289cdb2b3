//! Files named by Python, and their format.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use skipstream::corpus::{BadRecords, Files, Layout, LayoutError, LayoutRequest, Ledger, TextOptions, find};

use super::feed::FileFeed;
use crate::call::call;
use crate::settings::{choice, optional};

pub struct FilesRequest {
    paths: Vec<PathBuf>,
    layout: Layout,
    again: bool,
}

impl FilesRequest {
    /// Finds the files that names, folders and patterns mean, and determines their format.
    pub fn find(
        py: Python<'_>,
        paths: &[PathBuf],
        format: &Bound<'_, PyAny>,
        field: Option<String>,
        bad_records: &Bound<'_, PyAny>,
        again: bool,
    ) -> PyResult<FilesRequest> {
        let formats = ["text", "jsonl", "csv", "tsv", "parquet"];
        let format = optional(format, |format| choice("format", format, &formats))?;
        let bad_records: BadRecords = choice("bad_records", bad_records, &["error", "skip"])?;
        let found = call(py, || paths.iter().map(find).collect::<skipstream::Result<Vec<_>>>())?;
        let paths = found.concat();
        // The default means that nothing was requested.
        let bad_records = Some(bad_records).filter(|&policy| policy != BadRecords::default());
        let layout = LayoutRequest { format, field, bad_records }.of_files(&paths).map_err(to_python)?;
        Ok(FilesRequest { paths, layout, again })
    }

    /// What is left to read of them, for one or several passes.
    pub fn open(
        &self,
        py: Python<'_>,
        options: &TextOptions,
        ledger: &Ledger,
        in_passes: bool,
    ) -> PyResult<FileFeed> {
        let FilesRequest { paths, layout, again } = self;
        call(py, || {
            let mut files = Files::plan(paths, ledger, *again, options, layout)?;
            if in_passes {
                files.rewind()?;
            }
            Ok(FileFeed(files))
        })
    }
}

fn to_python(unclear: LayoutError) -> PyErr {
    PyValueError::new_err(match unclear {
        LayoutError::NoRecords => {
            "field and bad_records need format \"jsonl\", \"csv\", \"tsv\" or \"parquet\": text has no records"
                .to_owned()
        }
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
