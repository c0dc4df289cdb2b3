//! Startup and shutdown.
//!
//! On shutdown, in this order: new connections and new text are rejected; responses in progress are sent; the sources stop;
//! the learner finishes its batch and writes a checkpoint. A process that is killed instead loses no text: see
//! [`learn`](crate::learn).

mod connections;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};
use skipstream::{Config, Trainer};

use crate::auth;
use crate::change;
use crate::error;
use crate::http;
use crate::learn::{self, Model, memory_bound};
use crate::log::Log;
use crate::search;
use crate::service::Service;
use crate::settings::ServeSettings;
use crate::sources;
use connections::Connections;
use connections::Limits;
pub(crate) use connections::{BUFFER_BYTES, SPARE};

/// A service that listens but does not answer yet.
#[derive(Debug)]
pub struct Server {
    service: Arc<Service>,
    learner: JoinHandle<error::Result<()>>,
    /// The monitor, the indexer and the sources.
    threads: Vec<JoinHandle<()>>,
    listener: TcpListener,
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
        auth::check(&settings)?;
        search::check(settings.index)?;
        let listener = TcpListener::bind(settings.listen)
            .with_context(|| format!("cannot listen on {}", settings.listen))?;
        let log = Log::open(&settings.data, settings.queue_size)?;
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
        // Before the learner, so that it sees every published version.
        let mut threads = vec![change::start_monitor(service.clone())?];
        #[cfg(feature = "usearch")]
        threads.extend(search::start_indexer(service.clone())?);
        let learner = learn::start(service.clone(), model)?;
        threads.extend(sources::start(&service)?);
        Ok(Server { service, learner, threads, listener })
    }

    /// Upper bound of its memory in bytes.
    pub fn memory_bound(&self) -> u64 {
        self.service.memory_bound
    }

    /// The address it listens on.
    pub fn address(&self) -> Result<SocketAddr> {
        Ok(self.listener.local_addr()?)
    }

    /// A function that starts the shutdown, from any thread.
    pub fn stopper(&self) -> impl Fn() + Send + use<> {
        // Weak, because the log is closed when nothing holds the service any more.
        let service = Arc::downgrade(&self.service);
        move || {
            if let Some(service) = service.upgrade() {
                service.stop();
            }
        }
    }

    /// Serves requests until it is stopped.
    pub fn run(self) -> Result<()> {
        let Server { service, learner, threads, listener } = self;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let answered = runtime.block_on(async {
            listener.set_nonblocking(true)?;
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let serving = Connections::new(http::router(service.clone()), Limits::new(&service.settings));
            serving.serve(listener, service.events.closed()).await;
            anyhow::Ok(())
        });
        service.stop();
        runtime.shutdown_timeout(Duration::from_secs(1));
        for thread in threads {
            // A panic there has already been printed.
            let _ = thread.join();
        }
        let saved = learner.join().expect("the learner catches panics");
        answered.context("cannot serve requests")?;
        Ok(saved?)
    }
}
