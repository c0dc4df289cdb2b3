//! The end of Python, while threads still train.
//!
//! A daemon thread that comes back to Python after its end is unwound where it stands, until 3.13. Where our code comes
//! back PyO3 lets it stand still instead; but out of an iterator or a callback, which is Python's code, it is unwound
//! through our frames below, and that aborts the process. So Python waits for a moment before it ends, until all calls
//! that call such code have come back, and lets none begin.

use std::cell::Cell;
use std::marker::PhantomData;
use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::exceptions::PySystemExit;
use pyo3::prelude::*;

/// How long Python waits at its end. An iterator that waits for something itself does not come back at all.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often it looks.
const PAUSE: Duration = Duration::from_millis(2);

/// The thread in which Python ends.
static LAST: OnceLock<ThreadId> = OnceLock::new();

/// The threads that are inside.
static INSIDE: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// How many calls of this thread are inside, one within the other.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// A call that calls Python's code, in the thread that began it, until it is dropped.
#[derive(Debug)]
pub struct Inside(PhantomData<*const ()>);

impl Inside {
    /// Begins, unless Python ends. Within another call it does not matter: that one will come back.
    pub fn enter() -> PyResult<Inside> {
        let depth = DEPTH.get();
        if depth == 0 {
            // Counted first, so that either this thread sees the end, or the end sees this thread.
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

/// `SystemExit`, which ends a thread without a word, if Python ends.
pub fn check() -> PyResult<()> {
    match LAST.get() {
        Some(last) if *last != thread::current().id() => Err(PySystemExit::new_err(())),
        _ => Ok(()),
    }
}

/// Has Python wait for us before it ends.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let end = wrap_pyfunction!(end, module)?;
    let here = process::id();
    module.py().import("atexit")?.call_method1("register", (end, here)).map(drop)
}

/// Waits until no other thread is inside. A fork has none of those that were counted in the process it comes from.
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
