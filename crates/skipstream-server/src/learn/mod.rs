//! Numbered lines → a model, with checkpoints that say how far it came.
//!
//! One thread owns the trainer. It reads lines from the log (`queue.rs`), trains whole batches of them (`source.rs`), and
//! publishes what came of it (`session.rs`). Text that does not fill a batch is learned by a fork of the trainer, which is
//! thrown away after it was shown. So the borders of batches depend on the lines alone, never on when they came, in which
//! requests, or how often the service was started: the model is what `skipstream train` makes of the same lines, and so is
//! what is published when all of them are learned.
//!
//! # Why a crash at any moment does no harm
//!
//! A checkpoint is made in these steps. The state of the disk between two of them is what a crash leaves.
//!
//! | step | a crash behind it leaves | and the next start |
//! |---|---|---|
//! | text is logged | lines that are in no model | learns them: the log is read from the model's place on |
//! | the words' times are written, under the new place's name | the old model and its times, and a file that nobody names | removes that file |
//! | the model is renamed into its place | the new model with the new times, which its notes name; the old times and old lines | removes both |
//! | the old times are removed | lines that the model holds | lets the log forget them |
//! | lines are deleted, some at a time | some of those lines | goes on deleting |
//!
//! The model's file has its place in the log within it, so that the two cannot disagree; it is synced, then renamed, then
//! the folder is synced, all before the first line is deleted. A file that is half written has another name. A place is the
//! number of a line and of a sentence within it, because a batch may end in the middle of a long line.
//!
//! What can go wrong without a crash: where the disk is full, saving fails and is tried again, and the text stays in the log
//! meanwhile. Where the model has diverged, learning ends and nothing is saved: the last good model and all text behind it
//! stay on disk.

mod memory;
mod meter;
mod model;
mod position;
mod queue;
mod session;
mod source;
#[cfg(test)]
mod tests;
mod times;
mod times_file;

use std::sync::Arc;
use std::thread::{self, JoinHandle};

pub use memory::MemoryBound;
pub use model::Model;

use crate::error::{Error, Result};
use crate::service::Service;
use crate::status::Status;
use session::Session;

/// The thread that learns.
#[derive(Debug)]
pub struct Learner {
    thread: JoinHandle<Result<()>>,
}

impl Learner {
    /// Starts to learn what is in the log and what comes.
    pub fn start(service: Arc<Service>, model: Model) -> Result<Learner> {
        let session = Session::new(service.clone(), model)?;
        let thread = thread::Builder::new().name("learner".to_owned()).spawn(move || {
            let _alarm = Alarm(session.service().clone());
            yield_to_others();
            session.run()
        });
        let thread = thread.map_err(|error| Error::Data {
            path: service.settings.data.clone(),
            reason: format!("no thread for learning: {error}"),
        })?;
        Ok(Learner { thread })
    }

    /// Whether it has come to its end.
    pub fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits for its end, after [`Service::stop`]: the batch in hand is learned and the model is saved. An error says why it
    /// is not; the text stays in the log then.
    pub fn join(self) -> Result<()> {
        self.thread.join().unwrap_or_else(|_| Err(Error::Failed(DEFECT.to_owned())))
    }
}

/// What is told when the thread has panicked.
const DEFECT: &str =
    "learning has ended by a defect of the program; its text stays in the log: start it again";

/// Ends the service if the thread ends by a panic: who looks after the service may start it again, and nothing is lost.
struct Alarm(Arc<Service>);

impl Drop for Alarm {
    fn drop(&mut self) {
        if thread::panicking() {
            let status = Status { problem: Some(DEFECT.to_owned()), ..(**self.0.status.load()).clone() };
            self.0.status.store(Arc::new(status));
            self.0.requests.close();
            self.0.stop();
        }
    }
}

/// Questions go before learning: the threads that train have a lower priority, which they have from this one. Where that
/// cannot be had, learning is only less polite.
fn yield_to_others() {
    #[cfg(target_os = "linux")]
    {
        // Without a process, this is about the calling thread.
        let _ = rustix::process::setpriority_process(None, 5);
    }
}
