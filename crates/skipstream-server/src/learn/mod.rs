//! Numbered lines → a model, with checkpoints that record how far it came.
//!
//! One thread owns the trainer. It reads lines from the log (`queue.rs`), trains whole batches of them (`source.rs`) and
//! publishes the result (`session.rs`). Text that does not fill a batch is learned by a fork of the trainer, which is
//! discarded after it was published. Controls of words (`controls.rs`) and snapshots with a state (`rollback.rs`) end a batch.
//! So batch boundaries depend on the lines and on these requests, never on when text arrived, in which requests, or how often the
//! service was restarted: the model is the one that `skipstream train` makes of the same lines.
//!
//! # Why a crash at any moment does no harm
//!
//! | step | a crash after it leaves | the next start |
//! |---|---|---|
//! | text is logged | lines that are in no model | learns them: the log is read from the model's position on |
//! | the model file is renamed into place | lines that the model has learned | lets the log delete them |
//! | lines are deleted, some at a time | some of those lines | continues to delete |
//!
//! The model file contains its position in the log and the times when words were seen, so that they cannot disagree. It is
//! written under a temporary name, synced and renamed, and the folder is synced, before the first line is deleted. A position
//! is the number of a line and of a sentence within it, because a batch may end in the middle of a long line.
//!
//! If the disk is full, saving fails and is retried, and the text stays in the log meanwhile. If the model has diverged,
//! learning stops and nothing is saved: the last good model and all text after it stay on disk.

mod controls;
mod memory;
mod meter;
mod model;
mod queue;
mod rollback;
mod session;
mod source;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::thread::JoinHandle;

pub use memory::memory_bound;
pub use model::Model;

use crate::error::Result;
use crate::lifecycle::LEARNER;
use crate::service::Service;
use session::Session;

/// Starts to learn the lines of the log, old and new. After [`Service::stop`], the thread finishes the current batch, saves
/// the model and ends. If the model cannot be saved, the text stays in the log.
pub fn start(service: Arc<Service>, model: Model) -> Result<JoinHandle<Result<()>>> {
    let session = Session::new(service.clone(), model)?;
    service.lifecycle.clone().spawn(LEARNER, move || {
        yield_to_others();
        let _requests = OpenRequests(service);
        session.run()
    })
}

/// Closes the requests when the learner ends, by a panic as well, so that nobody waits for an answer.
struct OpenRequests(Arc<Service>);

impl Drop for OpenRequests {
    fn drop(&mut self) {
        self.0.requests.close();
    }
}

/// Lowers the priority of this thread and of the training threads that it starts, so that queries come first. A failure does
/// no harm.
pub fn yield_to_others() {
    #[cfg(target_os = "linux")]
    {
        // Without a process id, this applies to the calling thread.
        let _ = rustix::process::setpriority_process(None, 5);
    }
}
