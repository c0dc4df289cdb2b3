//! Startup and shutdown.
//!
//! On shutdown, in this order: the service drains, which means that it is not ready, rejects new text, and answers queries
//! for a while, each on a connection that closes after it; no more connections are accepted; responses in progress are
//! sent; the sources stop; the learner finishes its batch and writes a checkpoint. A process that is killed instead loses no
//! text: see [`learn`].

mod connections;
#[cfg(target_os = "linux")]
mod notify;
mod signals;
#[cfg(test)]
mod tests;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};
use skipstream::{Config, Trainer};
use tokio::runtime::Runtime;
use tokio::time::timeout;

use crate::auth;
use crate::error;
use crate::fitter;
use crate::http;
use crate::learn::{self, Model, memory_bound};
use crate::lifecycle::Lifecycle;
use crate::log::Log;
use crate::monitor;
use crate::search;
use crate::service::Service;
use crate::settings::ServeSettings;
use crate::sink;
use crate::sources;
use connections::Connections;
use connections::Limits;
pub(crate) use connections::{BUFFER_BYTES, SPARE};

/// A service that listens but does not answer yet.
#[derive(Debug)]
pub struct Server {
    service: Arc<Service>,
    learner: JoinHandle<error::Result<()>>,
    /// The monitor, the sink, the indexer and the sources.
    threads: Vec<JoinHandle<()>>,
    listener: TcpListener,
    runtime: Runtime,
}

impl Server {
    /// Opens the data folder, starts to learn from the log, and listens. A new model is created from `config`; an existing
    /// one is checked by `agree`.
    pub fn open(
        settings: ServeSettings,
        threads: Option<usize>,
        config: &dyn Fn() -> Result<Config>,
        agree: &dyn Fn(&Trainer) -> Result<()>,
    ) -> Result<Server> {
        settings.check()?;
        raise_file_limit(settings.max_connections);
        keep_files_private();
        auth::check(&settings)?;
        search::check(settings.index)?;
        sources::check(&settings)?;
        sink::check(&settings)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let listener = TcpListener::bind(settings.listen)
            .with_context(|| format!("cannot listen on {}", settings.listen))?;
        let log = Log::open_accepting(&settings.data, settings.queue_size, settings.accept_loss)?;
        let model = if Model::exists(&settings.data) {
            let model = Model::load(&settings.data, threads, &log)?;
            let name = || Model::path(&settings.data).display().to_string();
            agree(model.trainer()).with_context(name)?;
            model
        } else {
            Model::create(&settings.data, Trainer::new(config()?)?, &log)?
        };
        let config = model.trainer().settings();
        let memory_bound = memory_bound(config, model.trainer().memory_bound(), &settings);
        let first = model.published(settings.vectors)?;
        let service = Service::new(settings, log, first, config.resolved(), memory_bound);
        // Before the learner, so that they see every published version.
        let mut threads = vec![monitor::start(service.clone())?];
        threads.extend(sink::start(&service)?);
        threads.extend(fitter::start(&service)?);
        #[cfg(feature = "usearch")]
        threads.extend({
            let (index, publications) = (service.settings.index, service.publications());
            search::start_indexer(&service.search, index, &service.lifecycle, publications)?
        });
        let learner = learn::start(service.clone(), model)?;
        threads.extend(sources::start(&service)?);
        Ok(Server { service, learner, threads, listener, runtime })
    }

    /// Upper bound of its memory in bytes.
    pub fn memory_bound(&self) -> u64 {
        self.service.memory_bound
    }

    /// The address it listens on.
    pub fn address(&self) -> Result<SocketAddr> {
        Ok(self.listener.local_addr()?)
    }

    /// A function that stops the service, from any thread.
    pub fn stopper(&self) -> impl Fn() + Send + use<> {
        let lifecycle = self.service.lifecycle.clone();
        move || lifecycle.stop()
    }

    /// From now on, SIGTERM drains and then stops the service, and SIGINT (Ctrl-C) stops it without draining. A second
    /// signal calls `exit`.
    pub fn stop_on_signals(&self, exit: impl FnOnce() + Send + 'static) -> Result<()> {
        let _context = self.runtime.enter();
        let (lifecycle, drain) = (self.service.lifecycle.clone(), self.service.settings.drain_time);
        let signals = signals::Signals::listen().context("cannot handle signals")?;
        self.runtime.spawn(signals.stop(lifecycle, drain, exit));
        Ok(())
    }

    /// Serves requests until it is stopped.
    pub fn run(self) -> Result<()> {
        let Server { service, learner, threads, listener, runtime } = self;
        let lifecycle = service.lifecycle.clone();
        let answered = runtime.block_on(async {
            listener.set_nonblocking(true)?;
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let limits = Limits::new(&service.settings);
            #[cfg(target_os = "linux")]
            tokio::spawn(notify::keep_informed(lifecycle.clone()));
            Connections::new(http::router(service.clone()), limits, lifecycle.clone()).serve(listener).await;
            anyhow::Ok(())
        });
        lifecycle.stop();
        runtime.shutdown_timeout(Duration::from_secs(1));
        for thread in threads {
            // A panic there has already been reported.
            let _ = thread.join();
        }
        let saved = learner.join();
        answered.context("cannot serve requests")?;
        saved.map_err(|_| {
            anyhow::anyhow!("learning crashed (this is a bug); the text is safe in the log")
        })??;
        Ok(())
    }
}

/// Raises the limit on open files, which many systems set to 1,024, so that it is not below the limit on connections.
fn raise_file_limit(max_connections: usize) {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
        let limit = if raised.is_ok() { maximum } else { current };
        let needed = (max_connections + FILES) as u64;
        if limit.is_some_and(|limit| limit < needed) {
            let limit = limit.unwrap_or_default();
            tracing::warn!(
                "at most {limit} files can be open, and {needed} may be needed: see max_connections"
            );
        }
    }
}

/// From now on, only the user of this process can read the files that it creates: they hold the text of all clients.
fn keep_files_private() {
    #[cfg(unix)]
    {
        use rustix::fs::Mode;
        use rustix::process::umask;
        let private = Mode::RWXG | Mode::RWXO;
        let before = umask(private);
        umask(before | private);
    }
}

/// Files that are open besides connections: the log, snapshots, exports and spare connections.
const FILES: usize = 200;

/// Drains for this long, and stops.
async fn drain_and_stop(lifecycle: &Lifecycle, time: Duration) {
    lifecycle.drain();
    // It may be stopped earlier.
    let _ = timeout(time, lifecycle.stopping()).await;
    lifecycle.stop();
}
