//! Interpreter shutdown while threads still train.
//!
//! Before Python 3.13, a daemon thread that returns to Python after shutdown is unwound where it is. Where our code
//! returns, PyO3 blocks the thread instead; but from an iterator or a callback, which is Python code, the thread is unwound
//! through our frames below, which aborts the process. So shutdown waits for a moment until all calls that run such code
//! have returned, and lets none start.

use std::cell::Cell;
use std::marker::PhantomData;
use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::exceptions::PySystemExit;
use pyo3::prelude::*;

/// How long shutdown waits. An iterator that is blocked itself never returns.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often it checks.
const PAUSE: Duration = Duration::from_millis(2);

/// The thread that shuts Python down.
static LAST: OnceLock<ThreadId> = OnceLock::new();

/// The threads inside such a call.
static INSIDE: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The nesting depth of such calls in this thread.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// A call that runs Python code, in the thread that started it, until dropped.
#[derive(Debug)]
pub struct Inside(PhantomData<*const ()>);

impl Inside {
    /// Starts, unless Python is shutting down. Nested calls always start: the outer one will return.
    pub fn enter() -> PyResult<Inside> {
        let depth = DEPTH.get();
        if depth == 0 {
            // Count first, so that either this thread sees the shutdown or the shutdown sees this thread.
            INSIDE.fetch_add(1, Ordering::SeqCst);
        }
        DEPTH.set(depth + 1);
        let inside = Inside(PhantomData);
        if depth == 0 { check().map(|()| inside) } else { Ok(inside) }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
        if DEPTH.get() == 0 {
            INSIDE.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Raises `SystemExit`, which ends a thread silently, if Python is shutting down.
pub fn check() -> PyResult<()> {
    match LAST.get() {
        Some(last) if *last != thread::current().id() => Err(PySystemExit::new_err(())),
        _ => Ok(()),
    }
}

/// Makes Python wait for us at shutdown.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let end = wrap_pyfunction!(end, module)?;
    let here = process::id();
    module.py().import("atexit")?.call_method1("register", (end, here)).map(drop)
}

/// Waits until no other thread is inside. A forked process has none of the threads counted in its parent.
#[pyfunction]
fn end(py: Python<'_>, process: u32) {
    let this_thread = thread::current().id();
    let last = LAST.get_or_init(|| this_thread);
    if process != process::id() || *last != this_thread {
        return;
    }
    let deadline = Instant::now() + PATIENCE;
    py.detach(|| {
        while INSIDE.load(Ordering::SeqCst) > 0 && Instant::now() < deadline {
            thread::sleep(PAUSE);
        }
    });
}
