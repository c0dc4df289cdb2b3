//! Text from Python, as a source for the engine.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use skipstream::corpus::{
    Files, Input, Layout, Ledger, Read, Sentence, Source, TextOptions, TextReport, TokenLists,
};
use skipstream::{Error, Result};

use super::arrow::Arrow;
use super::column::Column;
use super::items::Items;
use super::{Kind, Supply};

/// The name of the text in messages.
const NAME: &str = "sentences";

/// A source that is inspected between the calls of a trainer that reads it.
pub trait Feed: Source + Send {
    fn report(&self) -> TextReport;

    /// Records what was learned, between two calls of the trainer.
    fn record_positions(&mut self, ledger: &mut Ledger) -> Result<()>;

    /// The fraction that was read, if known.
    fn fraction(&self) -> Option<f64>;

    fn missing(&self) -> u64 {
        0
    }

    /// The total time it has waited for Python.
    fn waited(&self) -> Duration {
        Duration::ZERO
    }

    /// Takes no more from Python. What was taken is still returned before the end.
    fn stop(&mut self) {}

    /// The Python error that ended it.
    fn take_error(&mut self) -> Option<PyErr> {
        None
    }

    /// The files, for those that were skipped or have no words.
    fn files(&self) -> Option<&Files> {
        None
    }
}

/// A feed with several owners: each pass over a corpus takes a source of its own.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<Box<dyn Feed>>>);

impl Shared {
    /// The first owner.
    pub fn new(feed: Box<dyn Feed>) -> Shared {
        Shared(Arc::new(Mutex::new(feed)))
    }

    /// The feed, while it is not being read.
    pub fn feed(&self) -> MutexGuard<'_, Box<dyn Feed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source for Shared {
    fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
        self.feed().read(sentence)
    }
}

pub fn from_python(sentences: &Bound<'_, PyAny>, options: &TextOptions) -> PyResult<Box<dyn Feed>> {
    let py = sentences.py();
    let supply: Box<dyn Supply> = match Column::of(sentences)? {
        Column::Arrow => match Arrow::new(sentences) {
            // pandas exports its buffers only through pyarrow.
            Err(error) if error.is_instance_of::<PyImportError>(py) => Box::new(Items::new(sentences, true)?),
            column => Box::new(column?),
        },
        Column::Objects => Box::new(Items::new(sentences, true)?),
        Column::None => Box::new(Items::new(sentences, false)?),
    };
    let supply = Tap { supply, state: State::Open, waited: Duration::ZERO };
    let to_python = |error| crate::error::to_python(py, error);
    Ok(match supply.supply.kind() {
        Kind::Lists => {
            let lists = TokenLists::new(NAME, options).map_err(to_python)?;
            Box::new(ListFeed { lists, tap: supply })
        }
        Kind::Strings => {
            let tap = Arc::new(Mutex::new(supply));
            let reader = Box::new(LineReader { tap: Arc::clone(&tap), lines: Vec::new(), next: 0 });
            let input = Input::Text { name: NAME.into(), reader };
            let files = Files::plan([input], &Ledger::default(), false, options, &Layout::Text);
            Box::new(LineFeed { files: files.map_err(to_python)?, tap })
        }
    })
}

/// A supply that can be shut.
struct Tap {
    supply: Box<dyn Supply>,
    state: State,
    /// The total time that the supply has taken.
    waited: Duration,
}

enum State {
    Open,
    /// It has ended, or no more is wanted.
    Shut,
    /// It failed. The error is taken only once.
    Failed(Option<PyErr>),
}

impl Tap {
    /// Takes from the supply, and measures the time.
    fn fill<T>(&mut self, fill: impl FnOnce(&mut dyn Supply) -> PyResult<T>) -> PyResult<T> {
        let began = Instant::now();
        let filled = fill(&mut *self.supply);
        self.waited += began.elapsed();
        filled
    }

    fn shut(&mut self) {
        if matches!(self.state, State::Open) {
            self.state = State::Shut;
        }
    }

    fn take_error(&mut self) -> Option<PyErr> {
        match &mut self.state {
            State::Failed(error) => error.take(),
            State::Open | State::Shut => None,
        }
    }
}

const RAISED: &str = "Python raised an error";

