//! Named threads.

use std::future::Future;
use std::thread::{self, JoinHandle};

use crate::error::{Error, Result};

pub fn spawn<T: Send + 'static>(
    name: &str,
    run: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(run);
    thread.map_err(|error| Error::Failed(format!("cannot start the {name} thread: {error}")))
}

/// Starts a thread with a runtime of its own, for work that waits for several things and also computes.
pub fn spawn_async<F: Future<Output = ()>>(
    name: &str,
    run: impl FnOnce() -> F + Send + 'static,
) -> Result<JoinHandle<()>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime
        .map_err(|error| Error::Failed(format!("cannot start the runtime of the {name} thread: {error}")))?;
    spawn(name, move || runtime.block_on(run()))
}
