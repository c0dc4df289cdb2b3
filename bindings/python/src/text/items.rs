//! Sentences from an iterable.

use std::time::{Duration, Instant};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyIterator, PyString};
use skipstream::corpus::{Sentence, TextOptions, TokenLists};

use super::{CHUNK_BYTES, CHUNK_TOKENS, Kind, Supply, refuse_wrong_iterables};
use crate::ending;
use crate::error::to_python;

/// How long text is taken while the GIL is held.
const CHUNK_TIME: Duration = Duration::from_millis(20);

/// The items of an iterable, all of one kind.
pub struct Items {
    iterator: Py<PyIterator>,
    kind: Kind,
    /// The first item, which determined the kind.
    first: Option<Py<PyAny>>,
    /// The number of the last item, from 1.
    number: u64,
    length: Option<usize>,
    /// Whether missing values are skipped instead of being an error.
    skips_missing: bool,
    missing: u64,
    /// The weights of lists, if they have any.
    weights: Option<Py<PyIterator>>,
    open: Option<Open>,
}

/// A list of tokens that was taken in part, with the number of the last token.
struct Open {
    tokens: Py<PyIterator>,
    number: usize,
}

impl Items {
    /// Looks at the first item, which determines the kind of all.
    pub fn new(sentences: &Bound<'_, PyAny>, skips_missing: bool) -> PyResult<Items> {
        refuse_wrong_iterables(sentences)?;
        let iterator = sentences.try_iter().map_err(|error| {
            if !error.is_instance_of::<PyTypeError>(sentences.py()) {
                return error;
            }
            let kind = type_name(sentences);
            PyTypeError::new_err(format!(
                "sentences is {kind}; it must be an iterable of strings or of lists of tokens"
            ))
        })?;
        let mut items = Items {
            iterator: iterator.unbind(),
            kind: Kind::Lists,
            first: None,
            number: 0,
            length: sentences.len().ok(),
            skips_missing,
            missing: 0,
            weights: None,
            open: None,
        };
        if let Some(first) = items.next(sentences.py())? {
            items.kind = if is_string(&first) { Kind::Strings } else { Kind::Lists };
            items.first = Some(first.unbind());
        }
        Ok(items)
    }

    /// Lists of tokens, with a weight for each.
    pub fn with_weights(sentences: &Bound<'_, PyAny>, weights: &Bound<'_, PyAny>) -> PyResult<Items> {
        let mut items = Items::new(sentences, false)?;
        if items.kind == Kind::Strings {
            return Err(PyTypeError::new_err("weights are for lists of tokens, and sentences are strings"));
        }
        let iterator = weights.try_iter().map_err(|error| {
            if !error.is_instance_of::<PyTypeError>(weights.py()) {
                return error;
            }
            PyTypeError::new_err(format!(
                "weights is {}; it must be an iterable of numbers",
                type_name(weights)
            ))
        })?;
        items.weights = Some(iterator.unbind());
        Ok(items)
    }

    /// The weight of the last item, or the check that there are no more weights than items.
    fn next_weight(&mut self, py: Python<'_>, is_end: bool) -> PyResult<f32> {
        let Some(weights) = &self.weights else { return Ok(1.0) };
        let weight = weights.bind(py).clone().next().transpose()?;
        let number = self.number;
        let limit = Sentence::MAX_WEIGHT;
        match weight {
            None if is_end => Ok(1.0),
            None => Err(PyValueError::new_err(format!("there is no weight for item {number} of sentences"))),
            Some(_) if is_end => Err(PyValueError::new_err(format!(
                "there are more weights than sentences, which are {number}"
            ))),
            Some(weight) => match weight.extract::<f64>() {
                Ok(value) if (0.0..=f64::from(limit)).contains(&value) => Ok(value as f32),
                Ok(value) => {
                    let message = format!("weight {number} is {value:?}; it must be from 0 to {limit}");
                    Err(PyValueError::new_err(message))
                }
                Err(_) => {
                    let kind = type_name(&weight);
                    Err(PyTypeError::new_err(format!("weight {number} is {kind}; it must be a number")))
                }
            },
        }
    }