/// The engine's error when a Python error is kept here.
pub fn raised() -> Error {
    Error::Io { path: NAME.into(), source: io::Error::other(RAISED) }
}

struct ListFeed {
    lists: TokenLists,
    tap: Tap,
}

impl Source for ListFeed {
    fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
        loop {
            if self.lists.read(sentence)?.is_sentence() {
                return Ok(Read::Sentence);
            }
            match self.tap.state {
                State::Open => {}
                State::Shut => return Ok(Read::End),
                State::Failed(_) => return Err(raised()),
            }
            match self.tap.fill(|supply| supply.fill_lists(&mut self.lists)) {
                Ok(true) => {}
                Ok(false) => self.tap.state = State::Shut,
                // What came before the error is returned first.
                Err(error) => self.tap.state = State::Failed(Some(error)),
            }
        }
    }
}

impl Feed for ListFeed {
    fn report(&self) -> TextReport {
        self.lists.report().clone()
    }

    /// Tokens from lists have no position in a text.
    fn record_positions(&mut self, _: &mut Ledger) -> Result<()> {
        Ok(())
    }

    fn fraction(&self) -> Option<f64> {
        self.tap.supply.fraction()
    }

    fn missing(&self) -> u64 {
        self.tap.supply.missing()
    }

    fn waited(&self) -> Duration {
        self.tap.waited
    }

    fn stop(&mut self) {
        if self.lists.has_open() {
            self.lists.end_list();
        }
        self.tap.shut();
    }

    fn take_error(&mut self) -> Option<PyErr> {
        self.tap.take_error()
    }
}

/// Strings, read like a pipe: the same as `skipstream train -` with these lines.
struct LineFeed {
    files: Files,
    tap: Arc<Mutex<Tap>>,
}

impl LineFeed {
    fn tap(&self) -> MutexGuard<'_, Tap> {
        self.tap.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source for LineFeed {
    fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
        self.files.read(sentence)
    }
}

impl Feed for LineFeed {
    fn report(&self) -> TextReport {
        self.files.report()
    }

    fn record_positions(&mut self, ledger: &mut Ledger) -> Result<()> {
        self.files.record_positions(ledger)
    }

    fn fraction(&self) -> Option<f64> {
        self.tap().supply.fraction()
    }

    fn missing(&self) -> u64 {
        self.tap().supply.missing()
    }

    fn waited(&self) -> Duration {
        self.tap().waited
    }

    fn stop(&mut self) {
        self.tap().shut();
    }

    fn take_error(&mut self) -> Option<PyErr> {
        self.tap().take_error()
    }
}

/// Strings as bytes.
struct LineReader {
    tap: Arc<Mutex<Tap>>,
    lines: Vec<u8>,
    next: usize,
}

impl io::Read for LineReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.next == self.lines.len() {
            let mut tap = self.tap.lock().unwrap_or_else(PoisonError::into_inner);
            match tap.state {
                State::Open => {}
                State::Shut => return Ok(0),
                State::Failed(_) => return Err(io::Error::other(RAISED)),
            }
            self.lines.clear();
            self.next = 0;
            if let Err(error) = tap.fill(|supply| supply.fill_lines(&mut self.lines)) {
                // What came before the error is returned first.
                tap.state = State::Failed(Some(error));
                if self.lines.is_empty() {
                    return Err(io::Error::other(RAISED));
                }
            } else if self.lines.is_empty() {
                tap.state = State::Shut;
            }
        }
        let read = io::Read::read(&mut &self.lines[self.next..], buffer)?;
        self.next += read;
        Ok(read)
    }
}

pub struct FileFeed(pub Files);

impl Source for FileFeed {
    fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
        self.0.read(sentence)
    }
}

impl Feed for FileFeed {
    fn report(&self) -> TextReport {
        self.0.report()
    }

    fn record_positions(&mut self, ledger: &mut Ledger) -> Result<()> {
        self.0.record_positions(ledger)
    }

    fn fraction(&self) -> Option<f64> {
        let progress = self.0.progress();
        let length = progress.length().filter(|&length| length > 0)?;
        Some((progress.bytes_read() as f64 / length as f64).min(1.0))
    }

    fn files(&self) -> Option<&Files> {
        Some(&self.0)
    }
}
