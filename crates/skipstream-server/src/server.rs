//! The service from its start to its end.
//!
//! At the end, in this order: no new connections and no new text; answers that are under way go out; what feeds the log
//! stops; the thread that learns finishes its batch and saves the model. A process that is killed instead loses nothing
//! but time: see [`learn`](crate::learn).

mod connections;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use skipstream::{Config, Trainer};
use tokio::sync::watch;

use crate::auth;
use crate::change::Keeper;
use crate::http;
use crate::learn::{Learner, MemoryBound, Model};
use crate::log::Log;
use crate::search;
use crate::service::Service;
use crate::settings::ServeSettings;
use crate::sources::Sources;
use connections::Connections;
pub(crate) use connections::Limits;

/// A service that listens, and does not answer yet.
#[derive(Debug)]
pub struct Server {
    service: Arc<Service>,
    learner: Learner,
    keeper: Keeper,
    sources: Sources,
    memory_bound: MemoryBound,
    listener: TcpListener,
    stop: watch::Sender<bool>,
}

/// Ends a service from any thread.
#[derive(Clone, Debug)]
pub struct Stopper(watch::Sender<bool>);

impl Stopper {
    /// Asks the service to come to its end.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Server {
    /// Opens the folder, begins to learn what waits in the log, and listens. A new model is made of `config`; one that is
    /// there must `agree`.
    pub fn open(
        settings: ServeSettings,
        threads: Option<usize>,
        config: &dyn Fn() -> Result<Config>,
        agree: &dyn Fn(&Trainer) -> Result<()>,
    ) -> Result<Server> {
        auth::check(&settings)?;
        search::check(settings.index)?;
        let listener = TcpListener::bind(settings.listen)
            .with_context(|| format!("{}: cannot be listened on", settings.listen))?;
        let log = Log::open(&settings.data, settings.queue_bytes)?;
        let model = if Model::exists(&settings.data) {
            let model = Model::load(&settings.data, threads, &log)?;
            let name = || Model::path(&settings.data).display().to_string();
            agree(model.trainer()).with_context(name)?;
            model
        } else {
            Model::create(&settings.data, Trainer::new(config()?)?, &log)?
        };
        let memory_bound = MemoryBound::new(model.trainer(), &settings);
        let first = model.published(settings.vectors)?;
        let service = Service::new(settings, log, first);
        service.describe(model.trainer().settings(), memory_bound.total());
        // The keeper first, so that it sees all that is published.
        let keeper = Keeper::start(service.clone())?;
        let learner = Learner::start(service.clone(), model)?;
        let sources = Sources::start(&service)?;
        let stop = watch::Sender::new(false);
        Ok(Server { service, learner, keeper, sources, memory_bound, listener, stop })
    }

    /// Bytes that it takes at the most.
    pub fn memory_bound(&self) -> MemoryBound {
        self.memory_bound
    }

    /// Where it listens.
    pub fn address(&self) -> Result<SocketAddr> {
        Ok(self.listener.local_addr()?)
    }

    /// What ends it.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.stop.clone())
    }

    /// Answers until it is stopped.
    pub fn run(self) -> Result<()> {
        let Server { service, learner, keeper, sources, listener, stop, .. } = self;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let answered = runtime.block_on(async {
            listener.set_nonblocking(true)?;
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let serving = Connections::new(http::router(service.clone()), Limits::default());
            let stopped = async {
                end(stop.subscribe(), &service).await;
                service.stop();
            };
            serving.serve(listener, stopped).await;
            anyhow::Ok(())
        });
        service.stop();
        runtime.shutdown_timeout(Duration::from_secs(1));
        sources.join();
        let saved = learner.join();
        keeper.join();
        answered.context("the service cannot answer")?;
        Ok(saved?)
    }
}

/// Comes back when somebody asks for the end, or when the service ends by itself.
async fn end(mut asked: watch::Receiver<bool>, service: &Service) {
    tokio::select! {
        // An error would mean that nobody can ask any more, and we hold a sender.
        _ = asked.wait_for(|stop| *stop) => {}
        () = service.events.closed() => {}
    }
}
