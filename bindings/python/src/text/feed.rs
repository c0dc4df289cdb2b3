//! Text from Python, as a source for the engine.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use skipstream::corpus::{
    Files, Input, Layout, Ledger, Passage, Read, Sentence, Source, TextOptions, TextReport, TokenLists,
};
use skipstream::{Error, Result};

use super::arrow::Arrow;
use super::column::Column;
use super::items::Items;
use super::{Kind, Supply};
use crate::ending;
use crate::error::to_python;

/// The name of the text in messages.
const NAME: &str = "sentences";

/// A source that is inspected between the calls of a trainer that reads it.
pub struct Feed {
    text: Text,
    /// The supply of text from Python.
    tap: Option<Arc<Mutex<Tap>>>,
    interrupt: Interrupt,
}

/// What a signal handler raised while the engine waited for a pipe.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<Mutex<Option<PyErr>>>);

impl Interrupt {
    /// Fails if Python is shutting down or a signal handler raises an error.
    pub fn check(&self) -> io::Result<()> {
        let signals = || Python::try_attach(|py| py.check_signals()).unwrap_or(Ok(()));
        ending::check().and_then(|()| signals()).map_err(|error| {
            *lock(&self.0) = Some(error);
            io::Error::other(RAISED)
        })
    }
}

enum Text {
    /// Files, or strings, which are read like a pipe: the same as `skipstream train -` with these lines.
    Files(Box<Files>),
    Lists(Box<TokenLists>),
}

impl Feed {
    pub fn of_files(files: Files, interrupt: Interrupt) -> Feed {
        Feed { text: Text::Files(Box::new(files)), tap: None, interrupt }
    }

    pub fn report(&self) -> TextReport {
        match &self.text {
            Text::Files(files) => files.report(),
            Text::Lists(lists) => lists.report().clone(),
        }
    }

    /// Records what was learned, between two calls of the trainer. Tokens from lists have no position in a text.
    pub fn record_positions(&mut self, ledger: &mut Ledger) -> Result<()> {
        match &mut self.text {
            Text::Files(files) => files.record_positions(ledger),
            Text::Lists(_) => Ok(()),
        }
    }

    /// The fraction that was read, if known.
    pub fn fraction(&self) -> Option<f64> {
        if let Some(tap) = self.tap() {
            return tap.supply.fraction();
        }
        let progress = self.files()?.progress();
        let length = progress.length().filter(|&length| length > 0)?;
        Some((progress.bytes_read() as f64 / length as f64).min(1.0))
    }

    pub fn missing(&self) -> u64 {
        self.tap().map_or(0, |tap| tap.supply.missing())
    }

    /// The total time it has waited for Python.
    pub fn waited(&self) -> Duration {
        self.tap().map_or(Duration::ZERO, |tap| tap.waited)
    }

    /// Takes no more from Python. What was taken is still returned before the end.
    pub fn stop(&mut self) {
        if let Text::Lists(lists) = &mut self.text
            && lists.has_open()
        {
            lists.end_list();
        }
        if let Some(mut tap) = self.tap()
            && matches!(tap.state, State::Open)
        {
            tap.state = State::Shut;
        }
    }

    /// The Python error that ended it.
    pub fn take_error(&mut self) -> Option<PyErr> {
        if let Some(error) = lock(&self.interrupt.0).take() {
            return Some(error);
        }
        match &mut self.tap()?.state {
            State::Failed(error) => error.take(),
            State::Open | State::Shut => None,
        }
    }

    /// The files, unless the text is from Python.
    pub fn files(&self) -> Option<&Files> {
        match &self.text {
            Text::Files(files) if self.tap.is_none() => Some(files),
            _ => None,
        }
    }

    fn tap(&self) -> Option<MutexGuard<'_, Tap>> {
        self.tap.as_deref().map(lock)
    }
}

impl Source for Feed {
    fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
        let lists = match &mut self.text {
            Text::Files(files) => return files.read(sentence),
            Text::Lists(lists) => lists,
        };
        loop {
            if lists.read(sentence)?.is_sentence() {
                return Ok(Read::Sentence);
            }
            let mut tap = lock(self.tap.as_deref().expect("lists are from Python"));
            match tap.state {
                State::Open => {}
                State::Shut => return Ok(Read::End),
                State::Failed(_) => return Err(raised()),
            }
            match tap.fill(|supply| supply.fill_lists(lists)) {
                Ok(true) => {}
                Ok(false) => tap.state = State::Shut,
                // What came before the error is returned first.
                Err(error) => tap.state = State::Failed(Some(error)),
            }
        }
    }

    fn cut(&mut self, max_bytes: usize) -> Option<Passage> {
        match &mut self.text {
            Text::Files(files) => files.cut(max_bytes),
            Text::Lists(_) => None,
        }
    }

    fn put_back(&mut self, passage: Passage) {
        match &mut self.text {
            Text::Files(files) => files.put_back(passage),
            Text::Lists(_) => unreachable!("only files have passages"),
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A feed with several owners: each pass over a corpus takes a source of its own.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<Feed>>);

impl Shared {
    /// The first owner.
    pub fn new(feed: Feed) -> Shared {
        Shared(Arc::new(Mutex::new(feed)))
    }

    /// The feed, while it is not being read.
    pub fn feed(&self) -> MutexGuard<'_, Feed> {
        lock(&self.0)
    }
}

impl Source for Shared {
    fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
        self.feed().read(sentence)
    }

    fn cut(&mut self, max_bytes: usize) -> Option<Passage> {
        self.feed().cut(max_bytes)
    }

    fn put_back(&mut self, passage: Passage) {
        self.feed().put_back(passage);
    }
}

pub fn from_python(
    sentences: &Bound<'_, PyAny>,
    weights: Option<&Bound<'_, PyAny>>,
    options: &TextOptions,
) -> PyResult<Feed> {
    let py = sentences.py();
    let supply: Box<dyn Supply> = match (Column::of(sentences)?, weights) {
        (_, Some(weights)) => Box::new(Items::with_weights(sentences, weights)?),
        (Column::Arrow, None) => match Arrow::new(sentences) {
            // pandas exports its buffers only through pyarrow.
            Err(error) if error.is_instance_of::<PyImportError>(py) => Box::new(Items::new(sentences, true)?),
            column => Box::new(column?),
        },
        (Column::Objects, None) => Box::new(Items::new(sentences, true)?),
        (Column::None, None) => Box::new(Items::new(sentences, false)?),
    };
    let kind = supply.kind();
    let tap = Arc::new(Mutex::new(Tap { supply, state: State::Open, waited: Duration::ZERO }));
    let text = match kind {
        Kind::Lists => TokenLists::new(NAME, options).map(|lists| Text::Lists(Box::new(lists))),
        Kind::Strings => {
            let reader = Box::new(LineReader { tap: Arc::clone(&tap), lines: Vec::new(), next: 0 });
            let input = Input::Text { name: NAME.into(), reader };
            let files = Files::plan([input], &Ledger::default(), false, options, &Layout::Text);
            files.map(|files| Text::Files(Box::new(files)))
        }
    };
    Ok(Feed { text: text.map_err(to_python)?, tap: Some(tap), interrupt: Interrupt::default() })
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
}

const RAISED: &str = "Python raised an error";

/// The engine's error when a Python error is kept here.
pub fn raised() -> Error {
    Error::Io { path: NAME.into(), source: io::Error::other(RAISED) }
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
            let mut tap = lock(&self.tap);
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
