//! The lifecycle of the service: its long-lived threads, its problems, and its shutdown.
//!
//! Shutdown has two steps. While the service *drains*, it is not ready and accepts no new text, but answers queries. When it
//! *stops*, its connections are closed and its threads end. One cancellation token with a child says both: whatever stops
//! has also drained.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use tokio_util::sync::CancellationToken;

use crate::error::{Error, Result};
use crate::threads;

/// The lifecycle of a service. A clone is the same lifecycle.
#[derive(Clone, Debug, Default)]
pub struct Lifecycle(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    stop: CancellationToken,
    /// A child of `stop`.
    drain: CancellationToken,
    /// Whether each long-lived thread runs.
    threads: Mutex<BTreeMap<String, bool>>,
    problems: Mutex<BTreeMap<Task, String>>,
    /// Threads that tests make panic.
    #[cfg(test)]
    doomed: tokio::sync::watch::Sender<String>,
}

/// What the service does besides answering queries, the most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Task {
    /// Storing text.
    Log,
    /// Learning text.
    Learn,
    /// Saving the model.
    Save,
}

impl Default for Inner {
    fn default() -> Inner {
        let stop = CancellationToken::new();
        Inner {
            drain: stop.child_token(),
            stop,
            threads: Mutex::default(),
            problems: Mutex::default(),
            #[cfg(test)]
            doomed: Default::default(),
        }
    }
}

impl Lifecycle {
    /// Starts to drain.
    pub fn drain(&self) {
        self.0.drain.cancel();
    }

    /// Whether the service drains or has stopped.
    pub fn is_draining(&self) -> bool {
        self.0.drain.is_cancelled()
    }

    /// Returns when the service drains or stops.
    pub async fn draining(&self) {
        self.0.drain.cancelled().await;
    }

    /// Stops.
    pub fn stop(&self) {
        self.0.stop.cancel();
    }

    /// Whether the service has stopped.
    pub fn is_stopping(&self) -> bool {
        self.0.stop.is_cancelled()
    }

    /// Returns when the service stops.
    pub async fn stopping(&self) {
        self.0.stop.cancelled().await;
    }

    /// Starts a thread that should run until the service stops. If it ends before, the service is not ready.
    pub fn spawn<T: Send + 'static>(
        &self,
        name: &str,
        run: impl FnOnce() -> T + Send + 'static,
    ) -> Result<JoinHandle<T>> {
        let running = Running { lifecycle: self.clone(), name: name.to_owned() };
        self.threads().insert(name.to_owned(), true);
        threads::spawn(name, move || {
            let _running = running;
            run()
        })
    }

    /// Starts a thread with a runtime of its own, for work that waits for several things and also computes.
    pub fn spawn_async<F: Future<Output = ()>>(
        &self,
        name: &str,
        run: impl FnOnce() -> F + Send + 'static,
    ) -> Result<JoinHandle<()>> {
        let runtime = threads::runtime(name)?;
        #[cfg(test)]
        let (lifecycle, doomed) = (self.clone(), name.to_owned());
        self.spawn(name, move || {
            runtime.block_on(async {
                #[cfg(test)]
                tokio::select! {
                    () = lifecycle.doom(&doomed) => panic!("{doomed} is doomed"),
                    () = run() => {}
                }
                #[cfg(not(test))]
                run().await;
            });
            // Does not wait for what blocks, such as the name of a host that is looked up.
            runtime.shutdown_background();
        })
    }

    /// Each long-lived thread, and whether it runs.
    pub fn list_threads(&self) -> Vec<(String, bool)> {
        self.threads().iter().map(|(name, runs)| (name.clone(), *runs)).collect()
    }

    /// Records what is wrong with a task, without paths, or that nothing is.
    pub fn set_problem(&self, task: Task, problem: Option<String>) {
        let mut problems = self.0.problems.lock().unwrap_or_else(PoisonError::into_inner);
        match problem {
            Some(problem) => problems.insert(task, problem),
            None => problems.remove(&task),
        };
    }

    /// What is wrong, the most important first: a thread that has ended, or a task with a problem.
    pub fn problem(&self) -> Option<String> {
        let ended = self.threads().iter().find(|(_, runs)| !**runs).map(|(name, _)| ended(name));
        ended.or_else(|| {
            let problems = self.0.problems.lock().unwrap_or_else(PoisonError::into_inner);
            problems.values().next().cloned()
        })
    }

    /// Whether new text is accepted. A log that cannot be written says so itself, and recovers by itself.
    pub fn check_text(&self) -> Result<()> {
        if self.is_draining() {
            return Err(Error::Stopping);
        }
        self.check_learning()
    }

    /// Whether text can be stored and learned.
    pub fn check_learning(&self) -> Result<()> {
        for name in [LOG, LEARNER] {
            if self.threads().get(name) == Some(&false) {
                return Err(Error::NotReady(ended(name)));
            }
        }
        let problems = self.0.problems.lock().unwrap_or_else(PoisonError::into_inner);
        problems.get(&Task::Learn).map_or(Ok(()), |problem| Err(Error::NotReady(problem.clone())))
    }

    /// The error of a thread that does not answer any more.
    pub fn gone(&self, name: &str) -> Error {
        if self.is_stopping() { Error::Stopping } else { Error::NotReady(ended(name)) }
    }

    fn threads(&self) -> MutexGuard<'_, BTreeMap<String, bool>> {
        self.0.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a thread panic.
    #[cfg(test)]
    pub fn kill(&self, name: &str) {
        self.0.doomed.send_replace(name.to_owned());
    }

    #[cfg(test)]
    pub fn die_if_doomed(&self, name: &str) {
        assert!(*self.0.doomed.borrow() != name, "{name} is doomed");
    }

    /// Returns when a thread should panic.
    #[cfg(test)]
    pub async fn doom(&self, name: &str) {
        let _ = self.0.doomed.subscribe().wait_for(|doomed| doomed == name).await;
    }
}

