//! Connections, from the first byte to the last.
//!
//! `axum::serve` takes as many as come, and waits for their headers forever. Here both have a limit, and so has the end.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// When the system has no room for another connection, it is asked again after so long.
const PAUSE: Duration = Duration::from_millis(500);

/// What connections may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// So many are open at the same time; others wait in the system's queue.
    pub connections: usize,
    /// Bytes that are read ahead of a connection, and as many that wait to be written. A request's line and headers must
    /// fit.
    pub buffer_bytes: usize,
    /// The headers of a request must have come after so long, counted from the answer before it: whoever sends nothing
    /// is not waited for any longer.
    pub headers: Duration,
    /// Answers that are under way when the service stops may take so long.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 1_024,
            buffer_bytes: 24 << 10,
            headers: Duration::from_secs(30),
            grace: Duration::from_secs(10),
        }
    }
}

/// Answers whoever connects.
pub(super) struct Connections {
    router: Router,
    limits: Limits,
    places: Arc<Semaphore>,
    graceful: GracefulShutdown,
    /// Those that are open. Whatever is left of them ends with this.
    open: JoinSet<()>,
}

impl Connections {
    /// Nobody is connected yet.
    pub fn new(router: Router, limits: Limits) -> Connections {
        let places = Arc::new(Semaphore::new(limits.connections));
        Connections { router, limits, places, graceful: GracefulShutdown::new(), open: JoinSet::new() }
    }

    /// Answers until it is stopped. Then nobody is taken any more, those who wait for nothing are let go, those who wait for
    /// an answer have some time for it, and the rest are dropped.
    pub async fn serve(mut self, listener: TcpListener, stopped: impl Future<Output = ()>) {
        let mut stopped = pin!(stopped);
        loop {
            tokio::select! {
                biased;
                () = &mut stopped => break,
                (stream, peer, place) = next(&listener, &self.places) => self.open(stream, peer, place),
                // Tasks that ended are forgotten.
                Some(_) = self.open.join_next() => {}
            }
        }
        drop(listener);
        let Connections { graceful, limits, mut open, .. } = self;
        let in_time = timeout(limits.grace, graceful.shutdown()).await.is_ok();
        if !in_time {
            tracing::warn!(
                connections = open.len(),
                "dropped: they did not come to their end within {} seconds",
                limits.grace.as_secs_f64()
            );
        }
        open.shutdown().await;
    }

    fn open(&mut self, stream: TcpStream, peer: SocketAddr, place: OwnedSemaphorePermit) {
        // Answers are small, and nothing follows that they should wait for.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection that may be slow");
        }
        let router = TowerToHyperService::new(self.router.clone());
        let answer = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer));
            router.call(request)
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.headers)
            .max_buf_size(self.limits.buffer_bytes)
            .serve_connection(TokioIo::new(stream), answer);
        let connection = self.graceful.watch(connection);
        self.open.spawn(async move {
            let _place = place;
            if let Err(error) = connection.await {
                // Whoever went away, was too slow or does not speak HTTP.
                tracing::debug!(%error, "a connection ended early");
            }
        });
    }
}

/// The next connection, when there is a place for it.
async fn next(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> (TcpStream, SocketAddr, OwnedSemaphorePermit) {
    let place = places.clone().acquire_owned().await.expect("nobody closes the semaphore");
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => return (stream, peer, place),
            Err(error) if is_of_one(&error) => {}
            // The process may have no file left: some will be closed.
            Err(error) => {
                tracing::error!(%error, "no connection can be taken for now");
                sleep(PAUSE).await;
            }
        }
    }
}

/// Whether an error is that of one connection, which has gone already.
fn is_of_one(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

#[cfg(test)]
mod tests;
