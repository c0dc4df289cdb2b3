//! Named threads. Long-lived ones are started by the [`Lifecycle`](crate::lifecycle::Lifecycle).

use std::thread::{self, JoinHandle};

use tokio::runtime::Runtime;

use crate::error::{Error, Result};

pub fn spawn<T: Send + 'static>(
    name: &str,
    run: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(run);
    thread.map_err(|error| Error::Failed(format!("cannot start the {name} thread: {error}")))
}

/// A runtime for one thread.
pub fn runtime(name: &str) -> Result<Runtime> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Error::Failed(format!("cannot start the runtime of the {name} thread: {error}")))
}
