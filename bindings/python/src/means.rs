//! The vectors of texts.

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use skipstream::corpus::{Lines, Source, TextOptions};
use skipstream::embeddings::{DocumentOptions, DocumentWords, Weighting};

use crate::embeddings::Embeddings;
use crate::settings::choice;
use crate::text::{Column, Items, Text};

/// Texts per call of the engine.
const TEXTS_AT_ONCE: usize = 1_000;

/// The options that were given in Python.
pub fn options<'a>(
    weighting: &Bound<'_, PyAny>,
    normalize: bool,
    subwords: Option<&'a Embeddings>,
    dimensions: usize,
) -> PyResult<DocumentOptions<'a>> {
    let weighting = choice("weighting", weighting, &Weighting::NAMES)?;
    let subwords = subwords.map(|embeddings| embeddings.table(dimensions)).transpose()?;
    Ok(DocumentOptions::default().weighting(weighting).normalize(normalize).subwords(subwords))
}

/// The vectors of texts, one row each. `add` appends those of some texts.
pub fn of_texts<'py>(
    py: Python<'py>,
    texts: &Bound<'py, PyAny>,
    dimensions: usize,
    text: &TextOptions,
    mut add: impl FnMut(Vec<Text>, &mut Vec<f32>) -> PyResult<()>,
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let column = Column::of(texts)?;
    // Iterating over a column of buffers gives values of its own types.
    let texts = match texts.getattr_opt("to_pylist")? {
        Some(to_list) if column == Column::Arrow => &to_list.call0()?,
        _ => texts,
    };
    let mut items = Items::new(texts, false)?;
    let mut rows: Vec<f32> = Vec::new();
    loop {
        // Neither lists nor the engine run Python code, so check for Ctrl-C here.
        py.check_signals()?;
        let chunk = items.take_texts(py, TEXTS_AT_ONCE, column != Column::None, text)?;
        if chunk.is_empty() {
            let n_texts = rows.len() / dimensions;
            return PyArray1::from_vec(py, rows).reshape([n_texts, dimensions]);
        }
        add(chunk, &mut rows)?;
    }
}

/// Appends the vectors of some texts, which `mean` writes; zeros for a missing text.
pub fn append(
    texts: Vec<Text>,
    dimensions: usize,
    text: &TextOptions,
    rows: &mut Vec<f32>,
    mean: impl Fn(&mut dyn Source, &mut [f32]) -> skipstream::Result<DocumentWords>,
) -> skipstream::Result<()> {
    for one in texts {
        let start = rows.len();
        rows.resize(start + dimensions, 0.0);
        match one {
            Text::Lines(lines) => mean(&mut Lines::new(&lines[..], "texts", text)?, &mut rows[start..])?,
            Text::Tokens(mut lists) => mean(&mut *lists, &mut rows[start..])?,
            Text::Missing => continue,
        };
    }
    Ok(())
}