/// The names of the threads without which there is no new text.
pub const LOG: &str = "log";
pub const LEARNER: &str = "learner";

fn ended(name: &str) -> String {
    format!("the thread `{name}` has ended (this is a bug); no accepted text is lost: restart the service")
}

/// Notices the end of a thread, by a panic as well.
struct Running {
    lifecycle: Lifecycle,
    name: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        let Running { lifecycle, name } = self;
        if lifecycle.is_stopping() && !thread::panicking() {
            lifecycle.threads().remove(name);
        } else {
            lifecycle.threads().insert(name.clone(), false);
            tracing::error!(thread = name, panicked = thread::panicking(), "a thread has ended");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_stops_has_drained() {
        let lifecycle = Lifecycle::default();
        assert!(!lifecycle.is_draining() && lifecycle.check_text().is_ok());
        lifecycle.drain();
        assert!(lifecycle.is_draining() && !lifecycle.is_stopping());
        assert!(matches!(lifecycle.check_text(), Err(Error::Stopping)));
        let lifecycle = Lifecycle::default();
        lifecycle.stop();
        assert!(lifecycle.is_draining() && lifecycle.is_stopping());
    }

    #[test]
    fn a_thread_that_panics_or_returns_too_early_is_a_problem() {
        let ends: [fn(); 2] = [|| {}, || panic!("on purpose")];
        for end in ends {
            let lifecycle = Lifecycle::default();
            let _ = lifecycle.spawn(LOG, end).unwrap().join();
            assert_eq!(lifecycle.list_threads(), [(LOG.to_owned(), false)]);
            let problem = lifecycle.problem().unwrap();
            assert!(problem.starts_with("the thread `log` has ended"), "{problem}");
            assert!(matches!(lifecycle.check_text(), Err(Error::NotReady(reason)) if reason == problem));
        }
    }

    #[test]
    fn a_thread_may_end_when_the_service_stops() {
        let lifecycle = Lifecycle::default();
        let waiting = lifecycle.clone();
        let thread = lifecycle.spawn_async("other", move || async move { waiting.stopping().await }).unwrap();
        assert_eq!(lifecycle.list_threads(), [("other".to_owned(), true)]);
        lifecycle.stop();
        thread.join().unwrap();
        assert_eq!(lifecycle.problem(), None);
    }

    #[test]
    fn the_most_important_problem_comes_first() {
        let lifecycle = Lifecycle::default();
        lifecycle.set_problem(Task::Save, Some("save".to_owned()));
        assert!(lifecycle.check_text().is_ok(), "text waits in the log");
        lifecycle.set_problem(Task::Learn, Some("learn".to_owned()));
        assert_eq!(lifecycle.problem().as_deref(), Some("learn"));
        assert!(matches!(lifecycle.check_text(), Err(Error::NotReady(reason)) if reason == "learn"));
        lifecycle.set_problem(Task::Learn, None);
        assert_eq!(lifecycle.problem().as_deref(), Some("save"));
    }
}
