//! Sentences from an iterable.

use std::time::{Duration, Instant};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyIterator, PyList, PyString, PyTuple};
use skipstream::corpus::{TextOptions, TokenLists};

use super::utf8::{Encoded, Utf8, append};
use super::{Kind, Supply, refuse_one_string};
use crate::ending;
use crate::error::to_python;

/// The number of bytes taken while Python's lock is held: enough that taking the lock costs nothing, and few enough that
/// other Python threads do not wait long.
const CHUNK_TOKENS: usize = 50_000;
const CHUNK_BYTES: usize = 256 << 10;
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
    open: Option<Open>,
    utf8: Utf8,
}

/// A list of tokens that was taken in part, with the index of the next.
struct Open {
    tokens: Tokens,
    number: usize,
}

enum Tokens {
    List(Py<PyList>),
    Tuple(Py<PyTuple>),
    Iterator(Py<PyIterator>),
}

impl Items {
    /// Looks at the first item, which determines the kind of all.
    pub fn new(sentences: &Bound<'_, PyAny>, skips_missing: bool) -> PyResult<Items> {
        refuse_one_string(sentences)?;
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
            open: None,
            utf8: Utf8::default(),
        };
        if let Some(first) = items.next(sentences.py())? {
            items.kind = if is_string(&first) { Kind::Strings } else { Kind::Lists };
            items.first = Some(first.unbind());
        }
        Ok(items)
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
            if let Ok(text) = item.cast::<PyString>() {
                append(text, lines)?;
            } else if let Ok(text) = item.cast::<PyBytes>() {
                lines.extend_from_slice(text.as_bytes());
            } else if let Ok(text) = item.cast::<PyByteArray>() {
                lines.extend(text.to_vec());
            } else {
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
                    Some(item) => Open { tokens: self.tokens_of(&item)?, number: 0 },
                    None => return Ok(false),
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

    fn tokens_of(&self, item: &Bound<'_, PyAny>) -> PyResult<Tokens> {
        if let Ok(list) = item.cast_exact::<PyList>() {
            return Ok(Tokens::List(list.clone().unbind()));
        }
        if let Ok(tuple) = item.cast_exact::<PyTuple>() {
            return Ok(Tokens::Tuple(tuple.clone().unbind()));
        }
        let (number, kind) = (self.number, type_name(item));
        if is_string(item) {
            let message =
                format!("item {number} of sentences is {kind}; those before it are lists of tokens");
            return Err(PyTypeError::new_err(message));
        }
        match item.try_iter() {
            Ok(iterator) => Ok(Tokens::Iterator(iterator.unbind())),
            Err(error) if error.is_instance_of::<PyTypeError>(item.py()) => Err(PyTypeError::new_err(
                format!("item {number} of sentences is {kind}; it must be a string or a list of tokens"),
            )),
            Err(error) => Err(error),
        }
    }

    /// Takes tokens of one sentence, at most a chunk of them. Returns whether there may be more.
    fn take_tokens(&mut self, py: Python<'_>, open: &mut Open, lists: &mut TokenLists) -> PyResult<bool> {
        let Open { tokens, number } = open;
        let last = number.saturating_add(CHUNK_TOKENS);
        while *number < last {
            let token = match tokens {
                Tokens::List(list) => {
                    let list = list.bind(py);
                    // It may have become shorter since.
                    if *number < list.len() { list.get_item(*number).ok() } else { None }
                }
                Tokens::Tuple(tuple) => {
                    let tuple = tuple.bind(py);
                    if *number < tuple.len() { tuple.get_item(*number).ok() } else { None }
                }
                Tokens::Iterator(iterator) => iterator.bind(py).clone().next().transpose()?,
            };
            let Some(token) = token else { return Ok(false) };
            *number += 1;
            let Ok(token) = token.cast::<PyString>() else {
                return Err(PyTypeError::new_err(format!(
                    "token {number} of item {} of sentences is {}; it must be str",
                    self.number,
                    type_name(&token)
                )));
            };
            match self.utf8.encode(token)? {
                Encoded::Text(token) => lists.push(token),
                Encoded::Bytes(token) => lists.push_bytes(&token).map_err(|error| to_python(py, error))?,
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

fn is_string(item: &Bound<'_, PyAny>) -> bool {
    item.is_instance_of::<PyString>()
        || item.is_instance_of::<PyBytes>()
        || item.is_instance_of::<PyByteArray>()
}

/// A text whose mean vector is requested.
pub enum Text {
    Lines(Vec<u8>),
    Tokens(Box<TokenLists>),
    Missing,
}

impl Items {
    /// The next texts, up to a number.
    pub fn take_texts(&mut self, py: Python<'_>, most: usize, options: &TextOptions) -> PyResult<Vec<Text>> {
        let mut texts = Vec::new();
        while texts.len() < most {
            ending::check()?;
            let item = match self.first.take() {
                Some(first) => first.into_bound(py),
                None => match self.iterator.bind(py).clone().next().transpose()? {
                    Some(item) => {
                        self.number += 1;
                        item
                    }
                    None => break,
                },
            };
            texts.push(if self.skips_missing && is_missing(&item) {
                Text::Missing
            } else if let Ok(text) = item.cast::<PyString>() {
                let mut lines = Vec::new();
                append(text, &mut lines)?;
                Text::Lines(lines)
            } else if is_string(&item) {
                Text::Lines(item.extract()?)
            } else {
                let mut lists = TokenLists::new("texts", options).map_err(|error| to_python(py, error))?;
                let mut open = Open { tokens: self.tokens_of(&item)?, number: 0 };
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