    fn next<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first.into_bound(py)));
        }
        loop {
            let Some(item) = self.iterator.bind(py).clone().next().transpose()? else {
                return Ok(None);
            };
            self.number += 1;
            if !(self.skips_missing && is_missing(&item)) {
                return Ok(Some(item));
            }
            self.missing += 1;
        }
    }

    fn take_lines(&mut self, py: Python<'_>, lines: &mut Vec<u8>) -> PyResult<()> {
        // Text without words never completes a batch, between which signals are handled too.
        ending::check()?;
        py.check_signals()?;
        let deadline = Instant::now() + CHUNK_TIME;
        while let Some(item) = self.next(py)? {
            let start = lines.len();
            if !append(&item, lines)? {
                let (number, kind) = (self.number, type_name(&item));
                let message = format!("item {number} of sentences is {kind}; those before it are strings");
                return Err(PyTypeError::new_err(message));
            }
            // An empty string is an empty line.
            if !lines[start..].ends_with(b"\n") {
                lines.push(b'\n');
            }
            if lines.len() >= CHUNK_BYTES || Instant::now() >= deadline {
                break;
            }
        }
        Ok(())
    }

    fn take_lists(&mut self, py: Python<'_>, lists: &mut TokenLists) -> PyResult<bool> {
        ending::check()?;
        py.check_signals()?;
        let deadline = Instant::now() + CHUNK_TIME;
        while lists.waiting() < CHUNK_TOKENS && Instant::now() < deadline {
            let mut open = match self.open.take() {
                Some(open) => open,
                None => match self.next(py)? {
                    Some(item) => {
                        let open = self.open_list(&item)?;
                        lists.set_weight(self.next_weight(py, false)?);
                        open
                    }
                    None => {
                        self.next_weight(py, true)?;
                        return Ok(false);
                    }
                },
            };
            if self.take_tokens(py, &mut open, lists)? {
                self.open = Some(open);
            } else {
                lists.end_list();
            }
        }
        Ok(true)
    }

    fn open_list(&self, item: &Bound<'_, PyAny>) -> PyResult<Open> {
        let wrong_type = |expected: &str| {
            let (number, kind) = (self.number, type_name(item));
            PyTypeError::new_err(format!("item {number} of sentences is {kind}; {expected}"))
        };
        if is_string(item) {
            return Err(wrong_type("those before it are lists of tokens"));
        }
        match item.try_iter() {
            Ok(iterator) => Ok(Open { tokens: iterator.unbind(), number: 0 }),
            Err(error) if error.is_instance_of::<PyTypeError>(item.py()) => {
                Err(wrong_type("it must be a string or a list of tokens"))
            }
            Err(error) => Err(error),
        }
    }

    /// Takes tokens of one sentence, at most a chunk of them. Returns whether there may be more.
    fn take_tokens(&mut self, py: Python<'_>, open: &mut Open, lists: &mut TokenLists) -> PyResult<bool> {
        let number = &mut open.number;
        let mut tokens = open.tokens.bind(py).clone();
        let last = number.saturating_add(CHUNK_TOKENS);
        while *number < last {
            let Some(token) = tokens.next().transpose()? else { return Ok(false) };
            *number += 1;
            let Ok(token) = token.cast::<PyString>() else {
                return Err(PyTypeError::new_err(format!(
                    "token {number} of item {} of sentences is {}; it must be str",
                    self.number,
                    type_name(&token)
                )));
            };
            match token.to_str() {
                Ok(token) => lists.push(token),
                Err(_) => lists.push_bytes(&encode_surrogates(token)?).map_err(to_python)?,
            }
        }
        Ok(true)
    }
}

impl Supply for Items {
    fn kind(&self) -> Kind {
        self.kind
    }

    fn fill_lines(&mut self, lines: &mut Vec<u8>) -> PyResult<()> {
        Python::try_attach(|py| self.take_lines(py, lines)).unwrap_or(Ok(()))
    }

    fn fill_lists(&mut self, lists: &mut TokenLists) -> PyResult<bool> {
        let filled = Python::try_attach(|py| self.take_lists(py, lists)).unwrap_or(Ok(false));
        if filled.is_err() {
            lists.drop_open();
        }
        filled
    }

    fn fraction(&self) -> Option<f64> {
        let length = self.length.filter(|&length| length > 0)?;
        Some((self.number as f64 / length as f64).min(1.0))
    }

    fn missing(&self) -> u64 {
        self.missing
    }
}

pub fn is_string(item: &Bound<'_, PyAny>) -> bool {
    item.is_instance_of::<PyString>()
        || item.is_instance_of::<PyBytes>()
        || item.is_instance_of::<PyByteArray>()
}

/// Appends a string or bytes. Returns false if the item is neither.
fn append(item: &Bound<'_, PyAny>, bytes: &mut Vec<u8>) -> PyResult<bool> {
    if let Ok(text) = item.cast::<PyString>() {
        // Not `to_str`, which leaves the encoded text in the string: a list of lines would take twice the memory.
        match text.encode_utf8() {
            Ok(encoded) => bytes.extend_from_slice(encoded.as_bytes()),
            Err(_) => bytes.extend(encode_surrogates(text)?),
        }
    } else if let Ok(text) = item.cast::<PyBytes>() {
        bytes.extend_from_slice(text.as_bytes());
    } else if let Ok(text) = item.cast::<PyByteArray>() {
        bytes.extend(text.to_vec());
    } else {
        return Ok(false);
    }
    Ok(true)
}

/// A string with unpaired surrogates, which are written as if they were characters. That is not valid UTF-8.
fn encode_surrogates(string: &Bound<'_, PyString>) -> PyResult<Vec<u8>> {
    // The method of `str` itself: a subclass may override it.
    let method = string.py().get_type::<PyString>().getattr("encode")?;
    let encoded = method.call1((string, "utf-8", "surrogatepass"))?;
    Ok(encoded.cast_into::<PyBytes>()?.as_bytes().to_vec())
}

/// A text whose mean vector is requested.
pub enum Text {
    Lines(Vec<u8>),
    Tokens(Box<TokenLists>),
    Missing,
}

impl Items {
    /// The next texts, up to a number.
    pub fn take_texts(
        &mut self,
        py: Python<'_>,
        most: usize,
        may_miss: bool,
        options: &TextOptions,
    ) -> PyResult<Vec<Text>> {
        let mut texts = Vec::new();
        while texts.len() < most {
            ending::check()?;
            let Some(item) = self.next(py)? else { break };
            let mut lines = Vec::new();
            texts.push(if may_miss && is_missing(&item) {
                Text::Missing
            } else if append(&item, &mut lines)? {
                Text::Lines(lines)
            } else {
                let mut lists = TokenLists::new("texts", options).map_err(to_python)?;
                let mut open = self.open_list(&item)?;
                while self.take_tokens(py, &mut open, &mut lists)? {}
                lists.end_list();
                Text::Tokens(Box::new(lists))
            });
        }
        Ok(texts)
    }
}

/// Whether a value of a table is missing: `None`, NaN, or a missing value of pandas.
fn is_missing(item: &Bound<'_, PyAny>) -> bool {
    item.is_none()
        || item.extract::<f64>().is_ok_and(f64::is_nan)
        || ["NAType", "NaTType"].contains(&type_name(item).as_str())
}

/// The name of a value's type, for messages.
fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "something".to_owned(), |name| name.to_string())
}
